// Hardhat 2 with hardhat-ethers: run by `hardhat run --no-compile --network dev`.
const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { ethers, network } = require('hardhat')

const { INIT, INPUT, OUTPUT, GAS } = process.env
const [init, input] = [INIT, INPUT].map((file) => readFileSync(file, 'utf8').trim())

async function main() {
  const [signer] = await ethers.getSigners()
  const contract = await (await new ethers.ContractFactory([], init, signer).deploy()).waitForDeployment()
  const to = await contract.getAddress()
  assert.equal(await ethers.provider.call({ to, data: input }), OUTPUT)
  const receipt = await (await signer.sendTransaction({ to, data: input })).wait()
  assert.equal(receipt.gasUsed, BigInt(GAS))
  await network.provider.send('hardhat_setBalance', [to, '0x7'])
  assert.equal(await ethers.provider.getBalance(to), 7n)
  const snapshot = await network.provider.send('evm_snapshot')
  await network.provider.send('hardhat_mine', ['0x5'])
  assert.equal(await network.provider.send('evm_revert', [snapshot]), true)
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1) })
