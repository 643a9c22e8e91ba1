"""Fixtures of web3.py's own module tests: contracts deployed at the node that $RPC names, and blocks with and without transactions."""

import os

import pytest
from web3 import HTTPProvider, Web3
from web3._utils.contract_sources.contract_data.emitter_contract import EMITTER_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.math_contract import MATH_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.offchain_lookup import OFFCHAIN_LOOKUP_DATA
from web3._utils.contract_sources.contract_data.panic_errors_contract import PANIC_ERRORS_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.revert_contract import REVERT_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.storage_contract import STORAGE_CONTRACT_DATA
from web3._utils.module_testing.utils import RequestMocker

# The first development account of anvil's mnemonic, which is public.
KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"


@pytest.fixture(scope="module")
def w3():
    return Web3(HTTPProvider(os.environ.get("RPC", "http://127.0.0.1:8545"), request_kwargs={"timeout": 30}))


@pytest.fixture(scope="module", autouse=True)
def chain_with_blocks(txn_hash_with_log, mined_txn_hash):
    """As in the chain that the tests were written for, whose first log is this one."""


@pytest.fixture(scope="module")
def sent(w3):
    """Sends a transaction and returns its receipt."""
    return lambda tx: w3.eth.wait_for_transaction_receipt(tx.transact({"from": w3.eth.accounts[0]}))


@pytest.fixture(scope="module")
def deployed(w3, sent):
    """Deploys a contract: with its receipt."""

    def deploy(data):
        factory = w3.eth.contract(**data)
        receipt = sent(factory.constructor())
        return factory(address=receipt["contractAddress"]), receipt

    return deploy


@pytest.fixture(scope="module")
def math(deployed):
    return deployed(MATH_CONTRACT_DATA)


def contract(data):
    return pytest.fixture(scope="module")(lambda deployed: deployed(data)[0])


emitter_contract = contract(EMITTER_CONTRACT_DATA)
offchain_lookup_contract = contract(OFFCHAIN_LOOKUP_DATA)
panic_errors_contract = contract(PANIC_ERRORS_CONTRACT_DATA)
revert_contract = contract(REVERT_CONTRACT_DATA)
storage_contract = contract(STORAGE_CONTRACT_DATA)


@pytest.fixture(scope="module")
def math_contract(math):
    return math[0]


@pytest.fixture(scope="module")
def math_contract_address(math):
    return math[0].address


@pytest.fixture(scope="module")
def math_contract_deploy_txn_hash(math):
    return math[1]["transactionHash"]


@pytest.fixture(scope="module")
def emitter_contract_address(emitter_contract):
    return emitter_contract.address


@pytest.fixture(scope="module")
def mined_txn_hash(w3):
    accounts = w3.eth.accounts
    tx = {"from": accounts[0], "to": accounts[1], "value": 1, "gas": 21000}
    return w3.eth.wait_for_transaction_receipt(w3.eth.send_transaction(tx))["transactionHash"]


@pytest.fixture(scope="module")
def block_with_txn(w3, mined_txn_hash):
    return w3.eth.get_block(w3.eth.get_transaction(mined_txn_hash)["blockNumber"])


@pytest.fixture(scope="module")
def empty_block(w3):
    w3.provider.make_request("evm_mine", [])
    return w3.eth.get_block("latest")


@pytest.fixture(scope="module")
def txn_hash_with_log(sent, emitter_contract):
    return sent(emitter_contract.functions.logDouble(which=9, arg0=12345, arg1=54321))["transactionHash"]


@pytest.fixture(scope="module")
def block_with_txn_with_log(w3, txn_hash_with_log):
    return w3.eth.get_block(w3.eth.get_transaction(txn_hash_with_log)["blockNumber"])


@pytest.fixture(scope="module")
def keyfile_account_pkey():
    return KEY


@pytest.fixture(scope="module")
def keyfile_account_address(w3):
    return w3.eth.account.from_key(KEY).address


@pytest.fixture(scope="module")
def keyfile_account_address_dual_type(keyfile_account_address):
    return keyfile_account_address


@pytest.fixture(scope="module")
def skip_if_testrpc():
    return lambda _: None


@pytest.fixture
def request_mocker():
    return RequestMocker
