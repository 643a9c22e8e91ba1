//! The pairing contract answers as the precompile of EIP-2537 does, byte for byte, under every revision, on good input and
//! bad input of every kind.
//!
//! Plain `cargo test` takes each kind once, with up to four pairs. `RESIDUE_CASES=1000` takes as many inputs, with up to
//! eight; `RESIDUE_SEED` begins with another seed.

pub mod kinds;

use crate::points::Seeded;
use crate::support::{answered_everywhere, everywhere};
use kinds::{KINDS, Verdict};
use residue_contracts::{Contract, find};
use residue_engine::Prepared;
use residue_isa::Revision;

fn contract() -> &'static Contract {
    find("bls12_381/pairing").unwrap()
}

/// Verdict of the precompile: the product is one, it is not, or the input is refused.
fn native(input: &[u8]) -> Verdict {
    match residue_workbench::native(contract(), input).unwrap() {
        Err(_) => Verdict::Refused,
        Ok(output) if output.output == one() => Verdict::True,
        Ok(output) => {
            assert_eq!(output.output, [0; 32]);
            Verdict::False
        }
    }
}

fn one() -> Vec<u8> {
    [vec![0; 31], vec![1]].concat()
}

/// Runs `input` everywhere; every answer must be that of the precompile, which must be `verdict`.
#[track_caller]
fn check(compiled: &mut [(Revision, Prepared)], input: &[u8], verdict: Verdict, what: &str) {
    let native = native(input);
    if verdict != Verdict::Any {
        assert_eq!(native, verdict, "{what}: the input is not what it is said to be");
    }
    let expected = match native {
        Verdict::True => Some(one()),
        Verdict::False => Some(vec![0; 32]),
        Verdict::Refused | Verdict::Any => None,
    };
    answered_everywhere(compiled, input, expected.as_deref(), what);
}

#[test]
fn the_contract_answers_as_the_precompile() {
    let cases = residue_extent::cases(KINDS.len());
    let first = residue_extent::seed() as usize;
    let pairs_max = if cases > KINDS.len() { 8 } else { 4 };
    let mut compiled = everywhere(contract());
    for case in 0..cases {
        let (name, verdict, make) = KINDS[case % KINDS.len()];
        let seed = (first + case) as u64;
        let mut seeded = Seeded(seed);
        let pairs = 1 + seeded.below(pairs_max);
        let input = make(&mut seeded, pairs);
        check(&mut compiled, &input, verdict, &format!("{name}, seed {seed}, {pairs} pairs"));
    }
}

#[test]
fn thirty_two_pairs_fit() {
    // e(aP, Q) e(-aP, Q), sixteen times with other points, is one; without the last pair it is not.
    let mut compiled = everywhere(contract());
    let mut seeded = Seeded(76);
    let pairs = (0..16).flat_map(|_| {
        let (p, q) = (seeded.g1(), crate::points::encode2(seeded.g2()));
        [crate::points::encode1(p), q.clone(), crate::points::encode1(-p), q]
    });
    let input = pairs.collect::<Vec<_>>().concat();
    assert_eq!(input.len(), 32 * 384);
    check(&mut compiled, &input, Verdict::True, "32 pairs that cancel");
    check(&mut compiled, &input[..31 * 384], Verdict::False, "31 of 32 pairs that cancel");
}

#[test]
fn the_identity_may_stand_anywhere() {
    // Three pairs; any of their points replaced by the identity.
    let mut compiled = everywhere(contract());
    let mut seeded = Seeded(77);
    let input: Vec<u8> = (0..3)
        .flat_map(|_| [crate::points::encode1(seeded.g1()), crate::points::encode2(seeded.g2())].concat())
        .collect();
    for mask in 1u32..64 {
        let mut input = input.clone();
        for point in (0..6).filter(|point| mask >> point & 1 == 1) {
            let start = 384 * (point / 2) + 128 * (point % 2);
            input[start..start + 128 * (1 + point % 2)].fill(0);
        }
        // The pairs left are a product of at most two at random; that is one only if nothing is left.
        let nothing_left = (0..3).all(|pair| mask >> (2 * pair) & 3 != 0);
        let verdict = if nothing_left { Verdict::True } else { Verdict::False };
        check(&mut compiled, &input, verdict, &format!("identities at {mask:06b}"));
    }
}

#[test]
fn every_byte_of_padding_counts() {
    let mut compiled = everywhere(contract());
    let mut seeded = Seeded(78);
    let input = [crate::points::encode1(seeded.g1()), crate::points::encode2(seeded.g2())].concat();
    for element in 0..6 {
        for position in 0..16 {
            let mut input = input.clone();
            input[64 * element + position] = 1 << seeded.below(8);
            check(&mut compiled, &input, Verdict::Refused, &format!("byte {position} of element {element}"));
        }
    }
}

#[test]
fn any_number_of_pairs_is_taken() {
    // The contract's loops take eight pairs; numbers around that, and a third loop.
    let mut compiled = everywhere(contract());
    let mut seeded = Seeded(79);
    for count in [5, 7, 8, 9, 16, 17] {
        let input = kinds::product_of_one(&mut seeded, count);
        check(&mut compiled, &input, Verdict::True, &format!("{count} pairs"));
        let mut wrong = input.clone();
        wrong[384 * (count - 1)..][..128].copy_from_slice(&crate::points::encode1(seeded.g1()));
        check(&mut compiled, &wrong, Verdict::False, &format!("{count} pairs, the last one wrong"));
        let mut outside = input;
        outside[384 * (count - 1) + 128..].copy_from_slice(&crate::points::encode2(seeded.twist_point()));
        check(&mut compiled, &outside, Verdict::Refused, &format!("{count} pairs, the last one outside"));
    }
}

#[test]
fn loops_with_nothing_but_identities_count_nothing() {
    // Three loops of eight, eight and two pairs; in some of them every Q is the identity.
    let mut compiled = everywhere(contract());
    let mut seeded = Seeded(80);
    let loops = [8, 8, 2].map(|count| kinds::product_of_one(&mut seeded, count));
    for mask in 0u32..8 {
        let mut input = Vec::new();
        for (number, pairs) in loops.iter().enumerate() {
            let mut pairs = pairs.clone();
            if mask >> number & 1 == 1 {
                pairs.chunks_exact_mut(384).for_each(|pair| pair[128..].fill(0));
            }
            input.extend(pairs);
        }
        check(&mut compiled, &input, Verdict::True, &format!("identities in the loops {mask:03b}"));
        let p = crate::points::encode1(seeded.g1());
        input[16 * 384..][..128].copy_from_slice(&p);
        let verdict = if mask & 4 == 0 { Verdict::False } else { Verdict::True };
        check(&mut compiled, &input, verdict, &format!("identities in the loops {mask:03b}, another P"));
    }
}
