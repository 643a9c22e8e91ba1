"""
The shape of a state test: that of the models from which execution-specs writes its fixtures (`StateFixture`, autumn of 2026).

A field that those models have not is refused, as they refuse it; numbers are hexadecimal in whole bytes. Of what is optional there,
this has what tests of one legacy transaction from Osaka on need. `_info` is free there but for the name of the format; ours names a
revision too.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic.alias_generators import to_camel

Bytes = Annotated[str, StringConstraints(pattern=r"^0x([0-9a-f]{2})*$")]
Number = Annotated[str, StringConstraints(pattern=r"^0x(00|(0[1-9a-f]|[1-9a-f][0-9a-f])([0-9a-f]{2})*)$")]
Address = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{40}$")]
Hash = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{64}$")]
Refusal = Annotated[str, StringConstraints(pattern=r"^TransactionException\.[A-Z0-9_]+(\|TransactionException\.[A-Z0-9_]+)*$")]
Bloom = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{512}$")]
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


class Transaction(Shape):
    """A legacy transaction in one variant."""

    nonce: Number
    gas_price: Number
    gas_limit: Annotated[list[Number], One]
    to: Address
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

    @model_validator(mode="after")
    def check_info(self) -> "StateTest":
        """Says which format it is, and of which revision."""
        if self.info.get("fixture-format") != "state_test":
            raise ValueError(f"_info.fixture-format is {self.info.get('fixture-format')!r}, not 'state_test'")
        if not isinstance(self.info.get("revision"), str):
            raise ValueError("_info.revision names no revision")
        return self


def fault_of(test: object) -> str | None:
    """The first place where a test has another shape, and what is wrong there; none where it has this one."""
    try:
        StateTest.model_validate(test)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the test"
        return f"{place}: {first['msg']}"
    return None
