#!/usr/bin/env bash
# One multiplication in the tower of BLS12-381, written in Yul for EVM384 versions 1 to 5 and with macros in the style of Huff
# for versions 6 to 9, compiled by solc and by our assembler, run, and compared with big integers.
#
#     examples/languages.sh [RESIDUE]
#
# RESIDUE is the command; without it a release build is made. Needs node, and npm, which fetches solc into a temporary folder.
# Exits with 1 if a result differs, or if nothing could be run.
set -euo pipefail
[ $# -eq 0 ] || residue=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"

if [ $# -eq 0 ]; then
    cargo build --release --quiet -p residue
    residue=${CARGO_TARGET_DIR:-../target}/release/residue
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-fund --no-audit --prefix "$work" solc@0.8.37 >&2
export NODE_PATH="$work/node_modules"

revisions=$("$residue" list revisions --json |
    node -p 'JSON.parse(fs.readFileSync(0)).revisions.map((revision) => revision.name).join("\n")')
ran=0
failures=0
printf '%-10s  %-8s  %-8s  %10s  %8s  %s\n' revision language result 'code bytes' gas 'add, sub, mul'

# try VERSION LANGUAGE BYTE-ORDER COMMAND...: the command prints the code.
try() {
    local revision="evm384-$1" language=$2 order=$3 row
    shift 3
    if ! grep -qx "$revision" <<<"$revisions"; then
        printf '%-10s  %-8s  missing\n' "$revision" "$language"
        return
    fi
    "$@" >"$work/code.hex"
    node f6m_mul.js "$order" input >"$work/input.hex"
    # A frame that halts has a row too, so the exit code is not needed.
    "$residue" run "$work/code.hex" --revision "$revision" --input "@$work/input.hex" --no-time --json >"$work/run.json" ||
        true
    row=$(node -e '
        const [path, product, revision, language] = process.argv.slice(1);
        const { halt, output, code_bytes, gas_used, ops } = JSON.parse(fs.readFileSync(path));
        const result = halt === "return" && output === product ? "right" : halt === "return" ? "WRONG" : halt;
        const counts = ["ADDMOD384", "SUBMOD384", "MULMODMONT384"].map((name) => ops?.[name] ?? 0).join(", ");
        const cells = [[revision, 10], [language, 8], [result, 8], [code_bytes, -10], [gas_used, -8], [counts, 0]];
        const pad = ([cell, width]) => (width < 0 ? String(cell).padStart(-width) : String(cell).padEnd(width));
        console.log(cells.map(pad).join("  "));
    ' "$work/run.json" "$(node f6m_mul.js "$order" product)" "$revision" "$language")
    echo "$row"
    ran=$((ran + 1))
    [[ $row =~ " right " ]] || failures=$((failures + 1))
}

yul() { node yul/compile.js yul/f6m_mul.yul "$1"; }
huff() { node huff/expand.js "huff/$1.huff" huff/f6m_mul.huff | "$residue" asm - --revision "$2"; }

for version in v1 v2 v3 v4 v5; do
    try "$version" Yul little yul "$version"
done
try v6 macros little huff v6 evm384-v6
try v7 macros little huff v7 evm384-v7
try v8 macros big huff v8 evm384-v8
try v9 macros little huff v7 evm384-v9

[ "$ran" -gt 0 ] || { echo "nothing was run" >&2; exit 1; }
[ "$failures" -eq 0 ] || { echo "$failures of $ran are not right" >&2; exit 1; }
