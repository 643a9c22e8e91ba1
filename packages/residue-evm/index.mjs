// Contracts of the catalogue for whoever has an EIP-1193 provider: Hardhat's, viem's, ethers', a wallet's.
import { readFileSync } from "node:fs";

// The CREATE2 factory of EIP-7997, its code, and the transaction without a key that creates it on chains that lack it.
export const FACTORY = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
const FACTORY_CODE =
    "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";
const FACTORY_SENDER = "0x3fab184622dc19b6109349b94811493bf2a45362";
const FACTORY_WEI = "0x2386f26fc10000";
const FACTORY_TRANSACTION = `0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe${FACTORY_CODE.slice(2)}1ba0${"22".repeat(32)}a0${"22".repeat(32)}`;

/** The contract of this name in the catalogue: address, ABI, functions, `bytecode` (its creation code). */
export function contract(name) {
    if (!/^\w+$/.test(name)) throw new Error(`${name} is no name of a contract: catalogue.json has them all`);
    return JSON.parse(readFileSync(new URL(`./contracts/${name}.json`, import.meta.url), "utf8"));
}

/** Deploys the contract of this name to its address, unless it is there. `from` pays; the provider signs. */
export async function deploy(provider, name, from) {
    const { address, bytecode, salt } = contract(name);
    const ask = (method, ...params) => provider.request({ method, params });
    if ((await ask("eth_getCode", address, "latest")) !== "0x") return address;
    const factory = await ask("eth_getCode", FACTORY, "latest");
    if (factory !== FACTORY_CODE) throw new Error(`the CREATE2 factory is not at ${FACTORY}: createFactory creates it`);
    await mined(ask, await ask("eth_sendTransaction", { from, to: FACTORY, data: salt + bytecode.slice(2) }));
    if ((await ask("eth_getCode", address, "latest")) === "0x") throw new Error(`${name} was not created at ${address}`);
    return address;
}

/** Creates the CREATE2 factory where a chain lacks it. `from` pays 0.01 ether for it. */
export async function createFactory(provider, from) {
    const ask = (method, ...params) => provider.request({ method, params });
    if ((await ask("eth_getCode", FACTORY, "latest")) === FACTORY_CODE) return;
    if (BigInt(await ask("eth_getBalance", FACTORY_SENDER, "latest")) < BigInt(FACTORY_WEI)) {
        await mined(ask, await ask("eth_sendTransaction", { from, to: FACTORY_SENDER, value: FACTORY_WEI }));
    }
    await mined(ask, await ask("eth_sendRawTransaction", FACTORY_TRANSACTION));
}

async function mined(ask, hash) {
    for (let tries = 0; tries < 600; tries += 1) {
        const receipt = await ask("eth_getTransactionReceipt", hash);
        if (receipt !== null && receipt.status === "0x1") return;
        if (receipt !== null) throw new Error(`the transaction ${hash} failed`);
        await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error(`the transaction ${hash} is in no block after two minutes`);
}
