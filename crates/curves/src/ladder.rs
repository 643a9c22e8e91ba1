//! Multiples k·P and powers gᵏ by a constant k that is mostly zeros, as the parameters of curves are.
//!
//! A turn of a loop costs about as much gas as a doubling of G1, a doubling written out costs code: so callers say how many
//! doublings are written out.

use residue_ir::{Bundle, Machine};

/// How a ladder weighs gas against code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrolled {
    /// One doubling and one addition in one loop over the bits: least code.
    None,
    /// A byte a turn, four doublings written out.
    Four,
    /// A byte a turn, eight doublings written out: least gas.
    Eight,
}

/// (k, P) ↦ k·P, where `start` is P, `double` doubles and `add` adds P (or squares, and multiplies by g). k ≥ 1, and its
/// bytes after the first are 0 or 1, so that one place for `add` in a loop over bytes is enough.
pub fn ladder<M, S>(
    machine: &M,
    k: u64,
    unrolled: Unrolled,
    start: S,
    double: impl Fn(&M, S) -> S,
    add: impl Fn(&M, S) -> S,
) -> S
where
    M: Machine,
    S: Bundle<M::Fe> + Copy,
{
    if unrolled == Unrolled::None {
        let digits: Vec<i8> = (0..k.ilog2()).rev().map(|bit| i8::from(k >> bit & 1 == 1)).collect();
        return machine.repeat_digits(&digits, start, double, |machine, _, state| add(machine, state));
    }
    let bytes = k.to_be_bytes();
    let first = bytes.iter().position(|&byte| byte != 0).expect("k is at least 1");
    let (head, tail) = (bytes[first], &bytes[first + 1..]);
    assert!(tail.iter().all(|&byte| byte <= 1), "bytes of {k:#x} after the first are 0 or 1");
    let digits: Vec<i8> = tail.iter().map(|&byte| i8::from(byte == 1)).collect();

    let mut state = start;
    for bit in (0..head.ilog2()).rev() {
        state = double(machine, state);
        if head >> bit & 1 == 1 {
            state = add(machine, state);
        }
    }
    let four = |machine: &M, state| (0..4).fold(state, |state, _| double(machine, state));
    machine.repeat_digits(
        &digits,
        state,
        |machine, state| match unrolled {
            Unrolled::Eight => four(machine, four(machine, state)),
            _ => machine.repeat(machine.small(2), state, |machine, _, state| four(machine, state)),
        },
        |machine, _, state| add(machine, state),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::Numbers;
    use residue_modular::{Number, fields::Bls12_381Fp};

    #[test]
    fn multiples_of_a_number_are_products() {
        let machine = Numbers::<Bls12_381Fp>::new(Vec::new());
        let p = Bls12_381Fp::from_u64(12_345);
        for k in [1u64, 2, 0xff, 0x0100, 0x0701_0001, 0xd201_0000_0001_0000, 0x8000_0000_0000_0001] {
            for unrolled in [Unrolled::None, Unrolled::Four, Unrolled::Eight] {
                let multiple = ladder(&machine, k, unrolled, p, |_, a| a + a, |_, a| a + p);
                assert_eq!(multiple.to_canonical(), p.to_canonical() * k % Bls12_381Fp::modulus(), "{k:#x}");
            }
        }
    }
}
