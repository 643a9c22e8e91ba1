// Hardhat 3: its provider, run by `hardhat run --no-compile --network dev`.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { network } from 'hardhat'

const { INIT, INPUT, OUTPUT, GAS } = process.env
const [init, input] = [INIT, INPUT].map((file) => readFileSync(file, 'utf8').trim())
const { provider } = await network.connect()
const ask = (method, ...params) => provider.request({ method, params })
const [from] = await ask('eth_accounts')
const mined = async (tx) => ask('eth_getTransactionReceipt', await ask('eth_sendTransaction', { from, ...tx }))
const { contractAddress: to } = await mined({ data: init })
assert.equal(await ask('eth_call', { to, data: input }, 'latest'), OUTPUT)
const receipt = await mined({ to, data: input })
assert.equal(receipt.status, '0x1')
assert.equal(Number(receipt.gasUsed), Number(GAS))
await ask('hardhat_setBalance', to, '0x7')
assert.equal(await ask('eth_getBalance', to, 'latest'), '0x7')
