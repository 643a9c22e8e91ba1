// Verifiers in Solidity by snarkjs' own templates, for the keys of examples/: verifiers.mjs NODE_MODULES EXAMPLES FOLDER
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
const [, , modules, examples, folder] = process.argv;
const require = createRequire(`${modules}/`);
const ejs = require("ejs");
for (const [system, name] of [["groth16", "Groth16Verifier"], ["plonk", "PlonkVerifier"]]) {
    const template = readFileSync(`${modules}/snarkjs/templates/verifier_${system}.sol.ejs`, "utf8");
    const key = JSON.parse(readFileSync(`${examples}/${system}/key.json`, "utf8"));
    writeFileSync(`${folder}/${name}.sol`, ejs.render(template, key));
}
