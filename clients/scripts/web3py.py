"""web3.py: deploys, calls, sends."""

import os

from web3 import HTTPProvider, Web3

node = Web3(HTTPProvider(os.environ["RPC"]))
init, given = (open(os.environ[name]).read().strip() for name in ("INIT", "INPUT"))
sender = node.eth.accounts[0]
deployed = node.eth.wait_for_transaction_receipt(node.eth.send_transaction({"from": sender, "data": init}))
to = deployed["contractAddress"]
assert node.eth.call({"to": to, "data": given}).to_0x_hex() == os.environ["OUTPUT"]
receipt = node.eth.wait_for_transaction_receipt(node.eth.send_transaction({"from": sender, "to": to, "data": given}))
assert receipt["status"] == 1
assert receipt["gasUsed"] == int(os.environ["GAS"]), receipt["gasUsed"]
assert len(node.eth.get_code(to)) > 20000
