//! The number types agree with big integers.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use num_bigint::BigUint;
use proptest::prelude::*;
use residue_formula::Number;
use residue_modular::fields::{Bls12_381Fp, Bls12_381Fr, Bn254Fp, Bn254Fr, Bn254FrModulus};
use residue_modular::{Fp, Limb, PrimeField};
use std::hash::{BuildHasher, RandomState};

/// Values of [0, m), with the ends of the range often.
fn residue(m: BigUint) -> impl Strategy<Value = BigUint> {
    let edges = vec![BigUint::ZERO, BigUint::from(1u8), BigUint::from(2u8), &m - 1u8, &m - 2u8, &m >> 1u8];
    prop_oneof![
        1 => proptest::sample::select(edges),
        4 => proptest::collection::vec(any::<u8>(), 48).prop_map(move |bytes| BigUint::from_bytes_be(&bytes) % &m),
    ]
}

fn check<F: Number>(a: &BigUint, b: &BigUint) {
    let m = F::modulus();
    let (x, y) = (F::from_canonical(a).unwrap(), F::from_canonical(b).unwrap());
    assert_eq!(x.to_canonical(), *a);
    assert_eq!((x + y).to_canonical(), (a + b) % &m);
    assert_eq!((x - y).to_canonical(), (a + &m - b) % &m);
    assert_eq!((x * y).to_canonical(), a * b % &m);
    assert_eq!((-x).to_canonical(), (&m - a) % &m);
    assert_eq!(x.square().to_canonical(), a * a % &m);
    assert_eq!(x.double().to_canonical(), (a + a) % &m);
    assert_eq!(x.pow(b).to_canonical(), a.modpow(b, &m));
    assert_eq!(x.inverse().map(F::to_canonical), a.modinv(&m));
    assert_eq!(F::from_canonical(&(a + &m)), None);
    assert_eq!(F::ZERO.to_canonical(), BigUint::ZERO);
    assert_eq!(F::ONE.to_canonical(), BigUint::from(1u8));
}

/// Names, so that a wrong limb of a modulus is caught by a second spelling of it.
#[test]
fn moduli_are_the_published_primes() {
    let published = [
        (
            Bls12_381Fp::modulus(),
            "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
            16,
        ),
        (Bls12_381Fr::modulus(), "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16),
        (Bn254Fp::modulus(), "21888242871839275222246405745257275088696311157297823662689037894645226208583", 10),
        (Bn254Fr::modulus(), "21888242871839275222246405745257275088548364400416034343698204186575808495617", 10),
    ];
    for (modulus, text, radix) in published {
        assert_eq!(Some(modulus), BigUint::parse_bytes(text.as_bytes(), radix));
    }
    assert_eq!(Bls12_381Fp::N0, 0x89f3_fffc_fffc_fffd);
}

proptest! {
    #[test]
    fn numbers_agree_with_big_integers(
        (a6, b6) in (residue(Bls12_381Fp::modulus()), residue(Bls12_381Fp::modulus())),
        (a4, b4) in (residue(Bls12_381Fr::modulus()), residue(Bls12_381Fr::modulus())),
        (ap, bp) in (residue(Bn254Fp::modulus()), residue(Bn254Fp::modulus())),
        (ar, br) in (residue(Bn254Fr::modulus()), residue(Bn254Fr::modulus())),
    ) {
        check::<Bls12_381Fp>(&a6, &b6);
        check::<Bls12_381Fr>(&a4, &b4);
        check::<Bn254Fp>(&ap, &bp);
        check::<Bn254Fr>(&ar, &br);
    }

    #[test]
    fn small_integers_and_bytes_convert(small in any::<u64>(), a in residue(Bls12_381Fp::modulus())) {
        prop_assert_eq!(Bls12_381Fp::from_u64(small).to_canonical(), BigUint::from(small));
        let number = Bls12_381Fp::from_canonical(&a).unwrap();
        prop_assert_eq!(Bls12_381Fp::from_be_bytes(&number.to_be_bytes()), Some(number));
        prop_assert_eq!(Bls12_381Fp::from_limbs(number.to_limbs()), Some(number));
        prop_assert_eq!(Bls12_381Fp::from_mont(number.to_mont()), Some(number));
    }
}

/// A field whose modulus fills its limb: 2⁶⁴ − 59.
struct Full;

impl PrimeField<1> for Full {
    const MODULUS: [Limb; 1] = [u64::MAX - 58];
    const NAME: &'static str = "full";
}

type FpFull = Fp<Full, 1>;

#[test]
fn a_modulus_may_fill_its_limbs() {
    let below = BigUint::from(u64::MAX - 59);
    assert_eq!(FpFull::from_canonical(&below).map(FpFull::to_canonical), Some(below));
    for above in [BigUint::from(u64::MAX - 58), BigUint::from(u64::MAX), BigUint::from(1u8) << 64] {
        assert_eq!(FpFull::from_canonical(&above), None, "{above}");
    }
    check::<FpFull>(&BigUint::from(u64::MAX - 59), &BigUint::from(u64::MAX - 1000));
    assert_eq!(FpFull::from_mont([u64::MAX - 58]), None);
    assert_eq!(FpFull::from_limbs([u64::MAX - 58]), None);
    assert_eq!(FpFull::from_be_bytes(&[0xff; 8]), None);
    assert_eq!(FpFull::from_u64(u64::MAX).to_canonical(), BigUint::from(58u8), "small integers are reduced");
}

#[test]
fn constants_lie_below_the_modulus() {
    const NINE: Bn254Fr = Bn254Fr::constant([9, 0, 0, 0]);
    assert_eq!(NINE, Bn254Fr::from_u64(9));
    let mut limbs = Bn254FrModulus::MODULUS;
    assert!(std::panic::catch_unwind(|| Bn254Fr::constant(limbs)).is_err());
    limbs[0] -= 1;
    assert_eq!(Bn254Fr::constant(limbs), -Bn254Fr::from_u64(1));
    // A limb that differs anywhere is seen.
    for limb in 0..4 {
        let mut limbs = [0; 4];
        limbs[limb] = u64::MAX;
        let is_below = limb < 3;
        assert_eq!(std::panic::catch_unwind(|| Bn254Fr::constant(limbs)).is_ok(), is_below, "limb {limb}");
    }
}

#[test]
fn elements_are_compared_hashed_copied_and_written() {
    let [two, three] = [2, 3].map(Bn254Fp::from_u64);
    let set: std::collections::HashSet<Bn254Fp> = [two, three, two].into_iter().collect();
    assert_eq!(set.len(), 2);
    let state = RandomState::new();
    assert_ne!(state.hash_one(two), state.hash_one(three));
    assert!(two != three && two == Clone::clone(&two) && Bn254Fp::default() == Bn254Fp::ZERO);
    assert!(Bn254Fp::ZERO.is_zero() && !two.is_zero());
    assert_eq!((format!("{three:?}"), format!("{three}")), ("bn254 Fp(0x3)".into(), "0x3".into()));
    assert_eq!(two.to_be_bytes(), [vec![0; 31], vec![2]].concat());
}
