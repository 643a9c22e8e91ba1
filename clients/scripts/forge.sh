#!/usr/bin/env bash
# forge: `forge create`, and a script that reaches the node by vm.rpc. forge executes scripts in its own EVM.
set -euo pipefail
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
mkdir -p "$project/src" "$project/script"
cp "$ROOT/examples/foundry/Residue.sol" "$project/src/"
cat >"$project/foundry.toml" <<TOML
[profile.default]
solc = "$SOLC"
offline = true
evm_version = "cancun"
TOML
cat >"$project/src/Caller.sol" <<'SOL'
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract Caller {
    function ask(address target, bytes calldata input) external view returns (bytes memory) {
        (bool ok, bytes memory output) = target.staticcall(input);
        require(ok, "the call failed");
        return output;
    }
}
SOL
cat >"$project/script/Ask.s.sol" <<'SOL'
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Residue} from "../src/Residue.sol";

contract Ask {
    bool public constant IS_SCRIPT = true;

    function run(address target, bytes calldata input, bytes32 expected) external {
        bytes memory output = Residue.call(target, input);
        require(bytes32(output) == expected, "another output");
    }
}
SOL
cd "$project"
target=$(cast send --rpc-url "$RPC" --private-key "$KEY" --json --create "$(cat "$INIT")" | jq -r .contractAddress)
caller=$(forge create --broadcast --rpc-url "$RPC" --private-key "$KEY" --json src/Caller.sol:Caller | jq -r .deployedTo)
output=$(cast call --rpc-url "$RPC" "$caller" "ask(address,bytes)(bytes)" "$target" "$(cat "$INPUT")")
[ "$output" = "$OUTPUT" ] || { echo "forge create: $output, not $OUTPUT" >&2; exit 1; }
forge script --rpc-url "$RPC" script/Ask.s.sol:Ask --sig "run(address,bytes,bytes32)" "$target" "$(cat "$INPUT")" "$OUTPUT" >"$project/log" 2>&1 ||
    { tail -20 "$project/log" >&2; exit 1; }
