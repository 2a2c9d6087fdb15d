# SPDX-License-Identifier: Apache-2.0
"""What a run has measured so far, scenario by scenario, in a file: --resume continues an interrupted run."""

import json
import os


class State:
    """`key` identifies what is measured and how; results with another key are not resumed."""

    def __init__(self, path, key, resume):
        self.path, self.key, self.results, self.why_new = path, key, {}, ""
        old = self.read() if resume else None
        if old and old["key"] == key:
            self.results = old["results"]
        elif old:
            changed = [name for name in key if old["key"].get(name) != key[name]]
            self.why_new = f"nothing to resume: changed since then: {', '.join(changed)}"
        elif resume:
            self.why_new = f"nothing to resume in {path}"

    def read(self):
        try:
            return json.loads(self.path.read_text())
        except (OSError, ValueError):
            return None

    def add(self, name, result):
        self.results[name] = result
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"key": self.key, "results": self.results}, indent=1) + "\n")
        os.replace(new, self.path)
