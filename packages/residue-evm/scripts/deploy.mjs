// Hardhat 3: `npx hardhat run node_modules/residue-evm/scripts/deploy.mjs --network NETWORK`. CONTRACTS names the contracts, separated by commas.
import { network } from "hardhat";
import { contract, createFactory, deploy } from "../index.mjs";

const names = (process.env.CONTRACTS ?? "PoseidonT3,P256Verify").split(",");
// `connect` in the first versions of Hardhat 3.
const { provider } = await (network.getOrCreate?.() ?? network.connect());
const [from] = await provider.request({ method: "eth_accounts", params: [] });
await createFactory(provider, from);
for (const name of names) console.log(`${name} ${await deploy(provider, name, from)} ${contract(name).code_bytes} bytes`);
