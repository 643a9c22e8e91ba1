"""10,000 empty blocks, then 10,000 with 100 transfers each, in a data folder: how long each thousand takes. The last of each may take one and a
half times as long as the first.

usage: NODE=target/release/residue-node blocks.py [blocks] [transfers]"""

import os
import sys
import tempfile
import time
from pathlib import Path

from rpc import Node

SENDERS = 10


def processor_seconds(node):
    """Processor time of the node: more telling than the clock where others use the machine too."""
    fields = Path(f"/proc/{node.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(node, blocks, one):
    seconds, processor = [], []
    for _ in range(10):
        begun, before = time.perf_counter(), processor_seconds(node)
        for _ in range(blocks // 10):
            one(node)
        seconds.append(time.perf_counter() - begun)
        processor.append(processor_seconds(node) - before)
    return seconds, processor


def mine(node):
    node.ask("evm_mine")


def main():
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    each = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    is_steady = True
    with tempfile.TemporaryDirectory() as folder:
        with Node([os.environ["NODE"], "--quiet", "--no-mining", "--revision", "eip6690-2024", "--data", folder], 18745) as node:
            accounts = node.ask("eth_accounts")

            def transfers(node):
                common = {"value": "0x1", "gas": "0x5208", "maxFeePerGas": "0x12a05f200", "maxPriorityFeePerGas": "0x1"}
                ends = [(accounts[at % SENDERS], "0x%040x" % (0xACC0000 + at)) for at in range(each)]
                node.batch([("eth_sendTransaction", common | {"from": sender, "to": to}) for sender, to in ends])
                node.ask("evm_mine")

            for name, one in (("empty", mine), (f"with {each} transfers", transfers)):
                if one is transfers and not each:
                    break
                seconds, processor = timed(node, blocks, one)
                size = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
                ratio = seconds[-1] / seconds[0]
                is_steady &= ratio <= 1.5
                print(f"{blocks} blocks {name}: tenths of {', '.join('%.2f' % second for second in seconds)} s, the last {ratio:.2f} × the first ({processor[-1] / processor[0]:.2f} × in processor time); {size:.0f} MB", flush=True)
            if not each:
                return sys.exit(not is_steady)
            sent = int(node.ask("eth_getTransactionCount", accounts[0], "latest"), 16)
            assert sent == blocks * each // SENDERS, sent
            print(f"{blocks * each / sum(seconds):.0f} transfers a second, each block on disk before it is answered")
    sys.exit(not is_steady)


main()
