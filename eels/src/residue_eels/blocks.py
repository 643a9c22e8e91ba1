"""
Blockchain tests and transaction tests of `residue fixtures` in EELS, with the forks of this package.

Blocks are decoded and applied as EELS' own loaders and `state_transition` do it. A header has roots of state, transactions and
receipts, gas and the bloom of logs, so a block that is applied has all of them right; the hash of the last one and the accounts are
compared besides.
"""

from collections.abc import Iterator
from typing import Any

from ethereum.crypto.hash import keccak256
from ethereum.exceptions import EthereumException
from ethereum_rlp import rlp
from ethereum_rlp.exceptions import RLPException
from ethereum_spec_tools.evm_tools.loaders.fixture_loader import Load
from ethereum_types.numeric import U64

Fields = Iterator[tuple[str, object, object]]

EXCEPTIONS = {
    "InsufficientTransactionGasError": ("INTRINSIC_GAS_TOO_LOW", "INTRINSIC_GAS_BELOW_FLOOR_GAS_COST"),
    "TransactionGasLimitExceededError": ("GAS_LIMIT_EXCEEDS_MAXIMUM",),
    "InitCodeTooLargeError": ("INITCODE_SIZE_EXCEEDED",),
    "InsufficientBalanceError": ("INSUFFICIENT_ACCOUNT_FUNDS",),
    "NonceMismatchError": ("NONCE_MISMATCH_TOO_HIGH", "NONCE_MISMATCH_TOO_LOW"),
    "NonceOverflowError": ("NONCE_IS_MAX",),
    "GasUsedExceedsLimitError": ("GAS_ALLOWANCE_EXCEEDED",),
    "InsufficientMaxFeePerBlobGasError": ("INSUFFICIENT_MAX_FEE_PER_BLOB_GAS",),
    "NoBlobDataError": ("TYPE_3_TX_ZERO_BLOBS",),
    "BlobCountExceededError": ("TYPE_3_TX_BLOB_COUNT_EXCEEDED",),
    "BlobGasLimitExceededError": ("TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED",),
    "InvalidBlobVersionedHashError": ("TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH",),
    # EELS does not say which field of a header is wrong, and takes a price below the base fee for a wrong block.
    "InvalidBlock": (
        "INVALID_STATE_ROOT",
        "INVALID_GAS_USED",
        "INVALID_RECEIPTS_ROOT",
        "INVALID_TRANSACTIONS_ROOT",
        "INVALID_WITHDRAWALS_ROOT",
        "INCORRECT_BLOB_GAS_USED",
        "INSUFFICIENT_MAX_FEE_PER_GAS",
    ),
}
"""Exceptions of EELS with the names that execution-specs' tests have for them."""


def names_of(error: BaseException) -> str:
    """What an exception of EELS is called in tests; its own name where it has none there."""
    kind = type(error).__name__
    return "|".join(EXCEPTIONS.get(kind, (kind,)))


def is_named(expected: str, text: str) -> bool:
    """True if a text has an exception of EELS that tests call as it is expected."""
    wanted = {name.rpartition(".")[2] for name in expected.split("|")}
    return any(kind in text and not wanted.isdisjoint(names) for kind, names in EXCEPTIONS.items())


def agrees(error: BaseException | None, expected: str | None) -> bool:
    """True if a refusal is the one that is expected, or none where none is."""
    if error is None or expected is None:
        return error is None and expected is None
    wanted = {name.rpartition(".")[2] for name in expected.split("|")}
    return not wanted.isdisjoint(names_of(error).split("|"))


def refused(apply: Any, *arguments: Any) -> EthereumException | RLPException | None:
    """Applies something. None if it is not refused."""
    try:
        apply(*arguments)
    except (EthereumException, RLPException) as error:
        return error
    return None


def copied(chain: Any, load: Load) -> Any:
    """A chain that a block may be tried on: one that is refused leaves the state as it is then."""
    copy_trie = load.fork.hardfork.module("trie").copy_trie
    state = load.fork.State()
    state._main_trie = copy_trie(chain.state._main_trie)
    state._storage_tries = {address: copy_trie(trie) for address, trie in chain.state._storage_tries.items()}
    return load.fork.BlockChain(blocks=list(chain.blocks), state=state, chain_id=chain.chain_id)


def chain_fields(test: dict[str, Any], load: Load) -> Fields:
    """Fields of a blockchain test, what its file says of each, and what EELS says."""
    fork = load.fork
    genesis, genesis_hash, _ = load.json_to_block({"rlp": test["genesisRLP"]})
    yield "hash of the genesis block", test["genesisBlockHeader"]["hash"], f"0x{genesis_hash.hex()}"
    chain = fork.BlockChain(blocks=[genesis], state=load.json_to_state(test["pre"]), chain_id=U64(int(test["config"]["chainid"], 16)))
    yield "state root of the genesis block", genesis.header.state_root.hex(), fork.state_root(chain.state).hex()
    for number, written in enumerate(test["blocks"]):
        place, expected = f"block {number}", written.get("expectException")
        block, block_hash, _ = load.json_to_block({"rlp": written["rlp"]})
        shown = written.get("rlp_decoded", written)
        # As bytes: a process that does not know the fork reads what differs.
        header = load.json_to_header(shown["blockHeader"])
        yield f"header of {place}", rlp.encode(header).hex(), rlp.encode(block.header).hex()
        yield f"hash of {place}", shown["blockHeader"]["hash"], f"0x{block_hash.hex()}"
        yield f"transactions of {place}", len(shown["transactions"]), len(block.transactions)
        attempt = copied(chain, load) if expected else chain
        error = refused(fork.state_transition, attempt, block)
        if not agrees(error, expected):
            yield f"refusal of {place}", expected, f"{names_of(error)} ({error})" if error else None
            return
    last = keccak256(rlp.encode(chain.blocks[-1].header))
    yield "hash of the last block", test["lastblockhash"], f"0x{last.hex()}"
    after = fork.state_root(load.json_to_state(test["postState"]))
    yield "root of the accounts afterwards", after.hex(), fork.state_root(chain.state).hex()


def transaction_fields(test: dict[str, Any], load: Load) -> Fields:
    """Fields of a transaction test, what its file says of each, and what EELS says."""
    transactions = load.fork.hardfork.module("transactions")
    said = test["result"]["Osaka"]
    encoded = bytes.fromhex(test["txbytes"][2:])
    found: dict[str, str] = {}

    def read() -> None:
        is_legacy = encoded[0] >= 0xC0
        transaction = rlp.decode_to(transactions.LegacyTransaction, encoded) if is_legacy else transactions.decode_transaction(encoded)
        intrinsic_gas, _ = transactions.validate_transaction(transaction)
        found["sender"] = f"0x{transactions.recover_sender(U64(1), transaction).hex()}"
        found["hash"] = f"0x{keccak256(encoded).hex()}"
        found["intrinsicGas"] = f"0x{intrinsic_gas.to_be_bytes().hex()}"

    error = refused(read)
    expected = said.get("exception")
    if error is None and expected is None:
        for field in ("hash", "sender", "intrinsicGas"):
            yield field, said[field], found[field]
    elif not agrees(error, expected):
        yield "refusal", expected, f"{names_of(error)} ({error})" if error else None
