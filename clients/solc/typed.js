// Arguments of a function, as an artifact describes it, from the calldata that the contract takes: as the ABI encodes them for a caller.
"use strict";

const word = (number) => number.toString(16).padStart(64, "0");
const right = (hex) => hex.padEnd(Math.ceil(hex.length / 64) * 64, "0");

// Bytes that an argument takes in packed calldata; undefined where it takes what is left.
function packedBytes({ type, bytes }) {
    if (type === "bytes") return bytes;
    if (type.endsWith("[]")) return undefined;
    const [base, ...lengths] = type.split("[");
    const elements = lengths.reduce((product, length) => product * parseInt(length, 10), 1);
    // Elements of arrays are whole words, a value alone has the bytes of its type.
    if (elements > 1 || lengths.length > 0) return 32 * elements;
    if (base === "bool") return 1;
    const [, kind, size] = base.match(/^(uint|bytes)(\d+)$/);
    return kind === "uint" ? size / 8 : Number(size);
}

// Each argument's piece of the calldata, without lengths that come first.
function pieces(inputs, calldata) {
    const of = (input, offset) =>
        input.lengthFirst ? parseInt(calldata.slice(2 * offset, 2 * offset + 4), 16) : packedBytes(input);
    const after = inputs.findIndex((input) => !input.lengthFirst && packedBytes(input) === undefined);
    const behind = after < 0 ? 0 : inputs.slice(after + 1).reduce((sum, input) => sum + packedBytes(input), 0);
    let offset = 0;
    const found = inputs.map((input) => {
        const bytes = of(input, offset) ?? calldata.length / 2 - offset - behind;
        const start = offset + (input.lengthFirst ? 2 : 0);
        offset = start + bytes;
        return calldata.slice(2 * start, 2 * offset);
    });
    if (2 * offset !== calldata.length) throw new Error(`${calldata.length / 2 - offset} bytes of calldata are no argument's`);
    return found;
}

// What the ABI makes of the arguments that this calldata has.
function encoded(inputs, calldata) {
    const heads = [], tails = [];
    const head = inputs.reduce((sum, { type }) => sum + (type === "bytes" || type.endsWith("[]") ? 32 : Math.max(packedBytes({ type }), 32)), 0);
    pieces(inputs, calldata).forEach((piece, place) => {
        const { type } = inputs[place];
        if (type === "bytes" || type.endsWith("[]")) {
            heads.push(word(head + tails.join("").length / 2));
            tails.push(word(piece.length / (type === "bytes" ? 2 : 64)) + right(piece));
        } else {
            heads.push(type.startsWith("bytes") ? right(piece) : piece.padStart(64, "0"));
        }
    });
    return heads.join("") + tails.join("");
}

// What a function of the library returns, by the ABI, where the contract returns `output`.
function answered({ outputs: [{ type }] }, output) {
    if (type === "bool") return word(output.length === 64 && BigInt(`0x${output}`) === 1n ? 1 : 0);
    if (type === "address") return output || word(0);
    if (type === "bytes") return word(32) + word(output.length / 2) + right(output);
    return output;
}

// A contract that takes the arguments of a function as the ABI encodes them, deploys the library's code and calls it by that function.
function caller(library, name, { signature, inputs, outputs: [{ type }] }) {
    const place = (type) => (type === "bytes" || type.endsWith("]") ? `${type} memory` : type);
    const declared = inputs.map(({ name, type }) => `${place(type)} ${name}`).join(", ");
    const types = inputs.map(({ type }) => type).join(", ");
    const names = inputs.map(({ name }) => `, ${name}`).join("");
    const method = signature.split("(")[0];
    return `// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.13;
import "${library}";
contract Typed {
    fallback(bytes calldata input) external returns (bytes memory) {
        (${declared}) = abi.decode(input, (${types}));
        return abi.encode(${name}.${method}(${name}.deploy()${names}));
    }
}
`;
}

module.exports = { answered, caller, encoded };
