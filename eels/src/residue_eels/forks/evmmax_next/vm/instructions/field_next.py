"""
Ethereum Virtual Machine (EVM) Field Instructions of `evmmax-next`.

.. contents:: Table of Contents
    :backlinks: none
    :local:

Introduction
------------

Implementations of the instructions that `evmmax-next` adds to EIP-6690.
"""

from functools import partial

from ethereum_types.numeric import U256, Uint

from .. import Evm
from ..exceptions import InvalidParameter
from ..field_contexts import element_size
from ..gas import GAS_VERY_LOW, charge_gas
from ..stack import pop, push
from .field import (
    GAS_MUL,
    active_context,
    by_limbs,
    charge_growth,
    check_lanes,
    load_values,
    read_immediate,
    set_field_context,
    store_values,
)

GAS_GETX = Uint(1)

# By limbs of the modulus, from 1 to 12.
GAS_INVERSE = tuple(
    Uint(gas)
    for gas in (40, 70, 100, 140, 170, 215, 270, 300, 345, 405, 465, 505)
)
# Tenths of gas.
GAS_ARRAY_COPY_TENTHS = tuple(
    Uint(tenths) for tenths in (2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
)
# Hundredths of the price of a multiplication.
SUM_PRODUCT_HUNDREDTHS = Uint(54)
SUM_REDUCTION_HUNDREDTHS = Uint(46)

INDEX_MODULUS = U256(2**16)
MAX_ARRAY = 2**16

INVMODX_IMMEDIATE = Uint(5)
ISZEROX_IMMEDIATE = Uint(1)
ARRAY_IMMEDIATE = Uint(2)
PADDED_IMMEDIATE = Uint(1)


def ceil_div(numerator: Uint, denominator: Uint) -> Uint:
    """
    Divide and round up.

    Parameters
    ----------
    numerator :
        What is divided.
    denominator :
        By how much, not zero.

    Returns
    -------
    quotient : `ethereum.base_types.Uint`
        The least whole number that is not below the quotient.

    """
    return (numerator + denominator - Uint(1)) // denominator


def inverse(value: Uint, modulus: Uint) -> Uint:
    """
    Calculate the inverse modulo a number, or 0 if there is none.

    Parameters
    ----------
    value :
        What is inverted.
    modulus :
        At least 3, not necessarily prime.

    Returns
    -------
    inverse : `ethereum.base_types.Uint`
        Below the modulus.

    """
    try:
        return Uint(pow(int(value), -1, int(modulus)))
    except ValueError:
        return Uint(0)


def invmodx(evm: Evm) -> None:
    """
    Invert slots in lanes. All lanes are read before any is written.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    immediate = read_immediate(evm, INVMODX_IMMEDIATE)
    out, out_stride, x, x_stride, count = immediate

    # OPERATION
    context = active_context(evm)
    if out_stride == 0 or count == 0:
        raise InvalidParameter("stride or count of zero")
    check_lanes(context, out, out_stride, count)
    check_lanes(context, x, x_stride, count)

    # GAS
    charge_gas(evm, Uint(count) * by_limbs(GAS_INVERSE, context))

    results = [
        inverse(context.slots[x + lane * x_stride], context.modulus)
        for lane in range(count)
    ]
    for lane, result in enumerate(results):
        context.slots[out + lane * out_stride] = result

    # PROGRAM COUNTER
    evm.pc += Uint(1) + INVMODX_IMMEDIATE


def iszerox(evm: Evm) -> None:
    """
    Push 1 if a slot is zero, else 0.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    immediate = read_immediate(evm, ISZEROX_IMMEDIATE)

    # GAS
    charge_gas(evm, GAS_VERY_LOW)

    # OPERATION
    context = active_context(evm)
    slot = immediate[0]
    check_lanes(context, slot, 0, 1)
    push(evm.stack, U256(context.slots[slot] == Uint(0)))

    # PROGRAM COUNTER
    evm.pc += Uint(1) + ISZEROX_IMMEDIATE


def sum_immediate(products: int) -> Uint:
    """
    Bytes of the immediate of a sum of products.

    Parameters
    ----------
    products :
        How many products.

    Returns
    -------
    size : `ethereum.base_types.Uint`
        Bytes: out, signs, and two for each product.

    """
    return Uint(2 + 2 * products)


def sum_of_products(evm: Evm, products: int) -> None:
    """
    Add and subtract products of slots, reduced once. Product i is
    subtracted if bit i of the signs is set.

    Parameters
    ----------
    evm :
        The current EVM frame.
    products :
        How many products.

    """
    immediate = read_immediate(evm, sum_immediate(products))
    out, signs, *operands = immediate

    # OPERATION
    context = active_context(evm)
    for slot in (out, *operands):
        check_lanes(context, slot, 0, 1)

    # GAS
    hundredths = (
        Uint(products) * SUM_PRODUCT_HUNDREDTHS + SUM_REDUCTION_HUNDREDTHS
    ) * by_limbs(GAS_MUL, context)
    charge_gas(evm, ceil_div(hundredths, Uint(100)))

    total = 0
    for product in range(products):
        x = int(context.slots[operands[2 * product]])
        y = int(context.slots[operands[2 * product + 1]])
        total += -x * y if signs >> product & 1 else x * y
    context.slots[out] = Uint(total % int(context.modulus))

    # PROGRAM COUNTER
    evm.pc += Uint(1) + sum_immediate(products)


def copy_elements(evm: Evm, is_get: bool) -> None:
    """
    Copy between slots and the array of the active context, which grows with
    zeros as far as the copy reaches.

    Parameters
    ----------
    evm :
        The current EVM frame.
    is_get :
        True copies to slots, False copies from slots.

    """
    slot, count = read_immediate(evm, ARRAY_IMMEDIATE)

    # STACK
    index = int(pop(evm.stack) % INDEX_MODULUS)

    # GAS
    charge_gas(evm, GAS_GETX)

    # OPERATION
    context = active_context(evm)
    if count == 0:
        raise InvalidParameter("count of zero")
    if index + count > MAX_ARRAY or slot + count > len(context.slots):
        raise InvalidParameter("element or slot")
    missing = index + count - len(context.array)
    if missing > 0:
        charge_growth(evm, element_size(context) * Uint(missing))
        context.array += [Uint(0)] * missing
    tenths = Uint(count) * by_limbs(GAS_ARRAY_COPY_TENTHS, context)
    charge_gas(evm, ceil_div(tenths, Uint(10)))
    slots = slice(slot, slot + count)
    elements = slice(index, index + count)
    if is_get:
        context.slots[slots] = context.array[elements]
    else:
        context.array[elements] = context.slots[slots]

    # PROGRAM COUNTER
    evm.pc += Uint(1) + ARRAY_IMMEDIATE


def loadpx(evm: Evm) -> None:
    """
    Copy slots to memory, with as many bytes for each as the immediate says.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    immediate = read_immediate(evm, PADDED_IMMEDIATE)
    load_values(evm, active_context(evm), Uint(immediate[0]))

    # PROGRAM COUNTER
    evm.pc += Uint(1) + PADDED_IMMEDIATE


def storepx(evm: Evm) -> None:
    """
    Copy values from memory to slots, with as many bytes for each as the
    immediate says.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    immediate = read_immediate(evm, PADDED_IMMEDIATE)
    size = Uint(immediate[0])
    store_values(evm, active_context(evm), size, evm.memory)

    # PROGRAM COUNTER
    evm.pc += Uint(1) + PADDED_IMMEDIATE


def setmodcx(evm: Evm) -> None:
    """
    Activate a field context. A new one takes its modulus from the code.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    set_field_context(evm, evm.code)


def storecx(evm: Evm) -> None:
    """
    Copy values from the code to slots.

    Parameters
    ----------
    evm :
        The current EVM frame.

    """
    context = active_context(evm)
    store_values(evm, context, element_size(context), evm.code)

    # PROGRAM COUNTER
    evm.pc += Uint(1)


sum2x = partial(sum_of_products, products=2)
sum3x = partial(sum_of_products, products=3)
sum4x = partial(sum_of_products, products=4)
sum5x = partial(sum_of_products, products=5)
sum6x = partial(sum_of_products, products=6)
getx = partial(copy_elements, is_get=True)
putx = partial(copy_elements, is_get=False)
