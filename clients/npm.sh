# What clients install from npm, for scripts that say in AT where to.
# shellcheck shell=bash

# name, version of node, packages: installed once.
npm_into() {
    local folder=$AT/$1; shift
    command -v npm >/dev/null || return 1
    [ -e "$folder/.done" ] && return
    mkdir -p "$folder" && (cd "$folder" && { [ -e package.json ] || echo '{"private":true}' >package.json; } &&
        timeout 300 npm install --no-audit --no-fund --loglevel=error "$@" >install.log 2>&1) && touch "$folder/.done"
}
foundry() {
    local version=1.7.1
    npm_into foundry "@foundry-rs/cast-linux-amd64@$version" "@foundry-rs/forge-linux-amd64@$version" \
        "@foundry-rs/anvil-linux-amd64@$version" solc@0.8.37 || return 1
    for tool in cast forge anvil; do PATH=$AT/foundry/node_modules/@foundry-rs/$tool-linux-amd64/bin:$PATH; done
    export PATH
    cast --version >/dev/null 2>&1
}
# forge asks a compiler for its version and gives it JSON; npm's solc is a program of another form.
solc_shim() {
    export SOLC=$AT/foundry/solc
    cat >"$SOLC" <<SHIM
#!/usr/bin/env bash
case "\$*" in
*--version*) node -e 'console.log("solc, the solidity compiler commandline interface\nVersion: " + require("$AT/foundry/node_modules/solc").version().replace("Emscripten.clang", "Linux.g++"))' ;;
*) exec node -e 'process.stdout.write(require("$AT/foundry/node_modules/solc").compile(require("fs").readFileSync(0, "utf8")))' ;;
esac
SHIM
    chmod +x "$SOLC"
}
