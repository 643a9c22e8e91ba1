//! `p256/verify` against revm's precompile, on signatures of every kind, good and bad, under every revision that can express it.
//!
//! Plain `cargo test` takes each kind a few times; `RESIDUE_CASES=2000` takes as many cases.

use crate::points::Seeded;
use crate::support::{cases, everywhere, refused_everywhere, returned_everywhere};
use num_bigint::BigUint;
use residue_contracts::{Contract, find};
use residue_curves::Affine;
use residue_curves::fixed_base::Sums;
use residue_formula::{Fe, Number};
use residue_modular::fields::P256Fp;
use residue_workbench::native;

/// A curve with its group, as numbers.
struct Group<F> {
    sums: Sums<F>,
    generator: Affine<F>,
    order: BigUint,
}

fn number(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

impl<F: Number> Group<F> {
    fn scalar(&self, seeded: &mut Seeded) -> BigUint {
        match seeded.below(8) {
            0 => BigUint::from(1 + seeded.below(20)),
            1 => &self.order - (1 + seeded.below(20)),
            _ => BigUint::from_bytes_be(&seeded.bytes(48)) % (&self.order - 1u32) + 1u32,
        }
    }

    fn multiple(&self, k: &BigUint) -> Affine<F> {
        self.sums.multiple(k, self.generator).unwrap()
    }

    fn inverse(&self, k: &BigUint) -> BigUint {
        k.modinv(&self.order).unwrap()
    }

    /// r and s for a hash, a key and a nonce, and whether y of the nonce's point is odd.
    fn sign(&self, hash: &BigUint, key: &BigUint, nonce: &BigUint) -> (BigUint, BigUint, bool) {
        let point = self.multiple(nonce);
        let r = point.x.to_canonical() % &self.order;
        let s = self.inverse(nonce) * (hash + &r * key) % &self.order;
        (r, s, point.y.to_canonical().bit(0))
    }
}

fn p256() -> Group<P256Fp> {
    let constants = residue_curves::p256::constants();
    let element = |value| P256Fp::from_canonical(value).unwrap();
    let generator = Affine::new(element(&constants.generator.x), element(&constants.generator.y));
    Group { sums: Sums { a: -P256Fp::from_u64(3) }, generator, order: constants.order.clone() }
}

/// What the precompile makes of `input` must be what every revision does.
#[track_caller]
fn check(
    contract: &Contract,
    compiled: &mut [(residue_isa::Revision, residue_engine::Prepared)],
    input: &[u8],
    what: &str,
) -> Vec<u8> {
    match native(contract, input).unwrap() {
        Ok(native) => {
            returned_everywhere(compiled, input, &native.output, what);
            native.output
        }
        Err(_) => {
            refused_everywhere(compiled, input, what);
            Vec::new()
        }
    }
}

fn hash(seeded: &mut Seeded, order: &BigUint) -> BigUint {
    match seeded.below(6) {
        0 => BigUint::ZERO,
        1 => order + seeded.below(5),
        2 => (BigUint::from(1u8) << 256) - 1u32,
        _ => BigUint::from_bytes_be(&seeded.bytes(32)),
    }
}

#[test]
fn signatures_on_p256_are_verified_as_by_the_precompile() {
    let (contract, group) = (find("p256/verify").unwrap(), p256());
    let mut compiled = everywhere(contract);
    let n = &group.order;
    let mut seeded = Seeded(31);
    let mut valid = 0;
    for case in 0..cases(60) {
        let (key, nonce) = (group.scalar(&mut seeded), group.scalar(&mut seeded));
        let e = hash(&mut seeded, n);
        let (mut r, mut s, _) = group.sign(&e, &key, &nonce);
        let mut point = group.multiple(&key);
        let mut input_hash = e;
        let kind = case % 15;
        match kind {
            0..=3 => {}
            4 => s = n - s,
            5 => input_hash ^= BigUint::from(1u8),
            6 => r = [BigUint::ZERO, n.clone(), n + &r % 1000u32, BigUint::from(1u8)][seeded.below(4)].clone(),
            7 => s = [BigUint::ZERO, n.clone(), (BigUint::from(1u8) << 256) - 1u32, BigUint::from(1u8)][seeded.below(4)].clone(),
            8 => point.y = -point.y,
            9 => point.x = point.x + P256Fp::ONE,
            // The key and the base meet: u₁·G = ±u₂·Q, and Q a small multiple of G.
            10 => {
                let u2 = &r * group.inverse(&s) % n;
                let u1 = (n - &key * u2 % n) % n;
                input_hash = u1 * &s % n; // R is the identity
            }
            11 => {
                let u2 = &r * group.inverse(&s) % n;
                input_hash = &key * u2 % n * &s % n; // R = 2·u₁·G
            }
            12 => {
                // R = d·G with any u₁ and u₂: r = x, e = u₁·s, s = r/u₂, valid.
                let (u1, u2) = (BigUint::from(seeded.below(40)), BigUint::from(1 + seeded.below(40)));
                let wanted = (&u1 + &u2 * &key) % n;
                if wanted != BigUint::ZERO {
                    r = group.multiple(&wanted).x.to_canonical() % n;
                    s = &r * group.inverse(&u2) % n;
                    input_hash = u1 * &s % n;
                }
            }
            13 => (r, s) = (s, r),
            _ => r = BigUint::from_bytes_be(&seeded.bytes(32)),
        }
        let coordinates = [point.x.to_canonical(), point.y.to_canonical()];
        let input: Vec<u8> = [&input_hash, &r, &s, &coordinates[0], &coordinates[1]].into_iter().flat_map(number).collect();
        let what = format!("kind {kind}, case {case}");
        valid += usize::from(!check(contract, &mut compiled, &input, &what).is_empty());
        if case % 5 == 0 {
            let p = P256Fp::modulus();
            let mut with_p = input.clone();
            with_p[96 + 32 * seeded.below(2)..][..32].copy_from_slice(&number(&p));
            check(contract, &mut compiled, &with_p, &format!("{what}, p for a coordinate"));
            check(contract, &mut compiled, &input[..seeded.below(160)], &format!("{what}, cut"));
            check(contract, &mut compiled, &[&input[..], &[0]].concat(), &format!("{what}, longer"));
            let mut turned = input.clone();
            turned[seeded.below(160)] ^= 1 << seeded.below(8);
            check(contract, &mut compiled, &turned, &format!("{what}, a bit turned"));
            check(contract, &mut compiled, &[&input[..96], &[0; 64]].concat(), &format!("{what}, no key"));
        }
    }
    assert!(valid > 10, "{valid} signatures are valid");
}

/// r is the x of a point above n, less n.
#[test]
fn an_x_above_the_order_is_r_on_p256() {
    let (contract, group) = (find("p256/verify").unwrap(), p256());
    let mut compiled = everywhere(contract);
    let (n, p) = (&group.order, P256Fp::modulus());
    let b = P256Fp::from_canonical(&residue_curves::p256::constants().b).unwrap();
    // A point R with x from n to p, and the key (s·R − e·G)/r for any s and e.
    let mut x = P256Fp::from_canonical(n).unwrap();
    let root_exponent = (&p + 1u32) >> 2u32;
    let y = loop {
        let square = x.square() * x - x * P256Fp::from_u64(3) + b;
        let y = square.pow(&root_exponent);
        if y.square() == square {
            break y;
        }
        x = x + P256Fp::ONE;
    };
    let r = x.to_canonical() - n;
    let (s, e) = (BigUint::from(77u8), BigUint::from(5u8));
    let sums = group.sums;
    let point = sums.multiple(&s, Affine::new(x, y));
    let point = sums.add(point, Some(group.multiple(&(n - &e))));
    let key = sums.multiple(&group.inverse(&r), point.unwrap()).unwrap();
    let values = [e, r.clone(), s, key.x.to_canonical(), key.y.to_canonical()];
    let input: Vec<u8> = values.iter().flat_map(number).collect();
    assert!(!check(contract, &mut compiled, &input, "r + n").is_empty());
    let mut without = input.clone();
    without[32..64].copy_from_slice(&number(&(r + 1u32)));
    assert!(check(contract, &mut compiled, &without, "r + 1").is_empty());
}

#[test]
fn gas() {
    let contract = find("p256/verify").unwrap();
    let schedule = residue_isa::GasSchedule::default_for(residue_isa::Revision::Eip6690_2024).unwrap();
    let trial = residue_workbench::cheapest(contract, residue_isa::Revision::Eip6690_2024, &schedule).unwrap();
    println!("{} {} bytes", trial.gas, trial.compiled.code.len());
}
