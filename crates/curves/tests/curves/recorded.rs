//! The pairing check, recorded, is a well-formed program that decides as the numbers do.

use crate::judges::{N, Seeded, g1, g2, numbers};
use ark_bls12_381::{G1Affine, G2Affine};
use ark_ec::AffineRepr;
use num_bigint::BigUint;
use residue_curves::bls12_381::Fp2;
use residue_curves::bls12_381::Fp12;
use residue_curves::bls12_381::{constants, g1 as ours1};
use residue_curves::pairing::{Pairs, pairing_check};
use residue_curves::{Affine, Conditions};
use residue_formula::Number;
use residue_ir::{Machine, Numbers, Outcome, WordOp, evaluate, record, verify};

const FP_BYTES: u32 = 48;
const PAIR_BYTES: u64 = 288;

/// Calldata of P and Q in 48-byte elements each; returns 1 if the product is one and all points are members.
fn text<M: Machine>(machine: &M) {
    let count = machine.bind(machine.word_op(WordOp::Div, machine.calldata_size(), machine.small(PAIR_BYTES)));
    let pairs = Pairs::new(machine, count);
    machine.repeat(count, (), |machine, index, ()| {
        let start = machine.bind(machine.word_op(WordOp::Mul, index, machine.small(PAIR_BYTES)));
        let element = |position: u32| {
            let offset = machine.small(u64::from(position * FP_BYTES));
            machine.parse(machine.word_op(WordOp::Add, start, offset), FP_BYTES)
        };
        let p = Affine::new(element(0), element(1));
        let q = Affine::new(Fp2::new(element(2), element(3)), Fp2::new(element(4), element(5)));
        machine.require(ours1::membership(machine, p).hold(machine));
        pairs.store(machine, index, p, q);
    });
    let (verdict, conditions) = pairing_check(machine, &pairs, count, Conditions::none(machine));
    machine.require(conditions.hold(machine));
    machine.return_word(verdict);
}

fn calldata(list: &[(G1Affine, G2Affine)]) -> Vec<u8> {
    let pair = |&(p, q): &(G1Affine, G2Affine)| {
        let (p, q) = (g1(p), g2(q));
        [p.x, p.y, q.x.c0, q.x.c1, q.y.c0, q.y.c1].map(|value: N| {
            let digits = value.to_canonical().to_bytes_be();
            [vec![0; FP_BYTES as usize - digits.len()], digits].concat()
        })
    };
    list.iter().flat_map(pair).flatten().collect()
}

#[test]
fn the_recorded_check_decides_as_the_numbers_do() {
    let program = record("pairing_check", &constants::modulus(), |machine| text(machine));
    verify(&program).unwrap();

    let mut seeded = Seeded(30);
    let (p, q) = (seeded.g1(), seeded.g2());
    let word = |value: u8| Outcome::Returned([vec![0; 31], vec![value]].concat());
    let cases = [
        ("e(P, Q)·e(−P, Q)", vec![(p, q), (-p, q)], word(1)),
        ("e(P, Q)", vec![(p, q)], word(0)),
        ("Q outside G2", vec![(G1Affine::generator(), seeded.twist_point())], Outcome::Failed),
        ("P outside G1", vec![(seeded.curve_point(), q)], Outcome::Failed),
    ];
    for (name, list, expected) in cases {
        let calldata = calldata(&list);
        let machine = Numbers::<N>::new(calldata.clone());
        text(&machine);
        assert_eq!(machine.outcome(), expected, "{name} on numbers");
        assert_eq!(evaluate(&program, &calldata), expected, "{name} recorded");
    }
}

#[test]
fn functions_are_recorded_once() {
    let program = record("final_exponentiation", &constants::modulus(), |machine| {
        let f = Fp12::one(machine.zero(), machine.one());
        residue_curves::pairing::final_exponentiation(machine, f);
    });
    let mut names: Vec<&str> = program.functions.iter().map(|function| function.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "fp12_cyclotomic_square",
            "fp12_cyclotomic_square_2",
            "fp12_cyclotomic_square_4",
            "fp12_frobenius",
            "fp12_frobenius_squared",
            "fp12_mul",
            "fp12_mul_by_multiplicand",
            "fp12_power_of_x_head",
            "fp_inverse",
            "fp_power_of_x_abs",
            "start"
        ]
    );
    // On numbers the same names are plain calls.
    let one = Fp12::one(numbers().zero(), numbers().one());
    assert_eq!(one.c0.c0.c0.to_canonical(), BigUint::from(1u32));
}
