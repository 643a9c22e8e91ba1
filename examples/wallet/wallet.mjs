// A wallet that P-256 and SPHINCS- C13 own together, as a contract and as the code of an account (EIP-7702), on the chain at RPC.
//
// usage: RPC=URL SIGNER=PROGRAM node wallet.mjs FOLDER     (the folder has node_modules with residue-evm in it)
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const require = createRequire(`${folder}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const viem = await load("viem");
const { privateKeyToAccount } = await load("viem/accounts");
const { p256 } = await load("@noble/curves/nist.js");
const residue = await load("residue-evm");
const solc = require("solc");

const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"; // anvil's first account, which is public
const PASSKEY = new Uint8Array(32).fill(7);
const TO = "0x000000000000000000000000000000000000b0b0";
const ETHER = 10n ** 18n;

function compiled() {
    const name = "residue-evm/examples/HybridWallet.sol";
    const input = {
        language: "Solidity",
        sources: { [name]: { content: readFileSync(`${folder}/node_modules/${name}`, "utf8") } },
        settings: { optimizer: { enabled: true }, evmVersion: "osaka", outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } },
    };
    const find = (path) => ({ contents: readFileSync(`${folder}/node_modules/${path}`, "utf8") });
    const output = JSON.parse(solc.compile(JSON.stringify(input), { import: find }));
    const errors = (output.errors ?? []).filter((error) => error.severity === "error");
    if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join("\n"));
    const { abi, evm } = output.contracts[name].HybridWallet;
    return { abi, bytecode: `0x${evm.bytecode.object}` };
}

const account = privateKeyToAccount(KEY);
const transport = viem.http(process.env.RPC);
const reader = viem.createPublicClient({ transport, pollingInterval: 50 });
const chain = viem.defineChain({
    id: await reader.getChainId(),
    name: "test",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [process.env.RPC] } },
});
const writer = viem.createWalletClient({ account, chain, transport });
const { abi, bytecode } = compiled();
const done = async (hash) => {
    const receipt = await reader.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`transaction ${hash} failed`);
    return receipt;
};

// --- keys ---------------------------------------------------------------------------------------------------------------
const c13 = (...hash) => execFileSync(process.env.SIGNER, ["42", ...hash], { encoding: "utf8" }).trim().split("\n");
const point = viem.bytesToHex(p256.getPublicKey(PASSKEY, false)).slice(4);
const keys = { c13: c13()[0], x: BigInt(`0x${point.slice(0, 64)}`), y: BigInt(`0x${point.slice(64)}`) };
function signed(hash) {
    const signature = viem.bytesToHex(p256.sign(viem.hexToBytes(hash), PASSKEY, { prehash: false, lowS: true })).slice(2);
    return { r: BigInt(`0x${signature.slice(0, 64)}`), s: BigInt(`0x${signature.slice(64)}`), c13: c13(hash)[1] };
}

// --- a call that both keys have signed, and calls that they have not -----------------------------------------------------
async function spends(wallet, what) {
    const call = [TO, ETHER, "0x"];
    const hash = await reader.readContract({ address: wallet, abi, functionName: "hashOf", args: call });
    const signature = signed(hash);
    const spoiled = signature.c13.slice(0, -1) + (signature.c13.endsWith("0") ? "1" : "0");
    for (const [name, other] of [
        ["another value", [[TO, 2n * ETHER, "0x"], signature]],
        ["no signature by C13", [call, { ...signature, c13: spoiled }]],
        ["no signature on P-256", [call, { ...signature, r: signature.r + 1n }]],
    ]) {
        const taken = await reader.simulateContract({ account, address: wallet, abi, functionName: "execute", args: [...other[0], other[1]] }).catch((error) => error);
        if (!/NotSigned/.test(taken.message ?? "")) throw new Error(`${what}: ${name} is not refused: ${taken.message ?? "it passes"}`);
    }
    const before = await reader.getBalance({ address: TO });
    const execute = { address: wallet, abi, functionName: "execute", args: [...call, signature] };
    const receipt = await done(await writer.writeContract(execute));
    if ((await reader.getBalance({ address: TO })) - before !== ETHER) throw new Error(`${what}: nothing was sent`);
    const again = await reader.simulateContract({ account, ...execute }).catch((error) => error);
    if (!/NotSigned/.test(again.message ?? "")) throw new Error(`${what}: the call can be sent again`);
    console.log(`${what}: ${receipt.gasUsed} gas for a transaction with both signatures`);
}

const provider = { request: ({ method, params }) => reader.request({ method, params }) };
await residue.createFactory(provider, account.address);
for (const name of ["SphincsC13", "P256Verify"]) await residue.deploy(provider, name, account.address);
const { contractAddress } = await done(await writer.deployContract({ abi, bytecode, args: [keys], value: 2n * ETHER }));
await spends(contractAddress, "a contract");

// The account signs that its code is the wallet's, sends itself its keys, and others send its calls from then on.
const owner = privateKeyToAccount(`0x${"61".repeat(32)}`);
await done(await writer.sendTransaction({ to: owner.address, value: 3n * ETHER }));
const self = viem.createWalletClient({ account: owner, chain, transport });
const authorization = await self.signAuthorization({ contractAddress, executor: "self" });
await done(await self.sendTransaction({
    to: owner.address,
    authorizationList: [authorization],
    data: viem.encodeFunctionData({ abi, functionName: "setKeys", args: [keys] }),
}));
const code = await reader.getCode({ address: owner.address });
if (code?.toLowerCase() !== `0xef0100${contractAddress.slice(2)}`.toLowerCase()) throw new Error(`the account has the code ${code}`);
await spends(owner.address, "an account by EIP-7702");
