"""The node beside anvil: struct logs of stock code step by step, and transfers a second in one run."""

import os
import time

from rpc import Node

PORT = int(os.environ.get("PORT", "18645"))
FROM, TO = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266", "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"
OUTER, INNER, FAILING, READING = ("0x00000000000000000000000000000000000c0de%d" % at for at in range(4))
CODES = {
    # Reads and writes a slot, writes memory, hashes it, logs it and returns it.
    INNER: "0x5f54600101805f55602052366040525f3560605260805f2060a05260c05f60076009a260c05ff3",
    FAILING: "0x60ff5f5260205ffd",
    # A write that fails shows its value in geth and here, and in anvil the old one: this one only reads.
    READING: "0x5f545f5260205ff3",
    # Calls both with its calldata, copies what came back, makes a contract, and returns its own memory.
    OUTER: "0x365f5f37" + "60405f365f5f73" + INNER[2:] + "620f4240f1" + "3d5f6080" + "3e" + "60405f5f5f5f73" + FAILING[2:] + "61fffff1"
    + "5f5f365f73" + INNER[2:] + "5af450" + "6a33ff5f5260026014601e53" + "5f52" + "600b60155ff0" + "3b" + "5f5f5f5f73" + READING[2:] + "5afa" + "6101005ff3",
}
# An absent field equals null. `error` is as geth has it: anvil names none at REVERT.
FIELDS = ("pc", "op", "gas", "gasCost", "depth", "stack", "memory", "storage", "refund")


def trace(node, data):
    for address, code in CODES.items():
        node.ask("anvil_setCode", address, code)
    tx = node.ask("eth_sendTransaction", {"from": FROM, "to": OUTER, "gas": "0x2dc6c0", "input": data})
    # anvil answers before it has mined.
    while node.ask("eth_getTransactionReceipt", tx) is None:
        time.sleep(0.01)
    return node.ask("debug_traceTransaction", tx, {"enableMemory": True, "enableReturnData": False})


def step(log):
    memory = log.get("memory") or []
    words = [word.removeprefix("0x") for word in memory]
    return {name: log.get(name) or None for name in FIELDS if name != "memory"} | {"memory": words}


def transfers(node, blocks=60, each=100):
    node.ask("evm_setAutomine", False)
    begun = time.perf_counter()
    for _ in range(blocks):
        tx = {"from": FROM, "to": TO, "value": "0x1", "gas": "0x5208", "maxFeePerGas": "0x12a05f200", "maxPriorityFeePerGas": "0x1"}
        answers = node.batch([("eth_sendTransaction", tx)] * each)
        assert all("result" in answer for answer in answers), answers[0]
        node.ask("evm_mine")
    seconds = time.perf_counter() - begun
    assert int(node.ask("eth_getTransactionCount", FROM, "latest"), 16) >= blocks * each
    return blocks * each / seconds


def main():
    with Node([os.environ["NODE"], "--quiet", "--revision", "eip6690-2024"], PORT) as ours, Node(["anvil", "--steps-tracing", "--quiet"], PORT + 1) as theirs:
        for data in ("0x", "0x" + "ab" * 77):
            traces = [trace(node, data) for node in (ours, theirs)]
            logs = [list(map(step, each["structLogs"])) for each in traces]
            for at, (mine, other) in enumerate(zip(*logs)):
                differing = {name: (mine[name], other[name]) for name in mine if mine[name] != other[name]}
                assert not differing, f"step {at}: ours and anvil's are {differing}"
            assert len(logs[0]) == len(logs[1]), [len(each) for each in logs]
            for name in ("gas", "failed"):
                assert traces[0][name] == traces[1][name], (name, traces[0][name], traces[1][name])
            print(f"{len(logs[0])} steps as anvil has them")
    with Node([os.environ["NODE"], "--quiet"], PORT) as ours, Node(["anvil", "--quiet"], PORT + 1) as theirs:
        rates = [transfers(node) for node in (ours, theirs)]
    print("transfers a second, in memory: %.0f, anvil %.0f" % tuple(rates))


main()
