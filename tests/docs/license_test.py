#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The licence: its text, the SPDX line of every source file, and the program that puts the lines there."""

import hashlib
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import REPO, case, main  # noqa: E402

SPDX = REPO / "tools/license/spdx.py"
APACHE_2_0 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"  # SHA-256 of the text as apache.org has it


def spdx(folder, *flags):
    return subprocess.run([sys.executable, SPDX, "--root", folder, *flags], capture_output=True, text=True)


def repository(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", "-C", folder, *command], check=True)
    return folder


@case("LICENSE is the Apache License 2.0, word for word")
def _(t):
    t.equal(hashlib.sha256((REPO / "LICENSE").read_bytes()).hexdigest(), APACHE_2_0)


@case("every source file has the SPDX line")
def _(t):
    run = spdx(REPO, "--check")
    t.equal(run.returncode, 0, f"run tools/license/spdx.py:\n{run.stdout}{run.stderr}")


@case("the line is the first one, or below #!; data stays as it is; a second run changes nothing")
def _(t):
    folder = repository(t.folder / "clone", {"a.cc": "// A.\nint a;\n", "b/b.py": "#!/usr/bin/env python3\n\"\"\"B.\"\"\"\n", "b/BUILD": "",
                                             "run": "#!/bin/sh\n", "data.txt": "1 2\n", "x.graph": "case\n"})
    run = spdx(folder, "--check")
    t.equal((run.returncode, run.stdout.split()), (1, ["a.cc", "b/BUILD", "b/b.py", "run"]))
    t.equal((folder / "a.cc").read_text(), "// A.\nint a;\n", "--check changes nothing")
    t.equal(spdx(folder).returncode, 0)
    t.equal((folder / "a.cc").read_text(), "// SPDX-License-Identifier: Apache-2.0\n// A.\nint a;\n")
    t.equal((folder / "b/b.py").read_text(), "#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\n\"\"\"B.\"\"\"\n")
    t.equal((folder / "b/BUILD").read_text(), "# SPDX-License-Identifier: Apache-2.0\n")
    t.equal((folder / "data.txt").read_text(), "1 2\n")
    again = spdx(folder)
    t.equal((again.returncode, again.stderr.split()[0]), (0, "0"))


main()
