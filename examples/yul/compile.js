// Compiles a Yul file with solc and prints the code of its first object in hexadecimal.
//
//     node compile.js f6m_mul.yul v4
//
// uncovers the lines behind `//v4` first. solc is found by NODE_PATH.
"use strict";
const fs = require("fs");
const solc = require("solc");

const [path, version] = process.argv.slice(2);
const cover = `//${version} `;
const text = fs.readFileSync(path, "utf8");
if (!text.includes(cover)) {
    console.error(`${path} has no line for ${version}`);
    process.exit(2);
}
const input = {
    language: "Yul",
    sources: { [path]: { content: text.replaceAll(cover, "") } },
    settings: {
        evmVersion: "osaka",
        optimizer: { enabled: true, details: { yul: true } },
        outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
    },
};
const output = JSON.parse(solc.compile(JSON.stringify(input)));
const errors = (output.errors ?? []).filter((error) => error.severity === "error");
if (errors.length > 0) {
    console.error(errors.map((error) => error.formattedMessage).join("\n"));
    process.exit(1);
}
const [object] = Object.values(output.contracts[path]);
console.log(`0x${object.evm.bytecode.object}`);
