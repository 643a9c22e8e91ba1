//! `p256/verify` and `secp256k1/recover` against revm's precompiles, `p384/verify` and `secp521r1/verify` against the crates p384 and p521, and `bip340/verify` against k256, on signatures of every kind, good
//! and bad, under every revision that can express them.
//!
//! Plain `cargo test` takes each kind a few times; `RESIDUE_CASES=2000` takes as many cases.

use crate::by_precompiles::by_precompiles;
use crate::points::Seeded;
use crate::support::{cases, everywhere, refused_everywhere, returned_everywhere};
use num_bigint::BigUint;
use residue_contracts::{Contract, find};
use residue_curves::Affine;
use residue_curves::fixed_base::Sums;
use residue_curves::p256::Constants;
use residue_curves::wide_curve::WideCurve;
use residue_engine::revm::primitives::keccak256;
use residue_engine::{Fork, Halt};
use residue_formula::{Fe, Number};
use residue_modular::fields::{P256Fp, P384Fp, P521Fp, Secp256k1Fp};
use residue_workbench::native;

/// A curve with its group, as numbers.
struct Group<F> {
    sums: Sums<F>,
    generator: Affine<F>,
    order: BigUint,
}

fn number(value: &BigUint, bytes: usize) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; bytes - digits.len()], digits].concat()
}

impl<F: Number> Group<F> {
    fn scalar(&self, seeded: &mut Seeded) -> BigUint {
        match seeded.below(8) {
            0 => BigUint::from(1 + seeded.below(20)),
            1 => &self.order - (1 + seeded.below(20)),
            _ => BigUint::from_bytes_be(&seeded.bytes(72)) % (&self.order - 1u32) + 1u32,
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

/// For every revision the output for `input` equals the precompile's.
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

/// A number of at most so many bits, at random.
fn random(seeded: &mut Seeded, bits: u64) -> BigUint {
    let bytes = usize::try_from(bits.div_ceil(8)).unwrap();
    BigUint::from_bytes_be(&seeded.bytes(bytes)) >> (8 * bytes as u64 - bits) // usize to u64 widens
}

/// One of as many bits as the order has.
fn hash(seeded: &mut Seeded, order: &BigUint) -> BigUint {
    match seeded.below(6) {
        0 => BigUint::ZERO,
        1 => order + seeded.below(5),
        2 => (BigUint::from(1u8) << order.bits()) - 1u32,
        _ => random(seeded, order.bits()),
    }
}

/// A signature with its hash and key, good or spoiled as its number says.
struct Signed<F> {
    hash: BigUint,
    r: BigUint,
    s: BigUint,
    key: Affine<F>,
}

impl<F: Number> Signed<F> {
    /// The case of this number, for numbers of so many bytes.
    fn new(group: &Group<F>, seeded: &mut Seeded, case: usize, bytes: usize) -> Self {
        let n = &group.order;
        let (key, nonce) = (group.scalar(seeded), group.scalar(seeded));
        let e = hash(seeded, n);
        let (mut r, mut s, _) = group.sign(&e, &key, &nonce);
        let mut point = group.multiple(&key);
        let mut input_hash = e;
        match case % 15 {
            0..=3 => {}
            4 => s = n - s,
            5 => input_hash ^= BigUint::from(1u8),
            6 => r = [BigUint::ZERO, n.clone(), n + &r % 1000u32, BigUint::from(1u8)][seeded.below(4)].clone(),
            7 => {
                let most = (BigUint::from(1u8) << (8 * bytes)) - 1u32;
                s = [BigUint::ZERO, n.clone(), most, BigUint::from(1u8)][seeded.below(4)].clone();
            }
            8 => point.y = -point.y,
            9 => point.x = point.x + F::ONE,
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
            _ => r = random(seeded, n.bits()),
        }
        Self { hash: input_hash, r, s, key: point }
    }

    /// Hash, r, s and the key's coordinates in so many bytes each.
    fn input(&self, bytes: usize) -> Vec<u8> {
        let [x, y] = [self.key.x.to_canonical(), self.key.y.to_canonical()];
        [&self.hash, &self.r, &self.s, &x, &y].into_iter().flat_map(|value| number(value, bytes)).collect()
    }
}

/// An input with a number or its length changed, for each way to do that.
fn changed(input: &[u8], seeded: &mut Seeded, p: &BigUint, bytes: usize) -> [(&'static str, Vec<u8>); 5] {
    let mut with_p = input.to_vec();
    with_p[bytes * (3 + seeded.below(2))..][..bytes].copy_from_slice(&number(p, bytes));
    let cut = input[..seeded.below(input.len())].to_vec();
    let mut turned = input.to_vec();
    turned[seeded.below(input.len())] ^= 1 << seeded.below(8);
    [
        ("p for a coordinate", with_p),
        ("cut", cut),
        ("longer", [input, &[0]].concat()),
        ("a bit turned", turned),
        ("no key", [&input[..3 * bytes], &vec![0; 2 * bytes]].concat()),
    ]
}

#[test]
fn signatures_on_p256_are_verified_as_by_the_precompile() {
    let (contract, group) = (find("p256/verify").unwrap(), p256());
    let mut compiled = everywhere(contract);
    let mut seeded = Seeded(31);
    let mut valid = 0;
    for case in 0..cases(60) {
        let input = Signed::new(&group, &mut seeded, case, 32).input(32);
        let what = format!("case {case}");
        valid += usize::from(!check(contract, &mut compiled, &input, &what).is_empty());
        if case % 5 == 0 {
            for (how, input) in changed(&input, &mut seeded, &P256Fp::modulus(), 32) {
                check(contract, &mut compiled, &input, &format!("{what}, {how}"));
            }
        }
    }
    assert!(valid > 10, "{valid} signatures are valid");
}

/// A curve whose numbers take more than a word, with another library for it.
struct Wide<F> {
    contract: &'static str,
    group: Group<F>,
    /// Bytes of a number.
    bytes: usize,
    b: BigUint,
    /// The key, the hash and the signature of calldata to a verdict.
    judge: fn(&[u8], &[u8], &[u8]) -> bool,
}

fn p384() -> Wide<P384Fp> {
    let judge = |key: &[u8], hash: &[u8], signature: &[u8]| {
        use p384::ecdsa::signature::hazmat::PrehashVerifier;
        use p384::ecdsa::{Signature, VerifyingKey};
        let (key, signature) = (VerifyingKey::from_sec1_bytes(key), Signature::from_slice(signature));
        matches!((key, signature), (Ok(key), Ok(signature)) if key.verify_prehash(hash, &signature).is_ok())
    };
    Wide::new("p384/verify", residue_curves::p384::curve(), judge)
}

fn p521() -> Wide<P521Fp> {
    let judge = |key: &[u8], hash: &[u8], signature: &[u8]| {
        use p521::ecdsa::signature::hazmat::PrehashVerifier;
        use p521::ecdsa::{Signature, VerifyingKey};
        let (key, signature) = (VerifyingKey::from_sec1_bytes(key), Signature::from_slice(signature));
        let is_short = hash[..2] < [2, 0][..]; // the library takes longer ones, by their first 521 bits or not
        is_short && matches!((key, signature), (Ok(key), Ok(signature)) if key.verify_prehash(hash, &signature).is_ok())
    };
    Wide::new("secp521r1/verify", residue_curves::p521::curve(), judge)
}

impl<F: Number> Wide<F> {
    fn new<const WORDS: usize>(
        contract: &'static str,
        curve: &WideCurve<F, WORDS>,
        judge: fn(&[u8], &[u8], &[u8]) -> bool,
    ) -> Self {
        let Constants { b, order, .. } = &curve.constants;
        let group = Group { sums: curve.sums(), generator: curve.generator(), order: order.clone() };
        let bytes = usize::try_from(order.bits().div_ceil(8)).unwrap();
        Self { contract, group, bytes, b: b.clone(), judge }
    }

    /// The verdict of the library on calldata.
    fn is_valid(&self, input: &[u8]) -> bool {
        let bytes = self.bytes;
        input.len() == 5 * bytes
            && (self.judge)(&[&[4], &input[3 * bytes..]].concat(), &input[..bytes], &input[bytes..3 * bytes])
    }

    /// Signatures of every kind are verified as by the library.
    fn check_signatures(&self, seed: u64) {
        let mut compiled = everywhere(find(self.contract).unwrap());
        let mut seeded = Seeded(seed);
        let mut valid = 0;
        for case in 0..cases(60) {
            let input = Signed::new(&self.group, &mut seeded, case, self.bytes).input(self.bytes);
            let mut inputs = vec![("as it is", input.clone())];
            if case % 5 == 0 {
                inputs.extend(changed(&input, &mut seeded, &F::modulus(), self.bytes));
            }
            for (how, input) in inputs {
                let is_valid = self.is_valid(&input);
                valid += usize::from(is_valid);
                let expected = number(&BigUint::from(u8::from(is_valid)), 32);
                returned_everywhere(&mut compiled, &input, &expected, &format!("case {case}, {how}"));
            }
        }
        assert!(valid > 10, "{valid} signatures are valid");
    }

    /// An x above the order is r, and no other.
    fn check_x_above_the_order(&self) {
        let mut compiled = everywhere(find(self.contract).unwrap());
        let mut signed = with_x_above_the_order(&self.group, &self.b, &F::modulus());
        for (added, is_valid) in [(0u32, true), (1, false)] {
            signed.r += added;
            let input = signed.input(self.bytes);
            assert_eq!(self.is_valid(&input), is_valid);
            returned_everywhere(&mut compiled, &input, &number(&u8::from(is_valid).into(), 32), "r + n");
        }
    }
}

#[test]
fn signatures_on_p384_are_verified_as_by_another_library() {
    p384().check_signatures(37);
}

#[test]
fn signatures_on_p521_are_verified_as_by_another_library() {
    p521().check_signatures(38);
}

/// A hash has at most 521 bits, as one by SHA-512 has after two zeros; a longer one is refused whatever it is modulo n.
#[test]
fn a_hash_of_more_bits_than_the_order_has_no_signature() {
    let Wide { contract, group, bytes, .. } = p521();
    let mut compiled = everywhere(find(contract).unwrap());
    let (key, nonce) = (BigUint::from(7u8), BigUint::from(11u8));
    let first: BigUint = BigUint::from(1u8) << 521;
    for (hash, is_valid) in [(&first - 1u8, true), (first.clone(), false), ((first << 7) - 1u8, false)] {
        let (r, s, _) = group.sign(&hash, &key, &nonce);
        let input = Signed { hash, r, s, key: group.multiple(&key) }.input(bytes);
        returned_everywhere(&mut compiled, &input, &number(&u8::from(is_valid).into(), 32), "a long hash");
    }
}

/// A signature whose r is the x of a point above n, less n, on a curve with a = −3.
fn with_x_above_the_order<F: Number>(group: &Group<F>, b: &BigUint, p: &BigUint) -> Signed<F> {
    let n = &group.order;
    let b = F::from_canonical(b).unwrap();
    // A point R with x above n, and the key (s·R − e·G)/r for any s and e.
    let mut x = F::from_canonical(&(n + 1u32)).unwrap();
    let root_exponent = (p + 1u32) >> 2u32;
    let y = loop {
        let square = x.square() * x - (x + x + x) + b;
        let y = square.pow(&root_exponent);
        if y.square() == square {
            break y;
        }
        x = x + F::ONE;
    };
    let r = x.to_canonical() - n;
    let (s, e) = (BigUint::from(77u8), BigUint::from(5u8));
    let sums = group.sums;
    let point = sums.multiple(&s, Affine::new(x, y));
    let point = sums.add(point, Some(group.multiple(&(n - &e))));
    let key = sums.multiple(&group.inverse(&r), point.unwrap()).unwrap();
    Signed { hash: e, r, s, key }
}

#[test]
fn an_x_above_the_order_is_r_on_p256() {
    let contract = find("p256/verify").unwrap();
    let mut compiled = everywhere(contract);
    let mut signed = with_x_above_the_order(&p256(), &residue_curves::p256::constants().b, &P256Fp::modulus());
    assert!(!check(contract, &mut compiled, &signed.input(32), "r + n").is_empty());
    signed.r += 1u32;
    assert!(check(contract, &mut compiled, &signed.input(32), "r + 1").is_empty());
}

#[test]
fn an_x_above_the_order_is_r_on_p384() {
    p384().check_x_above_the_order();
}

#[test]
fn an_x_above_the_order_is_r_on_p521() {
    p521().check_x_above_the_order();
}

fn secp256k1() -> Group<Secp256k1Fp> {
    let constants = residue_curves::secp256k1::constants();
    let element = |value| Secp256k1Fp::from_canonical(value).unwrap();
    let generator = Affine::new(element(&constants.generator.x), element(&constants.generator.y));
    Group { sums: Sums { a: Secp256k1Fp::ZERO }, generator, order: constants.order.clone() }
}

#[test]
fn addresses_are_recovered_as_by_the_precompile() {
    let (contract, group) = (find("secp256k1/recover").unwrap(), secp256k1());
    let mut compiled = everywhere(contract);
    let n = &group.order;
    let mut seeded = Seeded(32);
    let mut valid = 0;
    for case in 0..cases(60) {
        let (key, nonce) = (group.scalar(&mut seeded), group.scalar(&mut seeded));
        let e = hash(&mut seeded, n);
        let (mut r, mut s, is_odd) = group.sign(&e, &key, &nonce);
        let mut v = BigUint::from(27 + u32::from(is_odd));
        let mut input_hash = e;
        let kind = case % 14;
        match kind {
            0..=2 => {}
            3 => s = n - s,
            4 => v ^= BigUint::from(27u8 ^ 28),
            5 => v = [0u32, 1, 26, 29, 256 + 27][seeded.below(5)].into(),
            6 => v += BigUint::from(1u8) << (8 * (1 + seeded.below(31))),
            7 => r = [BigUint::ZERO, n.clone(), n + &r % 1000u32, BigUint::from(1u8)][seeded.below(4)].clone(),
            8 => {
                s = [BigUint::ZERO, n.clone(), (BigUint::from(1u8) << 256) - 1u32, BigUint::from(1u8)][seeded.below(4)]
                    .clone()
            }
            9 => r += 1u32,
            10 => input_hash = &s * &nonce % n,           // Q is the identity
            11 => input_hash = (n - &s * &nonce % n) % n, // s·R = −e·G
            12 => (input_hash, s) = (seeded.below(30).into(), (1 + seeded.below(30)).into()),
            _ => r = BigUint::from_bytes_be(&seeded.bytes(32)),
        }
        let input: Vec<u8> = [&input_hash, &v, &r, &s].into_iter().flat_map(|value| number(value, 32)).collect();
        let what = format!("kind {kind}, case {case}");
        valid += usize::from(!check(contract, &mut compiled, &input, &what).is_empty());
        if case % 5 == 0 {
            check(contract, &mut compiled, &input[..seeded.below(128)], &format!("{what}, cut"));
            check(contract, &mut compiled, &[&input[..], &[1; 40]].concat(), &format!("{what}, longer"));
            let mut turned = input.clone();
            turned[seeded.below(128)] ^= 1 << seeded.below(8);
            check(contract, &mut compiled, &turned, &format!("{what}, a bit turned"));
        }
    }
    assert!(valid > 10, "{valid} keys were recovered");
}

/// A sum equal to the multiple that is added last is computed again. The multiple depends on the digits, so all are
/// tried.
#[test]
fn a_sum_that_meets_its_last_multiple_is_computed_again() {
    let (contract, group) = (find("secp256k1/recover").unwrap(), secp256k1());
    let mut compiled = everywhere(contract);
    let n = &group.order;
    let lambda = BigUint::parse_bytes(b"5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72", 16).unwrap();
    assert_eq!((&lambda * &lambda + &lambda + 1u32) % n, BigUint::ZERO);
    let mut seeded = Seeded(34);
    let [nonce, v] = [0; 2].map(|_| BigUint::from_bytes_be(&seeded.bytes(48)) % n);
    let point = group.multiple(&nonce);
    let r = point.x.to_canonical() % n;
    let s = &v * &r % n;
    let parity = BigUint::from(27 + u32::from(point.y.to_canonical().bit(0)));
    let modulo_n = |value: i32| if value < 0 { n - value.unsigned_abs() } else { value.unsigned_abs().into() };
    let mut computed_again = 0;
    for (a, b) in (-6..=5).flat_map(|a| (-4..=3).map(move |b| (a, b))) {
        let digit = modulo_n(a) + modulo_n(b) * &lambda;
        let u = (2u32 * digit + n - &v) * &nonce % n;
        let e = (n - u * &r % n) % n;
        let input: Vec<u8> = [&e, &parity, &r, &s].into_iter().flat_map(|value| number(value, 32)).collect();
        check(contract, &mut compiled, &input, &format!("digit {a} + {b}·ω"));
        let (_, prepared) =
            compiled.iter_mut().find(|(revision, _)| *revision == residue_isa::Revision::Eip6690_2024).unwrap();
        computed_again += usize::from(prepared.run_without_memory(&input, 1_000_000).gas_used > 40_000);
    }
    // For 0 the sum is the identity, or the digit 0 if that is what the last one is.
    assert!(computed_again >= 2, "{computed_again}");
}

/// By k256: 1 or 0.
fn bip340(input: &[u8]) -> u8 {
    let verified = input.len() >= 96 && {
        let key = k256::schnorr::VerifyingKey::from_bytes(&input[..32]);
        let signature = k256::schnorr::Signature::try_from(&input[32..96]);
        matches!((key, signature), (Ok(key), Ok(signature)) if key.verify_raw(&input[96..], &signature).is_ok())
    };
    u8::from(verified)
}

/// A key that is no x of a point, so that ECRECOVER returns nothing, and s for which the hash that it is given is the address of the point over r.
fn with_address_for_hash(group: &Group<Secp256k1Fp>, r: &[u8], message: &[u8]) -> Vec<u8> {
    let n = &group.order;
    let element = Secp256k1Fp::from_canonical(&BigUint::from_bytes_be(r)).unwrap();
    let root = (element.square() * element + Secp256k1Fp::from_u64(7)).pow(&((Secp256k1Fp::modulus() + 1u32) >> 2u32));
    let y = if root.to_canonical().bit(0) { -root } else { root };
    let hash = keccak256([r, &number(&y.to_canonical(), 32)].concat());
    let address = BigUint::from_bytes_be(&hash[12..]);
    let key = BigUint::from(5u8); // 5³ + 7 is no square
    let s = (n - address) * group.inverse(&key) % n;
    [&number(&key, 32), r, &number(&s, 32), message].concat()
}

#[test]
fn schnorr_signatures_are_verified_as_by_k256() {
    let (contract, group) = (find("bip340/verify").unwrap(), secp256k1());
    let mut compiled = everywhere(contract);
    let (mut thin, _) = by_precompiles(&contract.program(), Fork::Osaka).unwrap();
    let n = &group.order;
    let mut seeded = Seeded(33);
    let even = |scalar: BigUint| {
        let point = group.multiple(&scalar);
        let scalar = if point.y.to_canonical().bit(0) { n - scalar } else { scalar };
        (scalar, number(&point.x.to_canonical(), 32))
    };
    let tag = <sha2::Sha256 as sha2::Digest>::digest(b"BIP0340/challenge");
    let mut valid = 0;
    for case in 0..cases(40) {
        let ((key, public), (nonce, r)) = (even(group.scalar(&mut seeded)), even(group.scalar(&mut seeded)));
        let length = [0, 1, 31, 32, 33, 100][seeded.below(6)];
        let message = seeded.bytes(length);
        let hashed = [&tag[..], &tag, &r, &public, &message].concat();
        let e = BigUint::from_bytes_be(&<sha2::Sha256 as sha2::Digest>::digest(hashed));
        let mut s = (&nonce + &e * &key) % n;
        let kind = case % 8;
        match kind {
            0..=2 => {}
            3 => s = (n - &nonce + &e * &key) % n, // R has an odd y
            4 => s = e * &key % n,                 // R is the identity
            5 => s = [n.clone(), (BigUint::from(1u8) << 256) - 1u32, BigUint::ZERO][seeded.below(3)].clone(),
            6 => s += 1u32,
            _ => s = n - s,
        }
        let mut input = [&public[..], &r, &number(&s, 32), &message].concat();
        let mut inputs = vec![input.clone()];
        if case % 4 == 0 {
            inputs.push(input[..seeded.below(input.len())].to_vec());
            let p = Secp256k1Fp::modulus();
            let at = 32 * seeded.below(2);
            input[at..at + 32].copy_from_slice(&number(&(p + seeded.below(3)), 32));
            inputs.push(input.clone());
            input[at..at + 32].copy_from_slice(&seeded.bytes(32));
            inputs.push(input.clone());
            inputs.push(with_address_for_hash(&group, &r, &message));
            for key in [0u32.into(), n + seeded.below(3)] {
                inputs.push([&number(&key, 32), &input[32..]].concat());
            }
            let at = seeded.below(input.len());
            input[at] ^= 1 << seeded.below(8);
            inputs.push(input);
        }
        for input in inputs {
            let answer = bip340(&input);
            valid += usize::from(answer);
            let (expected, what) = (number(&answer.into(), 32), format!("kind {kind}, case {case}"));
            returned_everywhere(&mut compiled, &input, &expected, &what);
            let outcome = thin.run_without_memory(&input, 1_000_000);
            assert_eq!((outcome.halt, outcome.output), (Halt::Return, expected), "{what}, by ECRECOVER");
        }
    }
    assert!(valid > 10, "{valid} signatures are valid");
}
