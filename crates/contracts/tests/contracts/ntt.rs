//! Number-theoretic transforms against the values of the polynomial, one root after the other, under every revision that has such moduli.
//!
//! Each contract takes a few polynomials; `RESIDUE_CASES=2000` takes as many.

use crate::points::Seeded;
use crate::support::{cases, everywhere, refused_everywhere, returned_everywhere};
use num_bigint::BigUint;
use residue_contracts::find;
use residue_contracts::ntt::{DILITHIUM, FALCON, Ring};

/// Numbers in so many bytes each.
fn encoded(numbers: &[u64], size: usize) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes().into_iter().skip(8 - size)).collect()
}

/// The value at a point, by Horner's rule.
fn value(coefficients: &[u64], point: u64, modulus: u64) -> u64 {
    coefficients.iter().rev().fold(0, |sum, &coefficient| (sum * point + coefficient) % modulus)
}

/// The point of output `place`: an odd power of ψ, by the definition.
fn point(ring: Ring, place: usize) -> u64 {
    let bits = ring.degree.ilog2();
    let reversed: u32 = (0..bits).map(|bit| (place >> bit & 1) as u32 * (1 << (bits - 1 - bit))).sum();
    let power = BigUint::from(ring.root).modpow(&(2 * reversed + 1).into(), &ring.modulus.into());
    u64::try_from(power).unwrap()
}

/// A coefficient: 0, the greatest, small, or any.
fn coefficient(seeded: &mut Seeded, modulus: usize) -> u64 {
    let number = match seeded.below(8) {
        0 => 0,
        1 => modulus - 1,
        2 => seeded.below(5),
        _ => seeded.below(modulus),
    };
    number as u64
}

fn check(name: &str, ring: Ring, size: usize) {
    let contract = find(name).unwrap();
    let (modulus, degree) = (ring.modulus, ring.degree);
    assert_eq!((contract.field)(), BigUint::from(modulus));
    let points: Vec<u64> = (0..degree).map(|place| point(ring, place)).collect();
    let mut compiled = everywhere(contract);
    let mut seeded = Seeded(22);
    let single = |place: usize, number: u64| {
        let mut polynomial = vec![0; degree];
        polynomial[place] = number;
        polynomial
    };
    let fixed =
        [vec![0; degree], vec![modulus - 1; degree], single(0, 1), single(1, 1), single(degree - 1, modulus - 1)];
    let any = (0..cases(3)).map(|_| (0..degree).map(|_| coefficient(&mut seeded, modulus as usize)).collect());
    let polynomials: Vec<Vec<u64>> = fixed.into_iter().chain(any).collect();
    for (case, polynomial) in polynomials.iter().enumerate() {
        let expected: Vec<u64> = points.iter().map(|&point| value(polynomial, point, modulus)).collect();
        let what = format!("{name}, case {case}");
        returned_everywhere(&mut compiled, &encoded(polynomial, size), &encoded(&expected, size), &what);
    }

    let polynomial = &polynomials[polynomials.len() - 1];
    let any = seeded.below(degree);
    for at in [0, 1, degree / 2 - 1, degree / 2, degree - 1, any] {
        for bad in [modulus, modulus + 1, 1 << (8 * size - 1), u64::MAX] {
            let mut polynomial = polynomial.clone();
            polynomial[at] = bad;
            refused_everywhere(
                &mut compiled,
                &encoded(&polynomial, size),
                &format!("{name}, {bad} as coefficient {at}"),
            );
        }
    }
    let (bytes, whole) = ([encoded(polynomial, size), vec![0; size]].concat(), size * degree);
    for length in [0, size, whole - size, whole - 1, whole + 1, whole + size] {
        refused_everywhere(&mut compiled, &bytes[..length], &format!("{name}, {length} bytes"));
    }
}

#[test]
fn falcon512_is_the_values_at_its_roots() {
    check("ntt/falcon512", FALCON, 8);
    check("ntt/falcon512_short", FALCON, 2);
}

#[test]
fn dilithium256_is_the_values_at_its_roots() {
    check("ntt/dilithium256", DILITHIUM, 8);
}

#[test]
fn roots_are_those_of_the_standards() {
    for ring in [FALCON, DILITHIUM] {
        let power = |exponent: usize| BigUint::from(ring.root).modpow(&exponent.into(), &ring.modulus.into());
        assert_eq!(power(ring.degree), BigUint::from(ring.modulus - 1), "a root of xⁿ + 1");
        for place in 0..ring.degree {
            assert_eq!(ring.root_of(place), point(ring, place));
        }
    }
    // FIPS 204, appendix B: zetas[1] to zetas[8].
    let zetas: Vec<u64> = (1..=8).map(|node| DILITHIUM.twiddle(node)).collect();
    assert_eq!(zetas, [4_808_194, 3_765_607, 3_761_513, 5_178_923, 5_496_691, 5_234_739, 5_178_987, 7_778_734]);
}
