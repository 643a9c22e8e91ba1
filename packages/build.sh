#!/usr/bin/env bash
# Makes what of packages/residue-evm is generated: a library and its creation code for each contract of the catalogue, and the verifier of the example.
#
# usage: packages/build.sh [CONTRACT...]     (all of the catalogue without a name)
#
# Environment: RESIDUE, the binary (target/release/residue by default).
set -euo pipefail
cd "$(dirname "$0")/.."
RESIDUE=${RESIDUE:-${CARGO_TARGET_DIR:-target}/release/residue}
at=packages/residue-evm
rm -rf "$at/contracts" "$at/examples/generated"
mkdir -p "$at/examples/generated"
"$RESIDUE" catalogue "$@" --packages "$at/contracts" --output "$at/catalogue.json"
key=(--key examples/groth16/key.json)
"$RESIDUE" build groth16 "${key[@]}" --revision evm --use-precompiles --code-limit fork --format solidity --output "$at/examples/generated/Groth16.sol" >/dev/null
proof=$("$RESIDUE" example groth16 "${key[@]}" --proof examples/groth16/proof.json --public examples/groth16/public.json)
cat >"$at/examples/generated/Proof.sol" <<SOL
// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

/// A call of the verifier in Groth16.sol with a proof that holds: the one of examples/groth16. Made by packages/build.sh.
library Proof {
    bytes internal constant CALL = hex"${proof#0x}";
}
SOL
cp LICENSE-MIT LICENSE-APACHE packages/README.md "$at/"
echo "$(find "$at/contracts" -name '*.sol' | wc -l) libraries in $at/contracts"
