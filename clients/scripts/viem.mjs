// viem: deploys, calls, sends, watches blocks over WebSocket.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createPublicClient, createTestClient, createWalletClient, http, webSocket } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'

const { RPC, WS, KEY, INIT, INPUT, OUTPUT, GAS } = process.env
const [init, input] = [INIT, INPUT].map((file) => readFileSync(file, 'utf8').trim())
const account = privateKeyToAccount(KEY)
const reader = createPublicClient({ chain: foundry, transport: http(RPC), pollingInterval: 50 })
const wallet = createWalletClient({ account, chain: foundry, transport: http(RPC) })
const test = createTestClient({ mode: 'anvil', chain: foundry, transport: http(RPC) })
const watcher = createPublicClient({ chain: foundry, transport: webSocket(WS) })

const seen = []
// watchBlocks asks for every block that it is told of, and may get them in another order.
await watcher.transport.subscribe({ params: ['newHeads'], onData: ({ result }) => seen.push(BigInt(result.number)), onError: assert.fail })
await new Promise((done) => setTimeout(done, 300))
const first = await reader.getBlockNumber()

const deployed = await reader.waitForTransactionReceipt({ hash: await wallet.deployContract({ abi: [], bytecode: init }) })
const to = deployed.contractAddress
assert.equal((await reader.call({ to, data: input })).data, OUTPUT)
const hash = await wallet.sendTransaction({ to, data: input })
const receipt = await reader.waitForTransactionReceipt({ hash })
assert.equal(receipt.status, 'success')
assert.equal(receipt.gasUsed, BigInt(GAS))

const before = await reader.getBalance({ address: to })
const snapshot = await test.snapshot()
await test.setBalance({ address: to, value: 7n })
assert.equal(await reader.getBalance({ address: to }), 7n)
await test.revert({ id: snapshot })
assert.equal(await reader.getBalance({ address: to }), before)
await test.mine({ blocks: 3 })
const last = await reader.getBlockNumber()
assert.equal((await reader.getProof({ address: to, storageKeys: [] })).address.toLowerCase(), to.toLowerCase())
const simulated = await reader.simulateCalls({ calls: [{ to, data: input }] })
assert.equal(simulated.results[0].data, OUTPUT)
await new Promise((done) => setTimeout(done, 500))
assert.deepEqual(seen.filter((number) => number > first), Array.from({ length: Number(last - first) }, (_, at) => first + 1n + BigInt(at)))
process.exit(0)
