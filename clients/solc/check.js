// What `residue build` writes for solc, compiled by it and executed: the Yul object becomes the same code, and a contract
// that deploys the Solidity library's code and calls it, by bytes and by the contract's functions, gives the output of the contract's example.
//
// npm ci && RESIDUE=path/to/residue node check.js
"use strict";

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const solc = require("solc");
const typed = require("./typed.js");

const residue = process.env.RESIDUE || "residue";

const [GROTH16, PLONK] = ["groth16", "plonk"].map((name) => path.join(__dirname, "../../examples", name));

// Contract, revision, more options, and those of its example. Code with and without data at its end, with every place that operands have; programs too.
const CASES = [
    ["bls12_381/g1_add", "eip6690-2024", []],
    ["bls12_381/g1_add", "evm384-v7", ["--fork", "london"]],
    ["bls12_381/fp2_mul", "evmone-2025", ["--portable"]],
    ["bls12_381/fp2_mul", "evm384-v9", []],
    ["bls12_381/map_fp_to_g1", "eip5843", []],
    ["bls12_381/pairing", "eip6690-2024", []],
    ["bn254/add", "evm", []],
    ["poseidon2/bn254_t3", "evm", ["--fork", "london"]],
    ["bn254/pairing", "evm", ["--use-precompiles"]],
    ["groth16", "evm", ["--use-precompiles", "--key", `${GROTH16}/key.json`], ["--key", `${GROTH16}/key.json`, "--proof", `${GROTH16}/proof.json`, "--public", `${GROTH16}/public.json`]],
];
// Contracts whose functions alone are called: every kind of argument and of result is among them.
const TYPED = [
    ["p256/verify", "evm", []],
    ["p384/verify", "eip6690-2024", []],
    ["secp256k1/recover", "evm", ["--use-precompiles"]],
    ["bip340/verify", "eip6690-2024", []],
    ["ed25519/verify", "evm", []],
    ["poseidon/t3", "evm", []],
    ["poseidon/t3_many", "eip6690-2024", []],
    ["poseidon/merkle", "eip6690-2024", []],
    ["bn254/mul", "evm", ["--use-precompiles"]],
    ["bls12_381/hash_to_g1", "eip6690-2024", []],
    ["bls12_381/verify", "eip6690-2024", []],
    ["drand/verify", "eip6690-2024", []],
    ["kzg/point_evaluation", "evm", ["--use-precompiles"]],
    ["hashes/blake2f", "evm", ["--use-precompiles"]],
    ["hashes/sha512", "evm", []],
    ["modexp", "evm", ["--use-precompiles"]],
    ["plonk", "evm", ["--use-precompiles", "--key", `${PLONK}/key.json`], ["--key", `${PLONK}/key.json`, "--proof", `${PLONK}/proof.json`, "--public", `${PLONK}/public.json`]],
];
const PROGRAM = path.join(__dirname, "../../examples/ir/polynomial.ir");

// The hard forks of `--fork` by the names that solc has for them.
const EVM_VERSION = { london: "london", osaka: "osaka" };

const run = (...args) => execFileSync(residue, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["pipe", "pipe", "inherit"] });
const json = (...args) => JSON.parse(run(...args, "--json"));

// The output of solc for one source, or for the sources named.
function compile(language, sources, fork, optimizer) {
    const files = Object.fromEntries(Object.entries(sources).map(([name, content]) => [name, { content }]));
    const settings = {
        evmVersion: EVM_VERSION[fork],
        optimizer: { enabled: optimizer },
        outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"], "": [] } },
    };
    const output = JSON.parse(solc.compile(JSON.stringify({ language, sources: files, settings })));
    const errors = (output.errors || []).filter((error) => error.severity === "error");
    if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join("\n"));
    // A contract that holds the creation code of another is longer than the main network allows, and solc warns of that.
    const others = (output.errors || []).filter((error) => !["5574", "3860"].includes(error.errorCode));
    if (others.length > 0) throw new Error(others.map((error) => error.formattedMessage).join("\n"));
    return output.contracts;
}

// What code returns under a revision, as hexadecimal without 0x.
function execute(code, input, revision, fork) {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "residue-solc-")), "code.hex");
    fs.writeFileSync(file, code);
    try {
        const ran = json("run", file, "--input", `0x${input}`, "--revision", revision, "--fork", fork, "--no-time");
        return ran.output.replace(/^0x/, "");
    } finally {
        fs.rmSync(path.dirname(file), { recursive: true });
    }
}

function equal(found, expected, what) {
    if (found !== expected) throw new Error(`${what}: ${String(found).slice(0, 200)} is not ${String(expected).slice(0, 200)}`);
}

// A contract without arguments: deploys the library's code at its first call, calls it with the calldata and returns the output.
const caller = (name) => `// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.13;
import "library.sol";
contract Caller {
    fallback(bytes calldata input) external returns (bytes memory) {
        address account = ${name}.deploy();
        require(${name}.isAt(account) && !${name}.isAt(address(this)));
        return ${name}.call(account, input);
    }
}
`;

// The same with an address that is known, which nobody is at: the library says so.
const caller_of_known = (name) => `// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.13;
import "library.sol";
contract Caller {
    function direct(bytes memory input) external view returns (bytes memory) { return ${name}.call(input); }
    fallback(bytes calldata input) external returns (bytes memory) {
        try this.direct(input) returns (bytes memory output) { return output; } catch (bytes memory reason) { return reason; }
    }
}
`;

function identifier(source) {
    return source.match(/^library (\w+) /m)[1];
}

function check(contract, revision, options, input, output) {
    const fork = options.includes("--fork") ? options[options.indexOf("--fork") + 1] : "osaka";
    const build = (...more) => run("build", contract, "--revision", revision, ...options, ...more);
    const code = build("--format", "hex").trim().replace(/^0x/, "");
    const creation = build("--format", "creation").trim().replace(/^0x/, "");
    equal(execute(creation, "", revision, fork), code, "what the creation code returns");
    for (const optimizer of [false, true]) {
        const objects = compile("Yul", { "object.yul": build("--format", "yul") }, fork, optimizer)["object.yul"];
        const [object] = Object.values(objects);
        // The optimizer ends what does not end by itself with a STOP, which nothing reaches.
        const expected = optimizer ? `${code}00` : code;
        equal(object.evm.deployedBytecode.object, expected, `Yul${optimizer ? ", optimized" : ""}`);
        equal(execute(object.evm.bytecode.object, "", revision, fork), expected, "what the creation code of the Yul object returns");
    }
    const library = build("--format", "solidity");
    const name = identifier(library);
    const sources = { "library.sol": library, "caller.sol": caller(name) };
    const compiled = compile("Solidity", sources, fork, true);
    equal(execute(compiled["caller.sol"].Caller.evm.deployedBytecode.object, input, revision, fork), output, "the library's output");
    const known = build("--format", "solidity", "--address", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed");
    const refused = compile("Solidity", { "library.sol": known, "caller.sol": caller_of_known(name) }, fork, true);
    const reason = execute(refused["caller.sol"].Caller.evm.deployedBytecode.object, input, revision, fork);
    // Nobody is there: NoCode, with the address.
    equal(reason.slice(8), "0000000000000000000000005aaeb6053f3e94c9b9a09f33669435e7ef1beaed", "the address of the library");
    const artifact = JSON.parse(build("--format", "json"));
    equal(artifact.contractName, name, "the artifact's name");
    equal(artifact.bytecode, `0x${creation}`, "the artifact's creation code");
    equal(artifact.deployedBytecode, `0x${code}`, "the artifact's code");
    const same_order = (abi) => JSON.stringify(abi.map(sorted).sort((a, b) => (a.type < b.type ? -1 : 1)));
    equal(same_order(artifact.abi), same_order(compiled["library.sol"][`I${name}`].abi), "the artifact's ABI");
    check_typed(library, artifact, revision, fork, input, output);
}

// Calls each function with the arguments that the example has, and those of functions that answer yes or no with one bit changed too.
function check_typed(library, artifact, revision, fork, input, output) {
    const named = artifact.abi.filter(({ type }) => type === "function").map(({ name }) => name);
    for (const described of artifact.functions) {
        const has_selector = named.includes(described.signature.split("(")[0]);
        const sources = { "library.sol": library, "typed.sol": typed.caller("library.sol", identifier(library), described) };
        const code = compile("Solidity", sources, fork, true)["typed.sol"].Typed.evm.deployedBytecode.object;
        const call = (calldata) => execute(code, typed.encoded(described.inputs, has_selector ? calldata.slice(8) : calldata), revision, fork);
        equal(call(input), typed.answered(described, output), described.signature);
        if (!described.signature.startsWith("verify")) continue;
        // Signatures begin after a key of 32 bytes, and numbers of a proof after the first: a changed one is refused by an answer.
        const place = input.length - 2 * (has_selector ? 4 + 32 : 100);
        const changed = input.slice(0, place) + (parseInt(input[place], 16) ^ 1).toString(16) + input.slice(place + 1);
        equal(call(changed), "".padStart(64, "0"), `${described.signature} of what does not hold`);
    }
}

// Keys in one order, at every depth.
const sorted = (value) => {
    if (Array.isArray(value)) return value.map(sorted);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, sorted(inner)]).sort());
};

let passed = 0;
const failed = [];
function attempt(what, test) {
    try {
        test();
        passed += 1;
        console.log(`ok      ${what}`);
    } catch (error) {
        failed.push(what);
        console.log(`FAILED  ${what}: ${error.message}`);
    }
}

console.log(`solc ${solc.version()}`);
for (const [contract, revision, options, example = []] of CASES) {
    attempt([contract, revision, ...options].join(" "), () => {
        const { input, output } = json("example", contract, ...example);
        check(contract, revision, options, input.slice(2), output.slice(2));
    });
}
for (const [contract, revision, options, example = []] of TYPED) {
    attempt([contract, revision, ...options, "by its functions"].join(" "), () => {
        const { input, output } = json("example", contract, ...example);
        const build = (format) => run("build", contract, "--revision", revision, ...options, "--format", format);
        check_typed(build("solidity"), JSON.parse(build("json")), revision, "osaka", input.slice(2), output.slice(2));
    });
}
attempt(path.basename(PROGRAM), () => {
    const input = fs.readFileSync(PROGRAM.replace(/\.ir$/, ".hex"), "utf8").trim().replace(/^0x/, "");
    const { output } = json("run", PROGRAM, "--input", `0x${input}`, "--no-time");
    check(PROGRAM, "eip6690-2024", [], input, output.replace(/^0x/, ""));
});
console.log(`${passed} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
