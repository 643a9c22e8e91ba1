// Two elements of the cubic extension of Fp2 of BLS12-381 and their product by schoolbook multiplication of big integers:
// the judge of f6m_mul in other languages.
//
//     node f6m_mul.js little input        prints the calldata, in this byte order
//     node f6m_mul.js little product      prints what must come back
"use strict";

const P = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn;
const R = 1n << 384n;
const reduced = (x) => ((x % P) + P) % P;

// Powers that wrap around the modulus many times, with the extremes 0 and P - 1 among them.
const element = (base) => [...Array(6).keys()].map((index) => reduced(base ** BigInt(200 + 31 * index)));
const x = element(3n);
const y = element(5n);
[x[3], y[0]] = [P - 1n, 0n];

const add = ([a0, a1], [b0, b1]) => [reduced(a0 + b0), reduced(a1 + b1)];
const mul = ([a0, a1], [b0, b1]) => [reduced(a0 * b0 - a1 * b1), reduced(a0 * b1 + a1 * b0)]; // u^2 = -1
const coefficients = (values) => [values.slice(0, 2), values.slice(2, 4), values.slice(4, 6)];

const product = [[0n, 0n], [0n, 0n], [0n, 0n]];
coefficients(x).forEach((a, i) => {
    coefficients(y).forEach((b, j) => {
        const term = i + j < 3 ? mul(a, b) : mul(mul(a, b), [1n, 1n]); // v^3 = 1 + u
        product[(i + j) % 3] = add(product[(i + j) % 3], term);
    });
});

const [order, what] = process.argv.slice(2);
const bytes = (value) => {
    const big = Buffer.from(reduced(value * R).toString(16).padStart(96, "0"), "hex");
    return (order === "little" ? big.reverse() : big).toString("hex");
};
const shown = { input: [...x, ...y], product: product.flat() }[what];
if (shown === undefined || !["little", "big"].includes(order)) {
    console.error("usage: f6m_mul.js little|big input|product");
    process.exit(2);
}
console.log(`0x${shown.map(bytes).join("")}`);
