# SPDX-License-Identifier: Apache-2.0
"""For Python tests that run our programs as a user would.

    @case("a gate that fails gives exit code 4")
    def _(t):
        run = t.halftone("optimize", model, "--min-speedup", "bf16=99")
        t.equal(run.returncode, 4, run.stderr)

    main()

Prints one line per case: "PASS name", "FAIL name: reason" or "SKIP name: reason". Programs are found by their paths in
PROGRAMS=halftone:halftoned:worker, or on PATH.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

CASES = []
REPO = pathlib.Path(__file__).resolve().parent.parent.parent
DEMO = REPO / "tests/demo/models"
SHARED = os.environ.get("HALFTONE_SHARED", "")


class Skip(Exception):
    pass


class Failure(Exception):
    pass


def case(name, needs_shared=False, needs=()):
    """`needs`: Python modules without which the case is skipped."""

    def register(function):
        CASES.append((name, function, needs_shared, needs))
        return function

    return register


def program(name):
    for path in os.environ.get("PROGRAMS", "").split(":"):
        if os.path.basename(path) == name:
            return os.path.abspath(path)
    found = shutil.which(name)
    if found is None:
        raise Failure(f"no program '{name}': not in $PROGRAMS and not on PATH")
    return found


class Server:
    """A real halftoned on a free port of the loopback."""

    def __init__(self, folder, *flags):
        self.folder = pathlib.Path(folder)
        self.flags = flags
        self.process = None

    def start(self):
        port_file = self.folder / "port"
        port_file.unlink(missing_ok=True)
        self.log = open(self.folder / "server.log", "ab")
        self.process = subprocess.Popen(
            [program("halftoned"), "--listen", "127.0.0.1:0", "--data", str(self.folder / "data"), "--print_port_file", str(port_file),
             "--worker", program("halftone-worker"), *self.flags], stdout=subprocess.DEVNULL, stderr=self.log)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            if port_file.exists() and port_file.read_text().strip():
                self.address = "127.0.0.1:" + port_file.read_text().strip()
                return self
            time.sleep(0.02)
        raise Failure("halftoned did not start: " + (self.folder / "server.log").read_text()[-2000:])

    def kill(self, signal):
        self.process.send_signal(signal)
        return self.process.wait(timeout=40)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Test:
    """The argument of a case: its own folder, our programs, checks."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def halftone(self, *arguments, env=None, timeout=600):
        environment = dict(os.environ, HALFTONE_HALFTONED=program("halftoned"), HALFTONE_WORKER=program("halftone-worker"),
                           HALFTONE_CACHE=str(self.folder / "cache"))
        environment.pop("HALFTONE_SERVER", None)
        environment.update(env or {})
        return subprocess.run([program("halftone"), *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                              cwd=self.folder, env=environment)

    def optimize(self, model, *arguments, **keywords):
        """Runs `halftone optimize` into a new folder; the parsed report.json and that folder."""
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        run = self.halftone("optimize", model, "--out", out, "--quiet", *arguments, **keywords)
        if run.returncode != 0:
            raise Failure(f"halftone optimize {pathlib.Path(model).name}: exit code {run.returncode}: {run.stderr[-2000:]}")
        return json.loads((out / "report.json").read_text()), out

    def onnx(self, name, text):
        """A model of opset 17 in ONNX's text syntax, as a file; needs the program text_to_onnx."""
        source = self.folder / f"{name}.txt"
        source.write_text(f'### {name}\n<ir_version: 8, opset_import: ["" : 17]>\n{text}\n')
        run = subprocess.run([program("text_to_onnx"), source, self.folder], capture_output=True, text=True)
        if run.returncode != 0:
            raise Failure(run.stderr)
        return self.folder / f"{name}.onnx"

    def server(self, *flags):
        return Server(tempfile.mkdtemp(dir=self.folder), *flags)

    def check(self, condition, why):
        if not condition:
            raise Failure(why)

    def equal(self, actual, expected, why=""):
        if actual != expected:
            raise Failure(f"{actual!r} instead of {expected!r}. {why}"[:3000])

    def contains(self, text, part):
        if part not in text:
            raise Failure(f"no {part!r} in {text[-2000:]!r}")


def variant(report, precision):
    return next(v for v in report["variants"] if v["precision"] == precision)


def shared(*parts):
    return pathlib.Path(SHARED).joinpath("data", *parts)


def _run(function, needs_shared, needs):
    if needs_shared and not SHARED:
        raise Skip("no folder of shared models (HALFTONE_SHARED)")
    for module in needs:
        try:
            __import__(module)
        except ImportError:
            raise Skip(f"no Python module {module}") from None
    with tempfile.TemporaryDirectory(prefix="halftone-test-") as folder:
        function(Test(folder))


def main():
    wanted = sys.argv[1:]
    failed = False
    for name, function, needs_shared, needs in CASES:
        if wanted and not any(word in name for word in wanted):
            continue
        try:
            _run(function, needs_shared, needs)
            print(f"PASS {name}", flush=True)
        except Skip as skip:
            print(f"SKIP {name}: {skip}", flush=True)
        except Failure as failure:
            failed = True
            print(f"FAIL {name}: " + str(failure).replace("\n", " | "), flush=True)
        except Exception:  # a bug of the test also fails the case
            failed = True
            print(f"FAIL {name}: " + traceback.format_exc().replace("\n", " | "), flush=True)
    sys.exit(1 if failed else 0)
