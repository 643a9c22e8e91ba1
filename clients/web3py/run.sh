#!/usr/bin/env bash
# web3.py's own module tests against the node at $RPC; passes if at least 175 of the 195 do. $1: a Python that has web3 and pytest.
set -u
cd "$(dirname "$0")"
"$1" -m pytest -q -p no:cacheprovider --tb=line | tee /dev/stderr | awk '
    { for (at = 2; at <= NF; at++) if ($at ~ /^passed/) passed = $(at - 1) }
    END { exit !(passed >= 175) }'
