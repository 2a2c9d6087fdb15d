# SPDX-License-Identifier: Apache-2.0
"""Compares the planner "lists", for each type attribute, with an independent implementation of TensorFlow's algorithm."""
import collections
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import DEMO, case, main, program, shared  # noqa: E402
import op_facts  # noqa: E402
import random_graphs  # noqa: E402
from auto_mixed_precision_reference import Planner, parse_graphdef, parse_registry  # noqa: E402

Dumped = collections.namedtuple("Dumped", "rows summary outputs error")
ENVIRONMENT = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_"


def dump(models, flags=(), env=None):
    """{path: Dumped}: the plans of our planner for [(path, fetches)]."""
    text = "".join("\t".join([str(path), *fetches]) + "\n" for path, fetches in models)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TF_AUTO_MIXED")} | (env or {})
    run = subprocess.run([program("plan_dump"), *flags], input=text, capture_output=True, text=True, timeout=600, env=environment)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    result = {}
    for line in run.stdout.splitlines():
        kind, *words = line.split("\t")
        if kind == "model":
            at = result[words[0]] = {"rows": [], "summary": "", "outputs": [], "error": ""}
        elif kind == "row":
            node, op, attribute, index, on, planned_type = words
            at["rows"].append((node, op, attribute, int(index), on, planned_type))
        elif kind == "output":
            at["outputs"].append(words[0])
        else:
            at[kind] = words[0]
    return {path: Dumped(**fields) for path, fields in result.items()}


def difference(ours, theirs):
    """The differences as text; "" if there are none."""
    mine, others = dict((r[:4], r) for r in ours.rows), dict((r[:4], r) for r in theirs.rows)
    lines = [f"ours {mine.get(key)}, reference {others.get(key)}" for key in sorted(set(mine) | set(others)) if mine.get(key) != others.get(key)]
    if not lines and ours.rows != theirs.rows:
        lines.append("the same rows in another order")
    if ours.summary != theirs.summary:
        lines.append(f"ours '{ours.summary}', reference '{theirs.summary}'")
    return "\n".join(lines[:10])


def registry(t=None):
    return parse_registry((shared("tensorflow_ops.pbtxt")).read_text())


CONFIGURATIONS = {
    "defaults": ({}, [], {}),
    "2.4": ({"variant": "tensorflow-2.4"}, ["--lists", "tensorflow-2.4"], {}),
    "infer after": ({"infer_after": True}, ["--infer-after"], {}),
    "edited": ({"edits": [("allow", ["Sigmoid", "FusedBatchNormV3", "TensorListSetItem"], ["MatMul"]), ("infer", ["Softmax"], ["Sigmoid", "FusedBatchNormV3"]),
                          ("deny", ["Relu", "Identity"], ["Exp"]), ("clear", ["Exp", "MatMul"], ["Relu", "Identity", "TensorListSetItem"])]},
               [], {"ALLOWLIST_ADD": "Sigmoid,FusedBatchNormV3,TensorListSetItem", "WHITELIST_REMOVE": "MatMul", "GRAYLIST_ADD": "Softmax",
                    "INFERLIST_REMOVE": "Sigmoid,FusedBatchNormV3", "BLACKLIST_ADD": "Relu", "DENYLIST_ADD": "Identity",
                    "DENYLIST_REMOVE": "Exp", "CLEARLIST_ADD": "Exp,MatMul", "CLEARLIST_REMOVE": "Relu,Identity,TensorListSetItem"}),
}


@case("random GraphDefs: every float attribute and the summary agree with the reference")
def _(t):
    graphs = []
    for seed in range(480):
        data, fetches = random_graphs.random_graph(seed)
        path = t.folder / f"{seed}.pb"
        path.write_bytes(data)
        graphs.append((path, fetches, parse_graphdef(data)))
    seen, refused = collections.Counter(), []
    for k, (name, (options, flags, env)) in enumerate(CONFIGURATIONS.items()):
        some = graphs[k::len(CONFIGURATIONS)] if k else graphs
        ours = dump([(path, fetches) for path, fetches, _ in some], flags, {ENVIRONMENT + word: ops for word, ops in env.items()})
        for path, fetches, graph in some:
            if ours[str(path)].error:
                refused.append(f"{path.name}: {ours[str(path)].error}")
                continue
            theirs = Planner(graph, op_facts.REGISTRY, fetches, **options).run()
            t.equal(difference(ours[str(path)], theirs), "", f"{name}: seed {path.stem}, fetches {fetches}")
            seen["graphs"] += 1
            for _, op, _, _, on, planned_type in theirs.rows:
                seen["rows"] += 1
                seen[planned_type] += 1
                if planned_type == "bf16":
                    seen[on] += 1
                    seen[op] += 1
            seen["denied lists"] += any(v[0] < len(theirs.ops) and "TensorList" in theirs.ops[v[0]] for v in theirs.deny)
            seen["nothing"] += theirs.summary.startswith("No ")
    t.check(len(refused) <= 20, f"{len(refused)} graphs are refused: {refused[:5]}")
    # The graphs must contain enough of each case.
    for what, least in {"graphs": 700, "bf16": 3000, "infer": 300, "clear": 500, "Merge": 20, "NextIteration": 20, "TensorListGetItem": 10,
                        "TensorListSetItem": 10, "TensorListReserve": 5, "FusedBatchNormV2": 3, "Cast": 5, "IdentityN": 5, "Tanh": 10,
                        "denied lists": 20, "nothing": 10}.items():
        t.check(seen[what] >= least, f"{what}: {seen[what]} seen, {least} wanted")


@case("GraphDefs of the demo, through halftone inspect")
def _(t):
    for path in sorted(DEMO.glob("*.pb")):
        run = t.halftone("inspect", path, "--precision-plan", "lists", "--json", "--quiet")
        t.equal(run.returncode, 0, run.stderr)
        printed = json.loads(run.stdout)
        rows = [(r["node"], r["op"], r["type_attr"], r.get("index", 0), r.get("list", ""), r["planned_type"]) for r in printed["rows"]]
        dumped = dump([(path, [])])[str(path)]
        t.equal(rows, dumped.rows)
        t.equal(printed["summary"], dumped.summary)
        theirs = Planner(parse_graphdef(path.read_bytes()), op_facts.REGISTRY, dumped.outputs).run()
        t.equal(difference(dumped, theirs), "", path.name)


@case("op facts of this test agree with TensorFlow's registry", needs_shared=True)
def _(t):
    t.equal(op_facts.differences(registry()), [])


@case("GraphDefs of the shared folder", needs_shared=True)
def _(t):
    paths = [p for p in sorted(shared("models").rglob("*.pb")) if p.name not in ("saved_model.pb", "fingerprint.pb")]
    t.check(len(paths) >= 8, f"only {len(paths)} GraphDefs")
    facts = registry()
    for options, flags in (({}, []), ({"variant": "tensorflow-2.4"}, ["--lists", "tensorflow-2.4"]), ({"infer_after": True}, ["--infer-after"])):
        ours = dump([(path, []) for path in paths], flags)
        for path in paths:
            t.equal(ours[str(path)].error, "")
            theirs = Planner(parse_graphdef(path.read_bytes()), facts, ours[str(path)].outputs, **options).run()
            t.equal(difference(ours[str(path)], theirs), "", f"{path.name} {flags}")


main()
