# SPDX-License-Identifier: Apache-2.0
"""Noise on purpose, for dev bench-method noise. Each gives what a command must be started with, and why it cannot be done, if so."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

BURN = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"


@contextlib.contextmanager
def burners():
    """A process that never waits, on every core that the benchmark may use."""
    running = [subprocess.Popen([sys.executable, "-c", BURN, str(core)]) for core in os.sched_getaffinity(0)]
    try:
        yield (), ""
    finally:
        for process in running:
            process.kill()
            process.wait()


def make_group():
    """A control group below the present one that may have half a CPU: its folder, or why there is none."""
    why_not = "no control groups"
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            parent, settings = pathlib.Path("/sys/fs/cgroup" + path), {"cpu.max": "50000 100000"}
        elif "cpu" in controllers.split(","):
            parent, settings = pathlib.Path(f"/sys/fs/cgroup/{controllers}{path}"), {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}
        else:
            continue
        group = parent / f"halftone-noise-{os.getpid()}"
        try:
            group.mkdir()
            for name, value in settings.items():
                (group / name).write_text(value)
            return group, ""
        except OSError as error:
            why_not = f"no control group with a CPU quota can be made: {error.strerror}"
            with contextlib.suppress(OSError):
                group.rmdir()
    return None, why_not


@contextlib.contextmanager
def half_a_cpu():
    """Half of one CPU's time, by a control group's quota."""
    group, why_not = make_group()
    if group is None:
        yield (), why_not
        return
    try:
        yield (shutil.which("sh"), "-c", f'echo $$ >"{group}/cgroup.procs" && exec "$@"', "sh"), ""
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()
