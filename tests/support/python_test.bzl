# SPDX-License-Identifier: Apache-2.0
"""python_test: a Python script that runs our programs as a user would (tests/support/harness.py)."""

PROGRAMS = [
    "//client/cli:halftone",
    "//server:halftoned",
    "//server/worker:halftone-worker",
]

SUPPORT = ["harness.py", "two_runtimes.py", "wire.py"]

def python_test(name, script, data = [], size = "medium", tags = [], programs = PROGRAMS, env = {}):
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tests/support:python_test.sh"],
        args = ["$(location %s)" % script] + ["$(location %s)" % p for p in programs],
        data = [script] + ["//tests/support:%s" % f for f in SUPPORT] + programs + data,
        env = env,
        tags = tags,
    )
