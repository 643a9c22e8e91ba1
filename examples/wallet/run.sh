#!/usr/bin/env bash
# The wallet of packages/residue-evm/examples/HybridWallet.sol on anvil and on our node. What does not install from npm is skipped by name.
#
# usage: examples/wallet/run.sh [anvil node]
#
# Environment: RESIDUE and NODE, the binaries (target/release by default); SIGNER, the example c13_signer.
set -euo pipefail
cd "$(dirname "$0")/../.."
. clients/set_up.sh
NODE=$(realpath "${NODE:-$TARGET/release/residue-node}")
SIGNER=${SIGNER:-$TARGET/release/examples/c13_signer}
[ -x "$SIGNER" ] || cargo build --release -p residue-workbench --example c13_signer
SIGNER=$(realpath "$SIGNER")
export SIGNER
npm_into wallet viem@2 @noble/curves@2 solc@0.8.37 || { echo "skipped: viem, noble or solc does not install"; exit 0; }
packages/build.sh sphincs/c13 p256/verify
cd "$AT/wallet"
npm pack --silent --pack-destination . "$ROOT/packages/residue-evm" >/dev/null
npm install --no-save --no-audit --no-fund --loglevel=error ./residue-evm-*.tgz
port=${PORT:-18845}
for chain in ${*:-anvil node}; do
    case $chain in
    anvil)
        foundry || { echo "skipped  anvil: it does not install"; continue; }
        anvil --port "$port" --hardfork osaka --silent & ;;
    node) "$NODE" --port "$port" >node.log 2>&1 & ;;
    *) echo "no chain $chain: anvil or node" >&2; exit 2 ;;
    esac
    pid=$!
    # shellcheck disable=SC2064 # the process of now
    trap "kill $pid 2>/dev/null" EXIT
    for _ in $(seq 100); do
        curl -s -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}' "http://127.0.0.1:$port" >/dev/null && break
        sleep 0.1
    done
    echo "on $chain"
    RPC=http://127.0.0.1:$port node "$ROOT/examples/wallet/wallet.mjs" "$PWD"
    kill "$pid"
    wait "$pid" 2>/dev/null || true
done
