#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""halftoned over a socket: killed during a job, stopped, watched, its metrics read; blobs of many messages."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, Failure, case, main, program  # noqa: E402

MODEL = DEMO / "digits.onnx"


def submit(t, server, *flags):
    """Starts an optimize job, kills the client once it runs, and returns its name."""
    process = subprocess.Popen([program("halftone"), "optimize", str(MODEL), "--server", server.address, "--out", str(t.folder / "out"), *flags],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    name = wait_for(t, server, lambda job: job["state"] == "running")
    process.kill()
    process.wait()
    return name


def jobs(t, server):
    run = t.halftone("jobs", "list", "--server", server.address)
    t.equal(run.returncode, 0, run.stderr)
    return re.findall(r"jobs/[0-9a-f]{32}", run.stdout)


def show(t, server, name):
    run = t.halftone("jobs", "show", name, "--server", server.address)
    t.equal(run.returncode, 0, run.stderr)
    return json.loads(run.stdout)


def wait_for(t, server, condition, name=None, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for found in [name] if name else jobs(t, server):
            if condition(show(t, server, found)):
                return found
        time.sleep(0.05)
    raise Failure(f"no such job within {seconds} s")


@case("after SIGKILL during a job, the restarted server runs the job again")
def _(t):
    server = t.server()
    with server:
        name = submit(t, server, "--rounds", "8", "--round-seconds", "0.3")
        t.equal(show(t, server, name)["state"], "running")
        server.kill(signal.SIGKILL)
        server.start()
        wait_for(t, server, lambda job: job["state"] == "succeeded", name, seconds=120)
        job = show(t, server, name)
        t.equal(job["attempt"], 2)
        run = t.halftone("jobs", "watch", name, "--server", server.address, "--out", t.folder / "late")
        t.equal(run.returncode, 0, run.stderr)
        files = {f["path"] for f in job["result"]["files"]}
        t.equal(files, {"digits.fp32.onnx", "digits.bf16.onnx", "report.json"})


@case("SIGTERM: exits with 0; the next start runs the job again")
def _(t):
    server = t.server()
    with server:
        name = submit(t, server, "--rounds", "8", "--round-seconds", "0.3")
        t.equal(server.kill(signal.SIGTERM), 0)
        server.start()
        wait_for(t, server, lambda job: job["state"] == "succeeded", name, seconds=120)


@case("a cancelled job ends at once, with its child process")
def _(t):
    with t.server() as server:
        name = submit(t, server, "--rounds", "500")
        run = t.halftone("jobs", "cancel", name, "--server", server.address)
        t.equal(run.returncode, 0, run.stderr)
        wait_for(t, server, lambda job: job["state"] == "cancelled", name, seconds=15)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            children = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True).stdout.split()
            if not children:
                return
            time.sleep(0.1)
        raise Failure(f"children {children} still exist")


@case("metrics count jobs and calls")
def _(t):
    with t.server("--metrics", "127.0.0.1:0") as server:
        t.equal(t.halftone("inspect", MODEL, "--server", server.address).returncode, 0)
        log = (server.folder / "server.log").read_text()
        found = re.search(r'"metrics_port":(\d+)', log)
        t.check(found, "the log does not name the port of /metrics: " + log[-1000:])
        text = urllib.request.urlopen(f"http://127.0.0.1:{found.group(1)}/metrics", timeout=10).read().decode()
        t.contains(text, 'halftone_grpc_requests_total{')
        t.check(re.search(r'halftone_jobs_finished_total\{[^}]*inspect[^}]*\} 1', text), text[-3000:])


@case("a second server refuses the same folder")
def _(t):
    with t.server() as server:
        run = subprocess.run([program("halftoned"), "--data", str(server.folder / "data"), "--listen", "127.0.0.1:0"], capture_output=True,
                             text=True, timeout=30)
        t.check(run.returncode != 0, "it started")
        t.contains(run.stderr + run.stdout, "data")


@case("a model of 300 MB passes in messages of at most 1 MiB")
def _(t):
    path = t.folder / "large.pbtxt"
    # 75 M floats, all the same: tensor_content is made by the graph below from a file of raw bytes, so use binary GraphDef.
    def varint(n):
        out = b""
        while True:
            out += bytes([n & 127 | (128 if n > 127 else 0)])
            n >>= 7
            if not n:
                return out

    def field(number, payload):
        return varint(number << 3 | 2) + varint(len(payload)) + payload

    def attr(key, value):
        return field(5, field(1, key.encode()) + field(2, value))

    size = 75_000_000
    dtype = varint(6 << 3) + varint(1)
    shape = lambda *dims: b"".join(field(2, varint(1 << 3) + varint(d)) for d in dims)
    tensor = varint(1 << 3) + varint(1) + field(2, shape(size)) + field(4, b"\0\0\x80\x3f" * size)
    graph = field(1, field(1, b"x") + field(2, b"Placeholder") + attr("dtype", dtype) + attr("shape", field(7, shape(1))))
    graph += field(1, field(1, b"c") + field(2, b"Const") + attr("dtype", dtype) + attr("value", field(8, tensor)))
    graph += field(1, field(1, b"y") + field(2, b"Mul") + field(3, b"x") + field(3, b"c") + attr("T", dtype))
    path = t.folder / "large.pb"
    path.write_bytes(graph)
    with t.server() as server:
        run = t.halftone("inspect", path, "--server", server.address)
        t.equal(run.returncode, 0, run.stderr)
        t.contains(run.stdout, "75000000 in 300.00 MB")


main()
