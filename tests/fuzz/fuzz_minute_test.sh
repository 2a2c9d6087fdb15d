#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz_minute_test.sh FUZZ: fuzzes for a minute. Fails if an op occurred too rarely.
exec "$1" --seconds "${HALFTONE_FUZZ_SECONDS:-60}"
