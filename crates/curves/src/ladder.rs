//! Multiples k·P and powers gᵏ by a constant k that is mostly zeros, as the parameters of curves are.
//!
//! A turn of a loop costs about as much gas as a doubling of G1, and a call little less: so doublings go several at a time.

use residue_ir::{Bundle, Machine};
use std::collections::HashMap;

/// (k, P) ↦ k·P written out, where `start` is P, `doublings` doubles a number of times and `add` adds P (or squares, and
/// multiplies by g). k ≥ 1.
pub fn ladder<M, S>(machine: &M, k: u64, start: S, doublings: impl Fn(&M, u32, S) -> S, add: impl Fn(&M, S) -> S) -> S {
    signed_ladder(machine, &binary_digits(k), start, doublings, |machine, _, state| add(machine, state))
}

/// The same for digits 0, 1 and −1 of k, the first one first and not 0; `add` takes the digit, too, and adds P or −P.
pub fn signed_ladder<M, S>(
    machine: &M,
    digits: &[i8],
    start: S,
    doublings: impl Fn(&M, u32, S) -> S,
    add: impl Fn(&M, i8, S) -> S,
) -> S {
    let (mut state, mut waiting) = (start, 0);
    for &digit in digits.iter().skip(1) {
        waiting += 1;
        if digit != 0 {
            state = add(machine, digit, doublings(machine, waiting, state));
            waiting = 0;
        }
    }
    doublings(machine, waiting, state)
}

/// The bits of k ≥ 1, the first one first.
pub fn binary_digits(k: u64) -> Vec<i8> {
    (0..=k.ilog2()).rev().map(|bit| i8::from(k >> bit & 1 == 1)).collect()
}

/// The digits of k ≥ 1 in its non-adjacent form, the first one first: 0, 1 and −1, no two of which that are not 0 are
/// neighbours. Reitwiesner 1960, “Binary arithmetic”.
pub fn signed_digits(k: u128) -> Vec<i8> {
    let (mut digits, mut left) = (Vec::new(), k);
    while left > 0 {
        let digit = match left % 4 {
            1 => 1,
            3 => -1,
            _ => 0,
        };
        digits.push(digit);
        left = if digit < 0 { left / 2 + 1 } else { left / 2 };
    }
    digits.reverse();
    digits
}

/// The digits of k ≥ 1, the first one first: 0, ±1 and ±`second`, an odd number, as few as possible of which are not 0, and
/// no more of them than need be.
pub fn signed_digits_of(k: u64, second: i8) -> Vec<i8> {
    let digits = [0, 1, -1, second, -second];
    let weight = |digits: &[i8]| digits.iter().filter(|&&digit| digit != 0).count();
    // The best digits for each number near k without its last bits: no other can be made k.
    let mut best: HashMap<i128, Vec<i8>> = HashMap::from([(0, Vec::new())]);
    for bit in (0..k.ilog2() + 2).rev() {
        let mut next: HashMap<i128, Vec<i8>> = HashMap::new();
        for (number, before) in &best {
            for digit in digits {
                let number = 2 * number + i128::from(digit);
                if (number - (i128::from(k) >> bit)).abs() > i128::from(second) {
                    continue;
                }
                let mut all = before.clone();
                all.extend((digit != 0 || !all.is_empty()).then_some(digit));
                let rank = |digits: &[i8]| (weight(digits), digits.len());
                let known = next.entry(number).or_insert_with(|| all.clone());
                // The digits decide where all else is the same, so that the order of a map does not.
                if (rank(&all), &all) < (rank(known), &*known) {
                    *known = all;
                }
            }
        }
        best = next;
    }
    best.remove(&i128::from(k)).expect("plain bits are among the digits")
}

/// As [`ladder`], one doubling after the other in one loop over the bits: least code.
pub fn ladder_in_a_loop<M, S>(machine: &M, k: u64, start: S, double: impl Fn(&M, S) -> S, add: impl Fn(&M, S) -> S) -> S
where
    M: Machine,
    S: Bundle<M::Fe> + Copy,
{
    machine.repeat_digits(&binary_digits(k)[1..], start, double, |machine, _, state| add(machine, state))
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
            let add = |_: &_, digit, a| if digit > 0 { a + p } else { a - p };
            let signed = signed_ladder(&machine, &signed_digits(k.into()), p, doublings, add);
            let in_a_loop = ladder_in_a_loop(&machine, k, p, |_, a| double(a), |_, a| a + p);
            for multiple in [written_out, signed, in_a_loop] {
                assert_eq!(multiple.to_canonical(), p.to_canonical() * k % Bls12_381Fp::modulus(), "{k:#x}");
            }
        }
    }

    #[test]
    fn digits_of_two_sizes_are_those_of_the_number() {
        for (k, second, most) in [
            (1u64, 19i8, 1),
            (19, 19, 1),
            (20, 19, 2),
            (0xffff_ffff, 19, 2),
            (4_965_661_367_192_848_881, 19, 13),
            (u64::MAX, 3, 2),
        ] {
            let digits = signed_digits_of(k, second);
            let sum = digits.iter().fold(0i128, |sum, &digit| 2 * sum + i128::from(digit));
            assert_eq!(sum, k.into(), "{digits:?}");
            let weight = digits.iter().filter(|&&digit| digit != 0).count();
            assert!(weight <= most && digits[0] != 0, "{k}: {digits:?}");
        }
    }
}
