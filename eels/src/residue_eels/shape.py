"""
The shape of state tests, blockchain tests and transaction tests: that of the models from which execution-specs writes its fixtures
(`StateFixture`, `BlockchainFixture` and `TransactionFixture`, autumn of 2026).

A field that those models have not is refused, as most of them refuse it; numbers are hexadecimal in whole bytes. Of what is optional there,
this has what tests of legacy transactions and of those with blobs under Osaka need. `_info` is free there but for the name of the
format; ours names a revision too.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic.alias_generators import to_camel

Bytes = Annotated[str, StringConstraints(pattern=r"^0x([0-9a-f]{2})*$")]
Number = Annotated[str, StringConstraints(pattern=r"^0x(00|(0[1-9a-f]|[1-9a-f][0-9a-f])([0-9a-f]{2})*)$")]
Address = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{40}$")]
Target = Annotated[str, StringConstraints(pattern=r"^(0x[0-9a-f]{40})?$")]
Hash = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{64}$")]
Refusal = Annotated[str, StringConstraints(pattern=r"^TransactionException\.[A-Z0-9_]+(\|TransactionException\.[A-Z0-9_]+)*$")]
Bloom = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{512}$")]
BlockRefusal = Annotated[str, StringConstraints(pattern=r"^(Block|Transaction)Exception\.[A-Z0-9_]+$")]
One = Field(min_length=1, max_length=1)


class Shape(BaseModel):
    """An object with these fields and no others, named as JSON names them."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, strict=True)


class Account(Shape):
    """An account."""

    nonce: Number
    balance: Number
    code: Bytes
    storage: dict[Number, Number]


class Environment(Shape):
    """The block."""

    current_coinbase: Address
    current_gas_limit: Number
    current_number: Number
    current_timestamp: Number
    current_random: Hash
    current_difficulty: Number
    current_base_fee: Number
    current_excess_blob_gas: Number


class Access(Shape):
    """An account of an access list with its keys."""

    address: Address
    storage_keys: list[Hash]


class Paid(Shape):
    """A transaction's prices: one of gas, or those of EIP-4844 with the blobs."""

    gas_price: Number | None = None
    max_fee_per_gas: Number | None = None
    max_priority_fee_per_gas: Number | None = None
    max_fee_per_blob_gas: Number | None = None
    blob_versioned_hashes: list[Hash] | None = None

    @model_validator(mode="after")
    def check_prices(self) -> "Paid":
        """All prices of a kind are there, and none of the other."""
        prices = [self.max_fee_per_gas, self.max_priority_fee_per_gas, self.max_fee_per_blob_gas, self.blob_versioned_hashes]
        if any((self.gas_price is None) == (price is None) for price in prices):
            raise ValueError("a transaction has the price of legacy ones or the four fields of EIP-4844, and not both")
        return self


class Transaction(Paid):
    """A transaction in one variant: a legacy one, or one with blobs."""

    nonce: Number
    access_lists: Annotated[list[list[Access]], One] | None = None
    gas_limit: Annotated[list[Number], One]
    to: Target
    value: Annotated[list[Number], One]
    data: Annotated[list[Bytes], One]
    sender: Address
    secret_key: Hash


class Log(Shape):
    """A log."""

    address: Address
    topics: list[Hash]
    data: Bytes


class Receipt(Shape):
    """A receipt from Byzantium on."""

    transaction_hash: Hash
    type: Number
    cumulative_gas_used: Number
    bloom: Bloom
    logs: list[Log]
    status: bool
    rlp: Bytes


class Indexes(Shape):
    """The variant of the transaction: there is one."""

    data: Literal[0]
    gas: Literal[0]
    value: Literal[0]


class Post(Shape):
    """What a transaction leaves behind. One that is refused has an exception, by its name in execution-specs, and no receipt."""

    hash: Hash
    logs: Hash
    txbytes: Bytes
    indexes: Indexes
    state: dict[Address, Account]
    receipt: Receipt | None = None
    expect_exception: Refusal | None = None

    @model_validator(mode="after")
    def check_end(self) -> "Post":
        """A transaction is either executed or refused."""
        if (self.receipt is None) == (self.expect_exception is None):
            raise ValueError("a transaction has a receipt or an exception, and not both")
        return self


class BlobSchedule(Shape):
    """How many blobs a block has, and how their price moves."""

    target: Number
    max: Number
    base_fee_update_fraction: Number


class Config(Shape):
    """The chain."""

    chainid: Number
    blob_schedule: dict[Literal["Osaka"], BlobSchedule]


class StateTest(Shape):
    """A test."""

    info: dict[str, dict[str, Any] | str] = Field(alias="_info")
    config: Config
    env: Environment
    pre: dict[Address, Account]
    transaction: Transaction
    post: dict[Literal["Osaka"], Annotated[list[Post], One]] = Field(min_length=1)


class Header(Shape):
    """A header from Prague on, with its hash."""

    parent_hash: Hash
    uncle_hash: Hash
    coinbase: Address
    state_root: Hash
    transactions_trie: Hash
    receipt_trie: Hash
    bloom: Bloom
    difficulty: Number
    number: Number
    gas_limit: Number
    gas_used: Number
    timestamp: Number
    extra_data: Bytes
    mix_hash: Hash
    nonce: Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{16}$")]
    base_fee_per_gas: Number
    withdrawals_root: Hash
    blob_gas_used: Number
    excess_blob_gas: Number
    parent_beacon_block_root: Hash
    requests_hash: Hash
    hash: Hash


class SignedTransaction(Paid):
    """A transaction of a block: a legacy one, or one with blobs."""

    type: Literal["0x00", "0x03"]
    chain_id: Number
    nonce: Number
    access_list: list[Access] | None = None
    gas_limit: Number
    to: Target
    value: Number
    data: Bytes
    v: Number
    r: Number
    s: Number
    sender: Address


class Withdrawal(Shape):
    """A withdrawal, in units of 10⁹ wei."""

    index: Number
    validator_index: Number
    address: Address
    amount: Number


class DecodedBlock(Shape):
    """What is encoded in a block."""

    block_header: Header
    transactions: list[SignedTransaction]
    uncle_headers: Annotated[list[Any], Field(max_length=0)]
    withdrawals: list[Withdrawal]
    blocknumber: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*$")]


class Block(DecodedBlock):
    """A block that is executed."""

    receipts: list[Receipt]
    rlp: Bytes


class RefusedBlock(Shape):
    """A block that is refused."""

    rlp: Bytes
    expect_exception: BlockRefusal
    rlp_decoded: DecodedBlock = Field(alias="rlp_decoded")


class ChainConfig(Config):
    """The chain, with its fork."""

    network: Literal["Osaka"]


class BlockchainTest(Shape):
    """Blocks on a genesis."""

    info: dict[str, Any] = Field(alias="_info")
    network: Literal["Osaka"]
    genesis_block_header: Header
    pre: dict[Address, Account]
    post_state: dict[Address, Account]
    lastblockhash: Hash
    config: ChainConfig
    genesis_rlp: Bytes = Field(alias="genesisRLP")
    blocks: list[Block | RefusedBlock] = Field(min_length=1)
    seal_engine: Literal["NoProof"]


class Result(Shape):
    """What comes of a transaction by itself."""

    intrinsic_gas: Number
    hash: Hash | None = None
    sender: Address | None = None
    exception: Refusal | None = None

    @model_validator(mode="after")
    def check_end(self) -> "Result":
        """A transaction is either valid or refused."""
        if (self.exception is None) != (self.hash is not None and self.sender is not None):
            raise ValueError("a transaction has hash and sender or an exception, and not both")
        return self


class TransactionTest(Shape):
    """A transaction by itself."""

    info: dict[str, Any] = Field(alias="_info")
    txbytes: Bytes
    result: dict[Literal["Osaka"], Result] = Field(min_length=1)


FORMATS: dict[str, type[Shape]] = {"state_test": StateTest, "blockchain_test": BlockchainTest, "transaction_test": TransactionTest}
"""Formats by what `_info.fixture-format` says."""


def format_of(test: object) -> str:
    """The format that a test says it is; empty for none."""
    info = test.get("_info") if isinstance(test, dict) else None
    name = info.get("fixture-format") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""


def fault_of(test: object) -> str | None:
    """The first place where a test has another shape than its format, and what is wrong there; none where it has this one."""
    name = format_of(test)
    if name not in FORMATS:
        return f"_info.fixture-format is {name!r}, not {' or '.join(FORMATS)}"
    if not isinstance(test, dict) or not isinstance(test["_info"].get("revision"), str):
        return "_info.revision names no revision"
    try:
        FORMATS[name].model_validate(test)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the test"
        return f"{place}: {first['msg']}"
    return None
