"""
Ethereum Virtual Machine (EVM) Field Instructions.

.. contents:: Table of Contents
    :backlinks: none
    :local:

Introduction
------------

Implementations of the instructions of EIP-6690 on field contexts.
"""

from typing import Callable, List

from ethereum_types.bytes import Bytes
from ethereum_types.numeric import Uint, ulen

from ethereum.utils.numeric import ceil32

from .. import Evm
from ..exceptions import InvalidOpcode, InvalidParameter, OutOfBoundsRead
from ..field_contexts import (
    BYTES_PER_LIMB,
    MAX_CONTEXT_ID,
    MAX_MODULUS_SIZE,
    MAX_SLOT_BYTES,
    MAX_SLOTS,
    FieldContext,
    charged_bytes,
    element_size,
    is_power_of_two,
    slot_bytes,
)
from ..gas import GAS_COPY, calculate_memory_gas_cost, charge_gas
from ..memory import memory_write
from ..stack import pop

GAS_SETMODX = Uint(1)
GAS_LOADX = Uint(1)
GAS_STOREX = Uint(1)

# By limbs of the modulus, from 1 to 12.
GAS_NEW_ODD_MODULUS = tuple(
    Uint(gas) for gas in (23, 26, 29, 32, 36, 39, 42, 45, 48, 51, 54, 58)
)
GAS_ADD_OR_SUB = tuple(
    Uint(gas) for gas in (1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2)
)
GAS_MUL = tuple(Uint(gas) for gas in (1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 10, 12))

ARITHMETIC_IMMEDIATE = Uint(7)


def read_immediate(evm: Evm, size: Uint) -> Bytes:
    """
    Read the bytes after the opcode. Code that ends within them has no such
    instruction.

    Parameters
    ----------
    evm :
        The current EVM frame.
    size :
        Bytes of the immediate.

    Returns
    -------
    immediate : `Bytes`
        The bytes.

    """
    start = evm.pc + Uint(1)
    if start + size > ulen(evm.code):
        raise InvalidOpcode(evm.code[evm.pc])
    return Bytes(evm.code[start : start + size])


def active_context(evm: Evm) -> FieldContext:
    """
    Return the active field context of the frame, without which no
    instruction but those that set one executes.

    Parameters
    ----------
    evm :
        The current EVM frame.

    Returns
    -------
    context : `FieldContext`
        The active one.

    """
    if evm.active_field_context is None:
        raise InvalidParameter("no field context is active")
    return evm.active_field_context


def by_limbs(table: "tuple[Uint, ...]", context: FieldContext) -> Uint:
    """
    Look up a price in a table by limbs.

    Parameters
    ----------
    table :
        Prices for 1 to 12 limbs.
    context :
        The field context with the limbs.

    Returns
    -------
    gas : `ethereum.base_types.Uint`
        The price.

    """
    return table[int(context.limbs) - 1]


def charge_growth(evm: Evm, added: Uint) -> None:
    """
    Charge for bytes that are added to those of the frame's slots, which
    are paid for as if they were appended to memory.

    Parameters
    ----------
    evm :
        The current EVM frame.
    added :
        Bytes that are added.

    """
    before = ulen(evm.memory) + charged_bytes(evm.field_contexts)
    cost = calculate_memory_gas_cost(before + added)
    charge_gas(evm, cost - calculate_memory_gas_cost(before))


def set_field_context(evm: Evm, source: "Bytes | bytearray") -> None:
    """
    Activate the field context of an id. A new one takes its modulus from a
    range of the source, which has to be wholly inside.

    Parameters
    ----------
    evm :
        The current EVM frame.
    source :
        Memory, or code.

    """
    # STACK
    identifier = Uint(pop(evm.stack))
    offset = Uint(pop(evm.stack))
    size = Uint(pop(evm.stack))
    slots = Uint(pop(evm.stack))

    # GAS
    charge_gas(evm, GAS_SETMODX)

    # OPERATION
    if identifier > MAX_CONTEXT_ID:
        raise InvalidParameter("id of a field context")

    if identifier not in evm.field_contexts:
        if size > MAX_MODULUS_SIZE:
            raise InvalidParameter("size of a modulus")
        if offset + size > ulen(source):
            raise OutOfBoundsRead
        modulus = Uint.from_be_bytes(source[offset : offset + size])
        if modulus < Uint(3):
            raise InvalidParameter("modulus below 3")
        is_odd = modulus % Uint(2) == Uint(1)
        if not is_odd and not is_power_of_two(modulus):
            raise InvalidParameter("even modulus that is no power of two")
        if slots == Uint(0) or slots > MAX_SLOTS:
            raise InvalidParameter("number of slots")
        limbs = (size + BYTES_PER_LIMB - Uint(1)) // BYTES_PER_LIMB
        context = FieldContext(modulus, limbs, [Uint(0)] * int(slots))
        added = element_size(context) * slots
        if slot_bytes(evm.field_contexts) + added > MAX_SLOT_BYTES:
            raise InvalidParameter("bytes of slots")

        charge_growth(evm, added)
        if is_odd:
            charge_gas(evm, by_limbs(GAS_NEW_ODD_MODULUS, context))
        evm.field_contexts[identifier] = context

    evm.active_field_context = evm.field_contexts[identifier]

    # PROGRAM COUNTER
    evm.pc += Uint(1)


def setmodx(evm: Evm) -> None:
    """
    Activate a field context. A new one takes its modulus from memory.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    set_field_context(evm, evm.memory)


def gas_of_transfer(context: FieldContext, count: Uint, size: Uint) -> Uint:
    """
    Calculate the dynamic gas of values that are loaded or stored: a
    multiplication for each, or a copy of their bytes where the modulus is a
    power of two.

    Parameters
    ----------
    context :
        The field context of the values.
    count :
        How many values.
    size :
        Bytes of each value in memory.

    Returns
    -------
    gas : `ethereum.base_types.Uint`
        Gas beside the base.

    """
    if is_power_of_two(context.modulus):
        return GAS_COPY * (ceil32(count * size) // Uint(32))
    return count * by_limbs(GAS_MUL, context)


def load_values(evm: Evm, context: FieldContext, size: Uint) -> None:
    """
    Copy slots to a range of memory, which has to be there.

    Parameters
    ----------
    evm :
        The current EVM frame. On its stack are destination, first slot and
        count.
    context :
        The active field context.
    size :
        Bytes of each value in memory.

    """
    destination = pop(evm.stack)
    first = Uint(pop(evm.stack))
    count = Uint(pop(evm.stack))
    charge_gas(evm, GAS_LOADX)
    if count == Uint(0):
        return
    if size < element_size(context):
        raise InvalidParameter("bytes of a value")
    if first + count > ulen(context.slots):
        raise InvalidParameter("slot")
    if Uint(destination) + count * size > ulen(evm.memory):
        raise OutOfBoundsRead
    charge_gas(evm, gas_of_transfer(context, count, size))
    values = context.slots[int(first) : int(first + count)]
    written = [int(value).to_bytes(int(size), "big") for value in values]
    memory_write(evm.memory, destination, Bytes(b"".join(written)))


def store_values(
    evm: Evm, context: FieldContext, size: Uint, source: "Bytes | bytearray"
) -> None:
    """
    Copy values, which have to be below the modulus, from a range of the
    source to slots.

    Parameters
    ----------
    evm :
        The current EVM frame. On its stack are first slot, offset in the
        source and count.
    context :
        The active field context.
    size :
        Bytes of each value in the source.
    source :
        Memory, or code.

    """
    first = Uint(pop(evm.stack))
    offset = Uint(pop(evm.stack))
    count = Uint(pop(evm.stack))
    charge_gas(evm, GAS_STOREX)
    if count == Uint(0):
        return
    if size < element_size(context):
        raise InvalidParameter("bytes of a value")
    if first + count > ulen(context.slots):
        raise InvalidParameter("slot")
    if offset + count * size > ulen(source):
        raise OutOfBoundsRead
    values: List[Uint] = []
    for index in range(int(count)):
        start = offset + Uint(index) * size
        value = Uint.from_be_bytes(source[start : start + size])
        if value >= context.modulus:
            raise InvalidParameter("value not below the modulus")
        values.append(value)
    charge_gas(evm, gas_of_transfer(context, count, size))
    context.slots[int(first) : int(first + count)] = values


def loadx(evm: Evm) -> None:
    """
    Copy slots to memory.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    context = active_context(evm)
    load_values(evm, context, element_size(context))

    # PROGRAM COUNTER
    evm.pc += Uint(1)


def storex(evm: Evm) -> None:
    """
    Copy values from memory to slots.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    context = active_context(evm)
    store_values(evm, context, element_size(context), evm.memory)

    # PROGRAM COUNTER
    evm.pc += Uint(1)


def check_lanes(
    context: FieldContext, start: int, stride: int, count: int
) -> None:
    """
    Halt if a lane is no slot: the bound is on the last lane.

    Parameters
    ----------
    context :
        The active field context.
    start :
        Slot of the first lane.
    stride :
        Slots from one lane to the next.
    count :
        Lanes, at least one.

    """
    if start + stride * (count - 1) >= len(context.slots):
        raise InvalidParameter("slot")


def arithmetic(
    evm: Evm,
    prices: "tuple[Uint, ...]",
    operation: Callable[[int, int], int],
) -> None:
    """
    Apply an operation to lanes of slots. All lanes are read before any is
    written.

    Parameters
    ----------
    evm :
        The current EVM frame.
    prices :
        Gas of a lane by limbs.
    operation :
        Takes two values and gives a number, which is then reduced.

    """
    immediate = read_immediate(evm, ARITHMETIC_IMMEDIATE)
    out, out_stride, x, x_stride, y, y_stride, count = immediate

    # OPERATION
    context = active_context(evm)
    if out_stride == 0 or count == 0:
        raise InvalidParameter("stride or count of zero")
    check_lanes(context, out, out_stride, count)
    check_lanes(context, x, x_stride, count)
    check_lanes(context, y, y_stride, count)

    # GAS
    charge_gas(evm, Uint(count) * by_limbs(prices, context))

    slots = context.slots
    results = [
        Uint(
            operation(
                int(slots[x + lane * x_stride]),
                int(slots[y + lane * y_stride]),
            )
            % int(context.modulus)
        )
        for lane in range(count)
    ]
    for lane, result in enumerate(results):
        slots[out + lane * out_stride] = result

    # PROGRAM COUNTER
    evm.pc += Uint(1) + ARITHMETIC_IMMEDIATE


def addmodx(evm: Evm) -> None:
    """
    Add slots in lanes.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    arithmetic(evm, GAS_ADD_OR_SUB, lambda x, y: x + y)


def submodx(evm: Evm) -> None:
    """
    Subtract slots in lanes.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    arithmetic(evm, GAS_ADD_OR_SUB, lambda x, y: x - y)


def mulmodx(evm: Evm) -> None:
    """
    Multiply slots in lanes.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    arithmetic(evm, GAS_MUL, lambda x, y: x * y)
