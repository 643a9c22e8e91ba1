"""
The EIP-6690 fork adds the modular arithmetic of [EIP-6690] in its text of
December 2024 to Osaka: field contexts with slots beside memory, and six
instructions on them. Where that text is silent or contradicts itself, the
draft of `evmmax-next` says what holds.

### Changes

- [EIP-6690: EVM Modular Arithmetic Extensions][EIP-6690]

[EIP-6690]: https://eips.ethereum.org/EIPS/eip-6690
"""

from ethereum.fork_criteria import ForkCriteria, Unscheduled

FORK_CRITERIA: ForkCriteria = Unscheduled(order_index=0)
