# SPDX-License-Identifier: Apache-2.0
"""Which cores a scenario runs on, and how they are scheduled: the same for all sides."""

import os
import pathlib

from programs import BenchError


def is_first_thread(core):
    """Of its physical core."""
    path = pathlib.Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    try:
        return int(path.read_text().replace("-", ",").split(",")[0]) == core
    except (OSError, ValueError):
        return True


def is_real_time():
    """Whether this process, and so each that it starts, is scheduled before all ordinary ones (chrt)."""
    return os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)


def describe_scheduling():
    return "real-time (chrt), for all sides alike" if is_real_time() else "ordinary"


def choose(count):
    """`count` cores that this process may use, as an argument: one hardware thread of each physical core first."""
    allowed = sorted(os.sched_getaffinity(0), key=lambda core: (not is_first_thread(core), core))
    if count > len(allowed):
        raise BenchError(f"{count} threads, but this process may use {len(allowed)} cores")
    return ",".join(map(str, allowed[:count]))
