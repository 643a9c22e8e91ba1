"""
Ethereum Virtual Machine (EVM) Field Contexts.

.. contents:: Table of Contents
    :backlinks: none
    :local:

Introduction
------------

State of the modular arithmetic of EIP-6690: a modulus, and slots beside
memory that hold values below it.
"""

from dataclasses import dataclass
from typing import Dict, List

from ethereum_types.numeric import Uint

BYTES_PER_LIMB = Uint(8)
MAX_CONTEXT_ID = Uint(256)
MAX_MODULUS_SIZE = Uint(96)
MAX_SLOTS = Uint(256)
MAX_SLOT_BYTES = Uint(24576)


@dataclass
class FieldContext:
    """
    A modulus and the slots of values below it.

    Contains the following:

          1. `modulus`: odd or a power of two, at least 3.
          2. `limbs`: limbs of 64 bits of the declared size of the modulus.
          3. `slots`: values below the modulus, all zero at first.
    """

    modulus: Uint
    limbs: Uint
    slots: List[Uint]


def element_size(context: FieldContext) -> Uint:
    """
    Bytes that a value takes in memory, and in the accounting of slots.

    Parameters
    ----------
    context :
        The field context of the value.

    Returns
    -------
    size : `ethereum.base_types.Uint`
        Bytes of a value.

    """
    return BYTES_PER_LIMB * context.limbs


def is_power_of_two(number: Uint) -> bool:
    """
    Tell powers of two from other numbers. Zero is none.

    Parameters
    ----------
    number :
        The number.

    Returns
    -------
    is_power_of_two : `bool`
        True for 1, 2, 4 and so on.

    """
    return int(number).bit_count() == 1


def slot_bytes(contexts: Dict[Uint, FieldContext]) -> Uint:
    """
    Bytes of the slots of a frame, which EIP-6690 limits.

    Parameters
    ----------
    contexts :
        All field contexts of the frame.

    Returns
    -------
    size : `ethereum.base_types.Uint`
        Bytes of all slots.

    """
    size = Uint(0)
    for context in contexts.values():
        size += element_size(context) * Uint(len(context.slots))
    return size


def charged_bytes(contexts: Dict[Uint, FieldContext]) -> Uint:
    """
    Bytes of a frame that are paid for as memory is.

    Parameters
    ----------
    contexts :
        All field contexts of the frame.

    Returns
    -------
    size : `ethereum.base_types.Uint`
        Bytes beside those of memory.

    """
    return slot_bytes(contexts)
