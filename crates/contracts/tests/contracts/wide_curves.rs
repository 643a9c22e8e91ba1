//! The contracts on BLS12-377 and BW6-761 answer as EIP-2539 and EIP-3026 ask, by arkworks, under every revision that has such moduli, on good input and bad input of
//! every kind.
//!
//! Plain `cargo test` takes each kind a few times. `RESIDUE_CASES=1000` takes as many inputs of each contract.

pub mod inputs;

use crate::points::Seeded;
use crate::support::{answered_everywhere, cases, everywhere, refused_everywhere, returned_everywhere};
use ark_bls12_377::{Bls12_377, g1 as g1_377, g2 as g2_377};
use ark_bw6_761::{BW6_761, g1 as g1_761, g2 as g2_761};
use ark_ec::short_weierstrass::{Affine, SWCurveConfig};
use inputs::{Encoding, MULTIPLES, PAIRINGS, SUMS, encode, product, product_of_one, sum_of_products};
use residue_contracts::find;

const EIP_2539: Encoding = Encoding { element_bytes: 64, scalar_bytes: 32 };
const EIP_3026: Encoding = Encoding { element_bytes: 96, scalar_bytes: 64 };

/// Every kind of input, one after the other; an answer, or a refusal, is what the kind says.
fn check<I: Fn(&mut Seeded) -> (Vec<u8>, Option<Vec<u8>>)>(name: &str, kinds: Vec<(&str, I)>, fewest: usize) {
    let mut compiled = everywhere(find(name).unwrap());
    for case in 0..cases(fewest * kinds.len()) {
        let (kind, make) = &kinds[case % kinds.len()];
        let (input, expected) = make(&mut Seeded(case as u64)); // usize to u64 widens
        let what = format!("{name}, {kind}, seed {case}");
        answered_everywhere(&mut compiled, &input, expected.as_deref(), &what);
    }
}

fn sums<P: SWCurveConfig>(name: &str, encoding: Encoding, order_two: Option<Affine<P>>) {
    let kinds = SUMS
        .iter()
        .map(|&(kind, _)| {
            let make = move |s: &mut Seeded| inputs::sum::<P>(s, kind, encoding, order_two);
            (kind, make)
        })
        .collect();
    check(name, kinds, 2);
}

fn multiples<P: SWCurveConfig>(name: &str, encoding: Encoding, small: Vec<Affine<P>>) {
    let kinds = MULTIPLES
        .iter()
        .map(|&kind| {
            let small = small.clone();
            (kind, move |s: &mut Seeded| product::<P>(s, kind, encoding, &small))
        })
        .collect();
    check(name, kinds, 2);
}

fn sums_of_products<P: SWCurveConfig>(name: &str, encoding: Encoding, small: Vec<Affine<P>>) {
    let kinds = MULTIPLES
        .iter()
        .map(|&kind| {
            let small = small.clone();
            (kind, move |s: &mut Seeded| sum_of_products::<P>(s, kind, encoding, &small))
        })
        .collect();
    check(name, kinds, 1);
}

#[test]
fn sums_on_bls12_377() {
    sums::<g1_377::Config>("bls12_377/g1_add", EIP_2539, Some(inputs::order_two()));
    sums::<g2_377::Config>("bls12_377/g2_add", EIP_2539, None);
}

#[test]
fn sums_on_bw6_761() {
    sums::<g1_761::Config>("bw6_761/g1_add", EIP_3026, Some(inputs::order_two()));
    sums::<g2_761::Config>("bw6_761/g2_add", EIP_3026, None);
}

#[test]
fn multiples_on_bls12_377() {
    let small = inputs::small_points::<g1_377::Config>(&[2, 3, 7, 13, 499]);
    multiples("bls12_377/g1_mul", EIP_2539, small.clone());
    sums_of_products("bls12_377/g1_msm", EIP_2539, small);
    multiples::<g2_377::Config>("bls12_377/g2_mul", EIP_2539, Vec::new());
    sums_of_products::<g2_377::Config>("bls12_377/g2_msm", EIP_2539, Vec::new());
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn multiples_on_bw6_761() {
    let small = inputs::small_points::<g1_761::Config>(&[2, 127]);
    multiples("bw6_761/g1_mul", EIP_3026, small.clone());
    sums_of_products("bw6_761/g1_msm", EIP_3026, small);
    let small = inputs::small_points::<g2_761::Config>(&[3, 13]);
    multiples("bw6_761/g2_mul", EIP_3026, small.clone());
    sums_of_products("bw6_761/g2_msm", EIP_3026, small);
}

#[test]
fn pairing_checks_on_bls12_377() {
    let kinds = PAIRINGS
        .iter()
        .map(|&kind| {
            (kind, move |s: &mut Seeded| {
                inputs::pairing::<Bls12_377, g1_377::Config, g2_377::Config>(s, kind, EIP_2539)
            })
        })
        .collect();
    check("bls12_377/pairing", kinds, 1);
}

#[test]
fn pairing_checks_on_bw6_761() {
    let kinds = PAIRINGS
        .iter()
        .map(|&kind| {
            (kind, move |s: &mut Seeded| inputs::pairing::<BW6_761, g1_761::Config, g2_761::Config>(s, kind, EIP_3026))
        })
        .collect();
    check("bw6_761/pairing", kinds, 1);
}

/// (0, ±2), of order three, passes tests of norm 3r.
#[test]
fn a_part_of_order_three_is_found() {
    let mut compiled = everywhere(find("bw6_761/pairing").unwrap());
    let mut s = Seeded(7);
    let pair_bytes = 384;
    for three in inputs::small_points::<g2_761::Config>(&[3]) {
        let mut input = product_of_one::<g1_761::Config, g2_761::Config>(&mut s, 2, EIP_3026);
        let (p, q) = (inputs::member::<g1_761::Config>(&mut s), inputs::member::<g2_761::Config>(&mut s));
        for outside in [(q + three).into(), three] {
            input.truncate(2 * pair_bytes);
            input.extend([encode(p, EIP_3026), encode(outside, EIP_3026)].concat());
            refused_everywhere(&mut compiled, &input, "a part of order three");
        }
    }
}

#[test]
fn any_number_of_pairs_is_taken() {
    let mut one = vec![0; 32];
    one[31] = 1;
    let mut s = Seeded(8);
    let mut compiled = everywhere(find("bls12_377/pairing").unwrap());
    for count in [6, 7, 8, 15] {
        let input = product_of_one::<g1_377::Config, g2_377::Config>(&mut s, count, EIP_2539);
        returned_everywhere(&mut compiled, &input, &one, &format!("{count} pairs"));
        returned_everywhere(&mut compiled, &input[384..], &[0; 32], &format!("{count} pairs without the first"));
    }
    let mut compiled = everywhere(find("bw6_761/pairing").unwrap());
    for count in [7, 8, 9, 17] {
        let input = product_of_one::<g1_761::Config, g2_761::Config>(&mut s, count, EIP_3026);
        returned_everywhere(&mut compiled, &input, &one, &format!("{count} pairs"));
        returned_everywhere(&mut compiled, &input[384..], &[0; 32], &format!("{count} pairs without the first"));
    }
}
