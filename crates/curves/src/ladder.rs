//! Multiples k·P and powers gᵏ by a constant k that is mostly zeros, as the parameters of curves are.
//!
//! A turn of a loop costs about as much gas as a doubling of G1, and a call little less: so doublings go several at a time.

use residue_ir::{Bundle, Machine};

/// (k, P) ↦ k·P written out, where `start` is P, `doublings` doubles a number of times and `add` adds P (or squares, and
/// multiplies by g). k ≥ 1.
pub fn ladder<M, S>(machine: &M, k: u64, start: S, doublings: impl Fn(&M, u32, S) -> S, add: impl Fn(&M, S) -> S) -> S {
    let mut state = start;
    let mut bits = k ^ 1 << k.ilog2(); // below the first
    let mut position = k.ilog2();
    while bits != 0 {
        let next = bits.ilog2();
        state = add(machine, doublings(machine, position - next, state));
        bits ^= 1 << next;
        position = next;
    }
    doublings(machine, position, state)
}

/// As [`ladder`], one doubling after the other in one loop over the bits: least code.
pub fn ladder_in_a_loop<M, S>(machine: &M, k: u64, start: S, double: impl Fn(&M, S) -> S, add: impl Fn(&M, S) -> S) -> S
where
    M: Machine,
    S: Bundle<M::Fe> + Copy,
{
    let digits: Vec<i8> = (0..k.ilog2()).rev().map(|bit| i8::from(k >> bit & 1 == 1)).collect();
    machine.repeat_digits(&digits, start, double, |machine, _, state| add(machine, state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_formula::Number;
    use residue_ir::Numbers;
    use residue_modular::fields::Bls12_381Fp;

    #[test]
    fn multiples_of_a_number_are_products() {
        let machine = Numbers::<Bls12_381Fp>::new(Vec::new());
        let p = Bls12_381Fp::from_u64(12_345);
        for k in [1u64, 2, 0xff, 0x0100, 0x0701_0001, 0xd201_0000_0001_0000, 0x8000_0000_0000_0001] {
            let double = |a: Bls12_381Fp| a + a;
            let doublings = |_: &_, count, a| (0..count).fold(a, |a, _| double(a));
            let written_out = ladder(&machine, k, p, doublings, |_, a| a + p);
            let in_a_loop = ladder_in_a_loop(&machine, k, p, |_, a| double(a), |_, a| a + p);
            for multiple in [written_out, in_a_loop] {
                assert_eq!(multiple.to_canonical(), p.to_canonical() * k % Bls12_381Fp::modulus(), "{k:#x}");
            }
        }
    }
}
