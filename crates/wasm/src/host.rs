//! The host functions of the interface comparison of 2020, including those by which modules got their input.
//!
//! `bignum_f1m_*` compute in the base field of BLS12-381 on 48 little-endian bytes in Montgomery form, exactly as EVM384's
//! instructions; `bignum_int_*` compute on integers of 48 bytes. `eth2_*` hand over a block's data and keep a state root.
//! All of them name places in memory by address. EVM384, update 2, "Interfaces"; ewasm's scout for the types.

use num_bigint::BigUint;
use residue_modular::PrimeField;
use residue_modular::evm384::{self, VALUE_BYTES, Value};
use residue_modular::fields::{Bls12_381Fp, Bls12_381FpModulus};
use residue_modular::limbs::Limb;
use thiserror::Error;

/// State outside of a module: input, output, and the record of what host functions did.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// The data that `eth2_blockDataCopy` copies from.
    pub block_data: Vec<u8>,
    /// The root that `eth2_loadPreStateRoot` gives, and that `eth2_savePostStateRoot` replaces.
    pub state_root: [u8; 32],
    /// Calls of each host function, in the order of [`HOST_FUNCTIONS`].
    pub calls: [u64; HOST_FUNCTIONS.len()],
}

/// A host function: all parameters and results are i32.
#[derive(Debug, Clone, Copy)]
pub struct HostFunction {
    /// Its name, in the module `env`.
    pub name: &'static str,
    /// Parameters.
    pub params: usize,
    /// True if it has a result. A module that declares it without one is taken at its word.
    pub gives: bool,
    /// Implementation. Missing parameters are 0.
    run: Act,
}

/// Implementation of a host function: outside state, memory and parameters to result.
type Act = fn(&mut Outside, &mut [u8], [u32; 4]) -> Result<u32, HostFault>;

/// Failure of a host function; the calling module traps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HostFault {
    /// A range outside of memory, or of block data.
    #[error("a host function got {size_bytes} bytes at {address}, where there are {there_bytes} in all")]
    Range {
        /// First byte.
        address: u32,
        /// Number of bytes.
        size_bytes: u32,
        /// Size of the memory.
        there_bytes: usize,
    },
    /// Division by zero.
    #[error("bignum_int_div divides by zero")]
    DivisionByZero,
}

/// Every host function.
pub const HOST_FUNCTIONS: [HostFunction; 11] = [
    function("bignum_f1m_add", 3, false, |_, memory, at| field(memory, at, |x, y| evm384::add(x, y, &M))),
    function("bignum_f1m_sub", 3, false, |_, memory, at| field(memory, at, |x, y| evm384::sub(x, y, &M))),
    function("bignum_f1m_mul", 3, false, |_, memory, at| field(memory, at, |x, y| evm384::mont_mul(x, y, &M, N0))),
    function("bignum_int_add", 3, true, |_, memory, at| int_add(memory, at)),
    function("bignum_int_sub", 3, true, |_, memory, at| int_sub(memory, at)),
    function("bignum_int_mul", 3, false, |_, memory, at| int_mul(memory, at)),
    function("bignum_int_div", 4, false, |_, memory, at| int_div(memory, at)),
    function("eth2_blockDataSize", 0, true, |outside, _, _| {
        // Input is bounded far below 4 GiB, which is all that a module can address.
        Ok(u32::try_from(outside.block_data.len()).unwrap_or(u32::MAX))
    }),
    function("eth2_blockDataCopy", 3, false, |outside, memory, [to, from, size_bytes, _]| {
        let source = range(&outside.block_data, from, size_bytes)?;
        range_mut(memory, to, size_bytes)?.copy_from_slice(source);
        Ok(0)
    }),
    function("eth2_loadPreStateRoot", 1, false, |outside, memory, [to, ..]| {
        range_mut(memory, to, 32)?.copy_from_slice(&outside.state_root);
        Ok(0)
    }),
    function("eth2_savePostStateRoot", 1, false, |outside, memory, [from, ..]| {
        outside.state_root.copy_from_slice(range(memory, from, 32)?);
        Ok(0)
    }),
];

const fn function(name: &'static str, params: usize, gives: bool, run: Act) -> HostFunction {
    HostFunction { name, params, gives, run }
}

impl Outside {
    /// Calls the host function of a number in [`HOST_FUNCTIONS`] and counts it.
    pub(crate) fn call(&mut self, number: usize, memory: &mut [u8], at: [u32; 4]) -> Result<u32, HostFault> {
        self.calls[number] += 1;
        (HOST_FUNCTIONS[number].run)(self, memory, at)
    }

    /// The host functions that were called, and how often.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let named = HOST_FUNCTIONS.iter().zip(self.calls).map(|(function, calls)| (function.name, calls));
        named.filter(|&(_, calls)| calls > 0).collect()
    }
}

/// The base field of BLS12-381.
const M: Value = Bls12_381FpModulus::MODULUS;
const N0: Limb = Bls12_381Fp::N0;

fn range(bytes: &[u8], address: u32, size_bytes: u32) -> Result<&[u8], HostFault> {
    let fault = HostFault::Range { address, size_bytes, there_bytes: bytes.len() };
    let start = address as usize;
    start.checked_add(size_bytes as usize).and_then(|end| bytes.get(start..end)).ok_or(fault)
}

fn range_mut(bytes: &mut [u8], address: u32, size_bytes: u32) -> Result<&mut [u8], HostFault> {
    let fault = HostFault::Range { address, size_bytes, there_bytes: bytes.len() };
    let start = address as usize;
    start.checked_add(size_bytes as usize).and_then(|end| bytes.get_mut(start..end)).ok_or(fault)
}

const SIZE_BYTES: u32 = 48;
const _: () = assert!(SIZE_BYTES as usize == VALUE_BYTES);

fn value(memory: &[u8], address: u32) -> Result<Value, HostFault> {
    let bytes = range(memory, address, SIZE_BYTES)?;
    Ok(evm384::read_le(bytes.try_into().expect("the range has the bytes of a value")))
}

/// (x, y, ret): ret ← x ∘ y. Both are read before the result is written.
#[inline]
fn field(
    memory: &mut [u8],
    [x, y, ret, _]: [u32; 4],
    operation: impl Fn(&Value, &Value) -> Value,
) -> Result<u32, HostFault> {
    let result = operation(&value(memory, x)?, &value(memory, y)?);
    let bytes = range_mut(memory, ret, SIZE_BYTES)?;
    evm384::write_le(&result, bytes.try_into().expect("the range has the bytes of a value"));
    Ok(0)
}

fn integer(memory: &[u8], address: u32) -> Result<BigUint, HostFault> {
    Ok(BigUint::from_bytes_le(range(memory, address, SIZE_BYTES)?))
}

/// Writes the lowest `size_bytes` bytes of `number` at an address.
fn write(memory: &mut [u8], address: u32, number: &BigUint, size_bytes: u32) -> Result<(), HostFault> {
    let target = range_mut(memory, address, size_bytes)?;
    let bytes = number.to_bytes_le();
    for (place, byte) in target.iter_mut().enumerate() {
        *byte = bytes.get(place).copied().unwrap_or(0);
    }
    Ok(())
}

/// ret ← x + y mod 2³⁸⁴; gives the carry.
fn int_add(memory: &mut [u8], [x, y, ret, _]: [u32; 4]) -> Result<u32, HostFault> {
    let sum = integer(memory, x)? + integer(memory, y)?;
    write(memory, ret, &sum, SIZE_BYTES)?;
    Ok(u32::from(sum.bit(8 * u64::from(SIZE_BYTES))))
}

/// ret ← x − y mod 2³⁸⁴; gives the borrow.
fn int_sub(memory: &mut [u8], [x, y, ret, _]: [u32; 4]) -> Result<u32, HostFault> {
    let (x, y) = (integer(memory, x)?, integer(memory, y)?);
    let borrow = u32::from(x < y);
    let difference = x + (BigUint::from(borrow) << (8 * SIZE_BYTES)) - y;
    write(memory, ret, &difference, SIZE_BYTES)?;
    Ok(borrow)
}

/// ret ← x·y, all 96 bytes of it.
fn int_mul(memory: &mut [u8], [x, y, ret, _]: [u32; 4]) -> Result<u32, HostFault> {
    let product = integer(memory, x)? * integer(memory, y)?;
    write(memory, ret, &product, 2 * SIZE_BYTES)?;
    Ok(0)
}

/// quotient ← ⌊x / y⌋, remainder ← x mod y.
fn int_div(memory: &mut [u8], [x, y, quotient, remainder]: [u32; 4]) -> Result<u32, HostFault> {
    let (x, y) = (integer(memory, x)?, integer(memory, y)?);
    if y == BigUint::ZERO {
        return Err(HostFault::DivisionByZero);
    }
    write(memory, quotient, &(&x / &y), SIZE_BYTES)?;
    write(memory, remainder, &(&x % &y), SIZE_BYTES)?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory_of(numbers: &[&BigUint]) -> Vec<u8> {
        let mut memory = vec![0; 480];
        for (place, number) in numbers.iter().enumerate() {
            let bytes = number.to_bytes_le();
            memory[48 * place..][..bytes.len()].copy_from_slice(&bytes);
        }
        memory
    }

    fn call(name: &str, memory: &mut [u8], at: [u32; 4]) -> Result<u32, HostFault> {
        let number = HOST_FUNCTIONS.iter().position(|function| function.name == name).unwrap();
        Outside::default().call(number, memory, at)
    }

    fn at(memory: &[u8], address: usize, size_bytes: usize) -> BigUint {
        BigUint::from_bytes_le(&memory[address..address + size_bytes])
    }

    #[test]
    fn integers_wrap_carry_and_divide() {
        let last = (BigUint::from(1u8) << 384usize) - 1u8;
        let three = BigUint::from(3u8);
        let mut memory = memory_of(&[&last, &three]);
        assert_eq!(call("bignum_int_add", &mut memory, [0, 48, 96, 0]), Ok(1));
        assert_eq!(at(&memory, 96, 48), BigUint::from(2u8));
        assert_eq!(call("bignum_int_sub", &mut memory, [48, 0, 96, 0]), Ok(1));
        assert_eq!(at(&memory, 96, 48), BigUint::from(4u8));
        assert_eq!(call("bignum_int_mul", &mut memory, [0, 48, 96, 0]), Ok(0));
        assert_eq!(at(&memory, 96, 96), &last * 3u8);
        assert_eq!(call("bignum_int_div", &mut memory, [0, 48, 96, 144]), Ok(0));
        assert_eq!((at(&memory, 96, 48), at(&memory, 144, 48)), (&last / 3u8, &last % 3u8));
        assert_eq!(call("bignum_int_div", &mut memory, [0, 240, 96, 144]), Err(HostFault::DivisionByZero));
    }

    #[test]
    fn field_operations_are_those_of_montgomery_form_and_may_overlap() {
        let m = BigUint::from_slice(&M.iter().flat_map(|&l| [l as u32, (l >> 32) as u32]).collect::<Vec<_>>());
        let (x, y) = (&m - 5u8, BigUint::from(0x1234_5678_9abc_def0u64));
        let radix = BigUint::from(1u8) << 384usize;
        let mut memory = memory_of(&[&x, &y]);
        call("bignum_f1m_mul", &mut memory, [0, 48, 96, 0]).unwrap();
        assert_eq!(at(&memory, 96, 48) * &radix % &m, &x * &y % &m);
        call("bignum_f1m_sub", &mut memory, [48, 0, 48, 0]).unwrap();
        assert_eq!(at(&memory, 48, 48), &y + 5u8);
        call("bignum_f1m_add", &mut memory, [0, 48, 0, 0]).unwrap();
        assert_eq!(at(&memory, 0, 48), y);
    }

    #[test]
    fn ranges_outside_of_memory_are_faults() {
        let mut memory = vec![0; 96];
        for at in [[49, 0, 0, 0], [0, 49, 0, 0], [0, 0, 49, 0], [u32::MAX, 0, 0, 0]] {
            assert!(matches!(call("bignum_f1m_add", &mut memory, at), Err(HostFault::Range { .. })), "{at:?}");
        }
        assert!(matches!(call("eth2_blockDataCopy", &mut memory, [0, 0, 1, 0]), Err(HostFault::Range { .. })));
    }
}
