#!/usr/bin/env bash
# cast: deploys, calls, estimates, sends, and asks for what a person would ask.
set -euo pipefail
rpc=(--rpc-url "$RPC")
key=(--private-key "$KEY")
address=$(cast send "${rpc[@]}" "${key[@]}" --json --create "$(cat "$INIT")" | jq -r .contractAddress)
[ "$(cast call "${rpc[@]}" "$address" --data "$(cat "$INPUT")")" = "$OUTPUT" ]
[ "$(cast estimate "${rpc[@]}" --from "$SENDER" "$address" "$(cat "$INPUT")")" -ge "$GAS" ]
receipt=$(cast send "${rpc[@]}" "${key[@]}" --json "$address" "$(cat "$INPUT")")
[ "$(jq -r .status <<<"$receipt")" = 0x1 ]
[ "$(($(jq -r .gasUsed <<<"$receipt")))" = "$GAS" ] || { echo "gas $(jq -r .gasUsed <<<"$receipt"), not $GAS" >&2; exit 1; }
hash=$(jq -r .transactionHash <<<"$receipt")
cast receipt "${rpc[@]}" "$hash" blockNumber >/dev/null
cast tx "${rpc[@]}" "$hash" >/dev/null
cast block "${rpc[@]}" latest >/dev/null
cast access-list "${rpc[@]}" "$address" "$(cat "$INPUT")" >/dev/null
cast code "${rpc[@]}" "$address" >/dev/null
cast proof "${rpc[@]}" "$address" >/dev/null
cast rpc "${rpc[@]}" debug_traceTransaction "$hash" '{"tracer":"callTracer"}' | jq -e ".gasUsed" >/dev/null
cast rpc "${rpc[@]}" residue_profile "$hash" | jq -e '.contracts[0].ops | map(select(.op == "MULMODX")) | length == 1' >/dev/null
