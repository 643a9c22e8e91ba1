// ethers: deploys, calls, sends, and follows logs over WebSocket.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { ContractFactory, JsonRpcProvider, NonceManager, Wallet, WebSocketProvider } from 'ethers'

const { RPC, WS, KEY, INIT, INPUT, OUTPUT, GAS } = process.env
const [init, input] = [INIT, INPUT].map((file) => readFileSync(file, 'utf8').trim())
const provider = new JsonRpcProvider(RPC, undefined, { polling: true, pollingInterval: 50 })
const signer = new NonceManager(new Wallet(KEY, provider))
const watcher = new WebSocketProvider(WS)

const contract = await (await new ContractFactory([], init, signer).deploy()).waitForDeployment()
const to = await contract.getAddress()
assert.equal(await provider.call({ to, data: input }), OUTPUT)
const receipt = await (await signer.sendTransaction({ to, data: input })).wait()
assert.equal(receipt.status, 1)
assert.equal(receipt.gasUsed, BigInt(GAS))

// PUSH1 7, PUSH0, PUSH0, LOG1: a contract that logs.
const logger = '0x00000000000000000000000000000000000000cc'
await provider.send('anvil_setCode', [logger, '0x60075f5fa1'])
const logs = []
const blocks = []
await watcher.on({ address: logger }, (log) => logs.push(log))
await watcher.on('block', (number) => blocks.push(number))
await new Promise((done) => setTimeout(done, 300))
const mined = []
for (let at = 0; at < 5; at++) mined.push(await (await signer.sendTransaction({ to: logger })).wait())
await new Promise((done) => setTimeout(done, 500))
assert.deepEqual(logs.map((log) => log.transactionHash), mined.map((each) => each.hash))
assert.deepEqual(blocks, mined.map((each) => each.blockNumber))
process.exit(0)
