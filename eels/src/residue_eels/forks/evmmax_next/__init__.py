"""
The `evmmax-next` fork adds to the modular arithmetic of EIP-6690 sums of
products, inverses, a test for zero, arrays, padded values and constants in
code.

### Changes

- Sums, Inverses and Arrays for EVMMAX
"""

from ethereum.fork_criteria import ForkCriteria, Unscheduled

FORK_CRITERIA: ForkCriteria = Unscheduled(order_index=1)
