// Expands the macros of files in the style of Huff to the text that `residue asm` assembles.
//
//     node expand.js v7.huff f6m_mul.huff | residue asm - --revision evm384-v7
//
// Understood are `#define constant NAME = number`, `#define macro NAME(a, b) = takes(0) returns(0) { ... }` with `<a>` for an
// argument, `[NAME]` for a constant, `NAME(x, y)` for a macro, and comments. The program is the macro MAIN.
"use strict";
const fs = require("fs");

const DEPTH_MAX = 64;
const files = process.argv.slice(2);
const text = files.map((file) => fs.readFileSync(file, "utf8")).join("\n").replace(/\/\/.*|\/\*[^]*?\*\//g, "");

const constants = new Map();
for (const [, name, value] of text.matchAll(/#define\s+constant\s+(\w+)\s*=\s*(\w+)/g)) {
    constants.set(name, value);
}
const macros = new Map();
const definition = /#define\s+macro\s+(\w+)\s*\(([^)]*)\)\s*=\s*takes\s*\(\d+\)\s*returns\s*\(\d+\)\s*\{([^}]*)\}/g;
for (const [, name, parameters, body] of text.matchAll(definition)) {
    macros.set(name, { parameters: parameters.split(",").map((word) => word.trim()).filter(Boolean), body });
}

function fail(message) {
    console.error(`${files.join(", ")}: ${message}`);
    process.exit(1);
}

function known(map, name, what) {
    return map.get(name) ?? fail(`there is no ${what} ${name}`);
}

function expand(name, given, depth) {
    if (depth > DEPTH_MAX) fail(`the macro ${name} uses itself`);
    const { parameters, body } = known(macros, name, "macro");
    if (given.length !== parameters.length) fail(`${name} takes ${parameters.length} arguments, not ${given.length}`);
    const argumentOf = new Map(parameters.map((parameter, index) => [parameter, given[index]]));
    const filled = body
        .replace(/<\s*(\w+)\s*>/g, (_, parameter) => known(argumentOf, parameter, "argument"))
        .replace(/\[\s*(\w+)\s*\]/g, (_, constant) => known(constants, constant, "constant"));
    return filled.replace(/(\w+)\s*\(([^)]*)\)/g, (_, inner, list) => {
        const words = list.split(",").map((word) => word.trim()).filter(Boolean);
        return expand(inner, words, depth + 1);
    });
}

const lines = expand("MAIN", [], 0).split("\n").map((line) => line.trim().replace(/\s+/g, " ")).filter(Boolean);
console.log(lines.join("\n"));
