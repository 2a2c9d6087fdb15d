#!/usr/bin/env bash
# fuzz_minute_test.sh FUZZ: random graphs until every op was there often enough, and for a minute at most.
exec "$1" --seconds "${HALFTONE_FUZZ_SECONDS:-60}"
