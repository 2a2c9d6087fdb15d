#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# halftone-gate.sh: a CI step that fails when a bf16 or int8 model is too slow or too inaccurate.
#
#   MODEL=net.onnx EVAL=samples/ MIN_SPEEDUP=bf16=1.2 MIN_SQNR=bf16=30 deploy/ci/halftone-gate.sh
#
# Environment: MODEL (required), EVAL, CALIBRATION, POLICY, OUT (default: halftone-out), SERVER; the gates MIN_SPEEDUP,
# MIN_TOP1_AGREEMENT, MIN_SQNR, MAX_TOP1_DROP, each PRECISION=NUMBER[,PRECISION=NUMBER]; EXTRA: more flags of
# `halftone optimize`, split at blanks. HALFTONE names the program (default: halftone). Further arguments are passed on.
#
# Exit code: that of halftone: 0 passed, 4 a gate failed, 9 too noisy to decide, 3 bad model, 2 wrong flags, ...
# On GitHub the table goes to the step's summary, and the report's path and the exit code become outputs.

set -uo pipefail

: "${MODEL:?set MODEL to the path of the model}"
out=${OUT:-halftone-out}
flags=(optimize "$MODEL" --out "$out")

# add FLAG VALUE: unless the value is empty.
add() { [[ -z $2 ]] || flags+=("$1" "$2"); }
add --eval "${EVAL:-}"
add --calibration "${CALIBRATION:-}"
add --policy "${POLICY:-}"
add --server "${SERVER:-}"
add --min-speedup "${MIN_SPEEDUP:-}"
add --min-top1-agreement "${MIN_TOP1_AGREEMENT:-}"
add --min-sqnr "${MIN_SQNR:-}"
add --max-top1-drop "${MAX_TOP1_DROP:-}"
add --summary "${GITHUB_STEP_SUMMARY:-}"
read -r -a extra <<<"${EXTRA:-}"

"${HALFTONE:-halftone}" "${flags[@]}" ${extra[@]+"${extra[@]}"} "$@"
code=$?

if [[ -n ${GITHUB_OUTPUT:-} ]]; then
  { echo "exit-code=$code"; echo "report=$out/report.json"; } >>"$GITHUB_OUTPUT"
fi
if [[ -n ${GITHUB_ACTIONS:-} && $code != 0 ]]; then
  case $code in
    9) echo "::error title=Halftone::the machine is too noisy to decide a gate for $MODEL" ;;
    4) echo "::error title=Halftone::a gate failed for $MODEL, see the step's summary" ;;
    *) echo "::error title=Halftone::halftone ended with exit code $code for $MODEL" ;;
  esac
fi
exit "$code"
