#!/usr/bin/env bash
# Public Solidity from npm and our contracts in one run on one EVM (revm by forge, Osaka): the same inputs, the same answers, gas, bytes. The table of
# docs/evm.md has to be this one; RESIDUE_WRITE_TABLES=1 writes it there.
#
# usage: clients/solidity/run.sh
#
# Environment: RESIDUE, the binary (target/release/residue by default).
set -euo pipefail
cd "$(dirname "$0")/../.."
. clients/set_up.sh
foundry && solc_shim || { echo "skipped: forge does not install"; exit 0; }
npm_into solidity poseidon-solidity@0.0.5 @zk-kit/lean-imt.sol@2.0.1 @openzeppelin/contracts@5.7.0 @solarity/solidity-lib@3.1.0 snarkjs@0.7.6 ejs ||
    { echo "skipped: the packages do not install"; exit 0; }

cd "$AT/solidity"
rm -rf ours verifiers test out cache rows.tsv roots.txt
mkdir -p ours verifiers test
cp "$ROOT"/clients/solidity/*.sol test/
node "$ROOT/clients/solidity/verifiers.mjs" "$PWD/node_modules" "$ROOT/examples" verifiers
ours() {
    "$RESIDUE" build "$1" --revision evm --fork osaka --code-limit fork --format solidity --output "ours/$2.sol" "${@:3}" >/dev/null
}
keyed() {
    echo --key "$ROOT/examples/$1/key.json"
}
for width in 2 3 4 5 6; do ours "poseidon/t$width" "PoseidonT$width"; done
ours lean_imt/poseidon LeanImtPoseidon
ours p256/verify P256Verify
ours p384/verify P384Verify
# shellcheck disable=SC2046 # two words
ours groth16 Groth16 $(keyed groth16) --use-precompiles
# shellcheck disable=SC2046 # two words
ours plonk Plonk $(keyed plonk) --use-precompiles
call() {
    # shellcheck disable=SC2046 # two words
    "$RESIDUE" example "$1" $(keyed "$1") --proof "$ROOT/examples/$1/proof.json" --public "$ROOT/examples/$1/public.json" | sed 's/^0x//'
}
signature=$("$RESIDUE" example p384/verify | sed 's/^0x//')
{
    echo "// SPDX-License-Identifier: MIT OR Apache-2.0"
    echo "pragma solidity ^0.8.28;"
    echo "library Vectors {"
    at=0
    for part in HASH R S X Y; do
        echo "    bytes internal constant P384_$part = hex\"${signature:$at:96}\";"
        at=$((at + 96))
    done
    echo "    bytes internal constant GROTH16 = hex\"$(call groth16)\";"
    echo "    bytes internal constant PLONK = hex\"$(call plonk)\";"
    echo "}"
} >ours/Vectors.sol
# Where ours is put, the linker is told by an address of its own.
cat >foundry.toml <<TOML
[profile.default]
src = "ours"
libs = ["node_modules"]
solc = "$SOLC"
offline = true
optimizer = true
optimizer_runs = 10000000
evm_version = "osaka"
code_size_limit = 1048576
gas_limit = 1000000000
fs_permissions = [{ access = "read-write", path = "./" }]

[profile.ours]
libraries = ["node_modules/poseidon-solidity/PoseidonT3.sol:PoseidonT3:0x00000000000000000000000000000000000C0de1"]
TOML
LINKED='' forge test
LINKED=ours FOUNDRY_PROFILE=ours forge test --match-contract TreeTest
[ "$(sort -u roots.txt | wc -l)" = 1 ] && [ "$(wc -l <roots.txt)" = 2 ] || { echo "trees have different roots" >&2; exit 1; }

# Packages have their version as npm installed it; deployment is the price of the bytes alone, before Amsterdam and from then on.
version() {
    node -p "require('./node_modules/$1/package.json').version"
}
table=$(
    echo "| what | code | gas | bytes | 200 gas a byte | 1 530 gas a byte |"
    echo "|---|---|---:|---:|---:|---:|"
    sort -s -t $'\t' -k1,1 rows.tsv | while IFS=$'\t' read -r what code gas size; do
        case $code in
        */verify | poseidon/* | lean_imt/*) code="\`$code\`" ;;
        groth16 | plonk) code="\`$code --use-precompiles\`" ;;
        *) code="$code $(version "$code")" ;;
        esac
        printf '| %s | %s | %d | %d | %d | %d |\n' "$what" "$code" "$gas" "$size" $((size * 200)) $((size * 1530))
    done
)
cd "$ROOT"
python3 - "$table" docs/evm.md "${RESIDUE_WRITE_TABLES:-}" <<'PY'
import re
import sys

table, path, writes = sys.argv[1:]
spaced = re.sub(r"(?<=\| )\d{4,}(?= \|)", lambda found: f"{int(found[0]):,}".replace(",", " "), table)
page = open(path, encoding="utf-8").read()
start, end = "<!-- beside -->\n\n", "\n\n<!-- end -->"
at = page.index(start) + len(start)
until = page.index(end, at)
if writes:
    open(path, "w", encoding="utf-8").write(page[:at] + spaced + page[until:])
elif page[at:until] != spaced:
    sys.exit(f"{path} has another table than this one; RESIDUE_WRITE_TABLES=1 writes it:\n{spaced}")
print(spaced)
PY
