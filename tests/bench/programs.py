# SPDX-License-Identifier: Apache-2.0
"""Starting programs."""

import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


class BenchError(Exception):
    pass


def run(command, what):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"{what}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def program(name):
    found = shutil.which(name)
    if found is None:
        raise BenchError(f"no program '{name}' on PATH: start with ./dev bench")
    return found
