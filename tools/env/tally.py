# SPDX-License-Identifier: Apache-2.0
"""Counts test cases.

  tally.py collect PASS EVENTS.json    Bazel's events of one test run -> lines "PASS name", "FAIL name: reason", "SKIP name: reason"
  tally.py total [--no-skips] FILE...  such lines -> failed and skipped cases, then "N passed, N failed[, N skipped]"

A case is a GoogleTest case, or a "PASS name" line of a shell or Python test. A test without either is one case. A test that
crashes, times out or does not build is a failed case.
"""

import json
import os
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

LINE = re.compile(r"^(PASS|FAIL|SKIP) (\S.*)$")


def path_of(uri):
    return urllib.parse.unquote(urllib.parse.urlparse(uri).path)


def cases_of_xml(path):
    """The cases of a GoogleTest program; none for the test.xml that Bazel writes itself for other tests."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return []
    cases = []
    for case in root.iter("testcase"):
        if "classname" not in case.attrib:
            continue
        name = "%s.%s" % (case.get("classname", ""), case.get("name", ""))
        if case.find("failure") is not None or case.find("error") is not None:
            cases.append(("FAIL", name))
        elif case.get("status") == "notrun" and case.get("result") == "suppressed":
            continue  # DISABLED_
        elif case.find("skipped") is not None or case.get("result") == "skipped" or case.get("status") == "notrun":
            skipped = case.find("skipped")
            text = "" if skipped is None else (skipped.get("message") or skipped.text or "")
            text = " ".join(line for line in text.splitlines() if not re.search(r"\.(cc|h):\d+$", line)).strip()
            cases.append(("SKIP", "%s: %s" % (name, text)))
        else:
            cases.append(("PASS", name))
    return cases


def cases_of_log(path):
    try:
        with open(path, errors="replace") as log:
            return [(m.group(1), m.group(2)) for m in map(LINE.match, log) if m]
    except OSError:
        return []


def collect(run, events_path):
    tests, results, built = [], {}, {}
    try:
        with open(events_path) as events:
            for text in events:
                event = json.loads(text)
                ident = event.get("id", {})
                if "targetConfigured" in ident and "configured" in event:
                    if event["configured"].get("targetKind", "").endswith("_test rule"):
                        tests.append(ident["targetConfigured"]["label"])
                elif "targetCompleted" in ident:
                    label = ident["targetCompleted"]["label"]
                    built[label] = event.get("completed", {}).get("success", False)
                elif "testResult" in ident and "testResult" in event:
                    which = ident["testResult"]
                    key = (which["label"], which.get("run", 1), which.get("shard", 1))
                    results[key] = event["testResult"]
                elif "buildFinished" in ident and event["finished"].get("exitCode", {}).get("name") == "PARSING_FAILURE":
                    print("FAIL bazel (%s): could not parse" % run)
    except OSError:
        print("FAIL bazel (%s): wrote no events" % run)
        return
    for (label, _, shard), result in sorted(results.items()):
        outputs = {o["name"]: path_of(o["uri"]) for o in result.get("testActionOutput", []) if "uri" in o}
        cases = cases_of_xml(outputs.get("test.xml", "")) or cases_of_log(outputs.get("test.log", ""))
        status = result.get("status", "NO_STATUS")
        if status == "PASSED" and not cases:
            cases = [("PASS", "(whole test)")]
        if status not in ("PASSED", "FLAKY") and not any(kind == "FAIL" for kind, _ in cases):
            cases.append(("FAIL", "(whole test): %s" % status.lower().replace("_", " ")))
        where = label if run == "first" else "%s [%s]" % (label, run)
        for kind, name in cases:
            print("%s %s %s" % (kind, where, name))
    with_result = {label for label, _, _ in results}
    for label in tests:
        if label not in with_result and not built.get(label, False):
            print("FAIL %s [%s] (whole test): not built" % (label, run))
    if not tests and not results:
        print("FAIL bazel (%s): found no tests" % run)


def total(paths, skips_fail):
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    notable = []
    for path in paths:
        with open(path, errors="replace") as lines:
            for kind, text in (m.groups() for m in map(LINE.match, lines) if m):
                counts[kind] += 1
                if kind != "PASS":
                    notable.append((kind, text))
    for kind, text in sorted(set(notable)):
        print("%s %s" % ({"FAIL": "FAILED ", "SKIP": "SKIPPED"}[kind], text))
    if skips_fail:
        if counts["SKIP"]:
            print("(a skipped test counts as failed, because the shared folder is available)")
        counts["FAIL"] += counts.pop("SKIP")
    line = "%d passed, %d failed" % (counts["PASS"], counts["FAIL"])
    if counts.get("SKIP"):
        line += ", %d skipped" % counts["SKIP"]
    print(line)
    return 1 if counts["FAIL"] or not counts["PASS"] else 0


def main(arguments):
    if arguments[0] == "collect":
        collect(arguments[1], arguments[2])
        return 0
    paths = [a for a in arguments[1:] if a != "--no-skips"]
    return total([p for p in paths if os.path.exists(p)], "--no-skips" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
