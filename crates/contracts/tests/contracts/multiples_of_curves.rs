//! Multiples and their sums on Grumpkin, the Pasta curves, Baby Jubjub and Bandersnatch against arkworks, and signatures on Baby Jubjub.

use crate::points::Seeded;
use crate::support::{cases, everywhere, refused_everywhere, returned_everywhere};
use ark_ec::short_weierstrass::{Affine as Short, SWCurveConfig};
use ark_ec::twisted_edwards::Affine as Edwards;
use ark_ec::{AffineRepr, CurveGroup};
use ark_ed_on_bls12_381_bandersnatch::EdwardsAffine as BandersnatchPoint;
use ark_ed_on_bn254::EdwardsConfig;
use ark_ff::{BigInteger, Field, PrimeField, UniformRand};
use num_bigint::BigUint;
use residue_contracts::find;
use residue_ir::{Outcome, evaluate};

/// A scalar: small, the order and around it, all bits set, or any.
fn scalar(seeded: &mut Seeded, order: &BigUint) -> BigUint {
    match seeded.below(8) {
        0 => BigUint::from(seeded.below(20)),
        1 => order - 1u32 - seeded.below(8),
        2 => order.clone(),
        3 => order + 1u32,
        4 => (BigUint::from(1u8) << 256) - 1u32,
        5 => BigUint::from(1u8) << seeded.below(256),
        _ => BigUint::from_bytes_be(&seeded.bytes(32)),
    }
}

fn word(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

fn element<F: PrimeField>(value: &F) -> Vec<u8> {
    let digits = value.into_bigint().to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

/// A curve of another library, with points in our encoding.
trait Judge {
    type Point: Copy;
    fn encoded(point: Self::Point) -> Vec<u8>;
    /// Any point, one of a small order, or the identity.
    fn any(seeded: &mut Seeded) -> Self::Point;
    fn sum(products: &[(Self::Point, BigUint)]) -> Self::Point;
    /// The order of all points.
    fn order() -> BigUint;
    fn modulus() -> BigUint;
}

fn rng(seeded: &mut Seeded) -> ark_std::rand::rngs::StdRng {
    let seed = <[u8; 32]>::try_from(seeded.bytes(32)).unwrap();
    ark_std::rand::SeedableRng::from_seed(seed)
}

struct OnShort<C>(C);

impl<C: SWCurveConfig> Judge for OnShort<C>
where
    C::BaseField: PrimeField,
{
    type Point = Short<C>;

    fn encoded(point: Short<C>) -> Vec<u8> {
        point.xy().map_or(vec![0; 64], |(x, y)| [element(&x), element(&y)].concat())
    }

    fn any(seeded: &mut Seeded) -> Short<C> {
        match seeded.below(5) {
            0 => Short::identity(),
            1 => Short::generator(),
            2 => -Short::generator(),
            _ => Short::rand(&mut rng(seeded)),
        }
    }

    fn sum(products: &[(Short<C>, BigUint)]) -> Short<C> {
        let multiple = |(point, scalar): &(Short<C>, BigUint)| point.mul_bigint(scalar.to_u64_digits());
        products.iter().map(multiple).fold(Short::identity().into_group(), |sum, product| sum + product).into_affine()
    }

    fn order() -> BigUint {
        C::ScalarField::MODULUS.into()
    }

    fn modulus() -> BigUint {
        C::BaseField::MODULUS.into()
    }
}

/// Arkworks has the isomorphic curve with a = 1: its x is ours times a root of 168700.
struct OnEdwards;

fn root() -> ark_bn254::Fr {
    ark_bn254::Fr::from(168_700u32).sqrt().unwrap()
}

impl Judge for OnEdwards {
    type Point = Edwards<EdwardsConfig>;

    fn encoded(point: Self::Point) -> Vec<u8> {
        [element(&(point.x / root())), element(&point.y)].concat()
    }

    fn any(seeded: &mut Seeded) -> Self::Point {
        let any = Self::Point::get_point_from_y_unchecked;
        match seeded.below(6) {
            0 => Edwards::zero(),
            1 => Edwards::generator(),
            // Of order 2, and of order 4.
            2 => Edwards::new_unchecked(0u32.into(), -ark_bn254::Fr::from(1u32)),
            3 => Edwards::new_unchecked(1u32.into(), 0u32.into()),
            // Of the whole curve.
            _ => loop {
                if let Some(point) = any(ark_bn254::Fr::rand(&mut rng(seeded)), seeded.below(2) == 0) {
                    return point;
                }
            },
        }
    }

    fn sum(products: &[(Self::Point, BigUint)]) -> Self::Point {
        let multiple = |(point, scalar): &(Self::Point, BigUint)| point.mul_bigint(scalar.to_u64_digits());
        products.iter().map(multiple).fold(Edwards::zero().into_group(), |sum, product| sum + product).into_affine()
    }

    fn order() -> BigUint {
        BigUint::from(ark_ed_on_bn254::Fr::MODULUS) * 8u32
    }

    fn modulus() -> BigUint {
        ark_bn254::Fr::MODULUS.into()
    }
}

/// Bandersnatch, whose contracts take points of the subgroup alone.
struct OnBandersnatch;

/// A point of the whole curve, by its y.
fn any_on_bandersnatch(seeded: &mut Seeded) -> BandersnatchPoint {
    loop {
        let y = ark_ed_on_bls12_381_bandersnatch::Fq::rand(&mut rng(seeded));
        if let Some(point) = BandersnatchPoint::get_point_from_y_unchecked(y, seeded.below(2) == 0) {
            return point;
        }
    }
}

impl Judge for OnBandersnatch {
    type Point = BandersnatchPoint;

    fn encoded(point: Self::Point) -> Vec<u8> {
        [element(&point.x), element(&point.y)].concat()
    }

    fn any(seeded: &mut Seeded) -> Self::Point {
        match seeded.below(5) {
            0 => BandersnatchPoint::zero(),
            1 => BandersnatchPoint::generator(),
            2 => -BandersnatchPoint::generator(),
            _ => BandersnatchPoint::rand(&mut rng(seeded)),
        }
    }

    fn sum(products: &[(Self::Point, BigUint)]) -> Self::Point {
        let multiple = |(point, scalar): &(Self::Point, BigUint)| point.mul_bigint(scalar.to_u64_digits());
        products
            .iter()
            .map(multiple)
            .fold(BandersnatchPoint::zero().into_group(), |sum, product| sum + product)
            .into_affine()
    }

    fn order() -> BigUint {
        ark_ed_on_bls12_381_bandersnatch::Fr::MODULUS.into()
    }

    fn modulus() -> BigUint {
        ark_ed_on_bls12_381_bandersnatch::Fq::MODULUS.into()
    }
}

fn check<J: Judge>(name: &str, is_identity_zero: bool) {
    let mut seeded = Seeded(61);
    let product = |seeded: &mut Seeded| {
        let (point, scalar) = (J::any(seeded), scalar(seeded, &J::order()));
        ([J::encoded(point), word(&scalar)].concat(), (point, scalar))
    };
    let mut mul = everywhere(find(&format!("{name}/mul")).unwrap());
    for case in 0..cases(16) {
        let (input, product) = product(&mut seeded);
        returned_everywhere(&mut mul, &input, &J::encoded(J::sum(&[product])), &format!("{name}/mul, case {case}"));
    }
    let mut msm = everywhere(find(&format!("{name}/msm")).unwrap());
    for case in 0..cases(11) {
        let (mut inputs, mut products): (Vec<_>, Vec<_>) = (0..case % 11).map(|_| product(&mut seeded)).unzip();
        // A point twice, and its opposite: sums meet equal points and the identity.
        if case % 3 == 2 && !inputs.is_empty() {
            inputs.push(inputs[0].clone());
            products.push(products[0].clone());
        }
        let expected = J::encoded(J::sum(&products));
        returned_everywhere(&mut msm, &inputs.concat(), &expected, &format!("{name}/msm, case {case}"));
    }
    let (good, _) = product(&mut seeded);
    let one = word(&1u32.into());
    let mut bad = vec![
        [one.clone(), one.clone(), one.clone()].concat(),
        [word(&J::modulus()), word(&0u32.into()), one.clone()].concat(),
        [word(&0u32.into()), word(&J::modulus()), one.clone()].concat(),
        [vec![0xff; 64], one.clone()].concat(),
    ];
    if !is_identity_zero {
        bad.push([vec![0; 64], one.clone()].concat());
    }
    for input in bad {
        refused_everywhere(&mut mul, &input, &format!("{name}, no point"));
        refused_everywhere(&mut msm, &[&good[..], &input].concat(), &format!("{name}, no point"));
        refused_everywhere(&mut msm, &[good.repeat(3), input].concat(), &format!("{name}, no point"));
    }
    for length in [0, 64, 95] {
        refused_everywhere(&mut mul, &good[..length], &format!("{name}, {length} bytes"));
    }
    refused_everywhere(&mut mul, &[&good[..], &[0]].concat(), &format!("{name}, a byte more"));
    refused_everywhere(&mut msm, &good[..95], &format!("{name}, a byte less"));
}

#[test]
fn multiples_on_grumpkin() {
    check::<OnShort<ark_grumpkin::GrumpkinConfig>>("grumpkin", true);
}

#[test]
fn multiples_on_pallas() {
    check::<OnShort<ark_pallas::PallasConfig>>("pallas", true);
}

#[test]
fn multiples_on_vesta() {
    check::<OnShort<ark_vesta::VestaConfig>>("vesta", true);
}

#[test]
fn multiples_on_bandersnatch() {
    check::<OnBandersnatch>("bandersnatch", false);
}

/// Of the four cosets of the subgroup three are refused, on points with small parts of every kind that has coordinates.
#[test]
fn points_outside_the_subgroup_of_bandersnatch_are_refused() {
    let mut seeded = Seeded(62);
    let mut mul = everywhere(find("bandersnatch/mul").unwrap());
    let one = word(&1u32.into());
    // Of order two.
    let two = BandersnatchPoint::new_unchecked(0u32.into(), -ark_ed_on_bls12_381_bandersnatch::Fq::from(1u32));
    let mut outside = vec![two];
    let mut members = 0;
    for _ in 0..cases(12) {
        let point = any_on_bandersnatch(&mut seeded);
        if point.is_in_correct_subgroup_assuming_on_curve() {
            members += 1;
            let input = [OnBandersnatch::encoded(point), one.clone()].concat();
            returned_everywhere(&mut mul, &input, &OnBandersnatch::encoded(point), "a member");
        } else {
            outside.push(point);
        }
        // A member and (0, −1): −x and −y.
        let member = BandersnatchPoint::rand(&mut rng(&mut seeded));
        outside.push(BandersnatchPoint::new_unchecked(-member.x, -member.y));
    }
    assert!(members > 0, "a quarter of all points are members");
    for point in outside {
        assert!(point.is_on_curve());
        let input = [OnBandersnatch::encoded(point), one.clone()].concat();
        refused_everywhere(&mut mul, &input, &format!("{point}, outside"));
    }
}

#[test]
fn multiples_on_baby_jubjub() {
    check::<OnEdwards>("baby_jubjub", false);
}

/// A point of Baby Jubjub as arkworks has it, of our coordinates.
fn on_edwards(x: ark_bn254::Fr, y: ark_bn254::Fr) -> Edwards<EdwardsConfig> {
    Edwards::new_unchecked(x * root(), y)
}

fn base_of_signatures() -> Edwards<EdwardsConfig> {
    let base = residue_curves::twisted_edwards::BABY_JUBJUB.base();
    on_edwards(base.x.into(), base.y.into())
}

/// Poseidon of R, the key and the message, by a program that `crates/judges` holds to light-poseidon.
fn challenge(key: &[u8], r: &[u8], message: &[u8]) -> BigUint {
    let inputs = [r, key, message].concat();
    match evaluate(&find("poseidon/t6").unwrap().program(), &inputs) {
        Outcome::Returned(hash) => BigUint::from_bytes_be(&hash),
        ended => panic!("{ended:?}"),
    }
}

/// By the definition, with arkworks' arithmetic: S·B = R + 8·h·A.
fn is_signature(input: &[u8]) -> bool {
    if input.len() != 192 {
        return false;
    }
    let l = BigUint::from(ark_ed_on_bn254::Fr::MODULUS);
    let words: Vec<BigUint> = input.chunks(32).map(BigUint::from_bytes_be).collect();
    let is_below = |(at, word): (usize, &BigUint)| *word < if at == 4 { l.clone() } else { OnEdwards::modulus() };
    if !words.iter().enumerate().all(is_below) {
        return false;
    }
    let point = |at: usize| on_edwards(words[at].clone().into(), words[at + 1].clone().into());
    let (key, r) = (point(0), point(2));
    if !key.is_on_curve() || !r.is_on_curve() {
        return false;
    }
    let eightfold = key.mul_bigint([8u64]);
    let h = challenge(&input[..64], &input[64..128], &input[160..]);
    let left = base_of_signatures().mul_bigint(words[4].to_u64_digits());
    eightfold != Edwards::zero().into_group() && left == eightfold.into_affine().mul_bigint(h.to_u64_digits()) + r
}

/// A key, a nonce's point and a message with S, good or spoiled as the number says.
fn signed(seeded: &mut Seeded, case: usize) -> Vec<u8> {
    let l = BigUint::from(ark_ed_on_bn254::Fr::MODULUS);
    let multiple = |k: &BigUint| base_of_signatures().mul_bigint(k.to_u64_digits()).into_affine();
    let [secret, nonce] = [0; 2].map(|_| scalar(seeded, &l));
    let (mut key, mut r) = (multiple(&secret), multiple(&nonce));
    let of_small_order = Edwards::new_unchecked(1u32.into(), 0u32.into());
    let mut secret = secret;
    match case % 12 {
        4 => key = (key + of_small_order).into_affine(), // 8A is the same
        5 => r = (r + of_small_order).into_affine(),
        6 => (key, secret) = (of_small_order, BigUint::ZERO), // 8A is the identity
        7 => key = -key,
        _ => {}
    }
    let (key, mut r) = (OnEdwards::encoded(key), OnEdwards::encoded(r));
    let mut message = word(&(BigUint::from_bytes_be(&seeded.bytes(32)) % OnEdwards::modulus()));
    let mut s = (nonce + 8u32 * challenge(&key, &r, &message) * secret) % &l;
    match case % 12 {
        8 => s += &l,
        9 => message = word(&(BigUint::from_bytes_be(&message) + OnEdwards::modulus())),
        10 => r[63] ^= 1,
        11 => s = (s + 1u32) % &l,
        _ => {}
    }
    [key, r, word(&s), message].concat()
}

#[test]
fn signatures_on_baby_jubjub_are_those_of_the_definition() {
    let contract = find("baby_jubjub/eddsa").unwrap();
    let mut compiled = everywhere(contract);
    let mut seeded = Seeded(63);
    // circomlibjs 0.1.7, test/eddsa.js: the signature of Poseidon.
    let published = [
        "13277427435165878497778222415993513565335242147425444199013288855685581939618",
        "13622229784656158136036771217484571176836296686641868549125388198837476602820",
        "11384336176656855268977457483345535180380036354188103142384839473266348197733",
        "15383486972088797283337779941324724402501462225528836549661220478783371668959",
        "1672775540645840396591609181675628451599263765380031905495115170613215233181",
        "42649378395939397566720",
    ];
    let published = published.iter().flat_map(|digits| word(&digits.parse().unwrap())).collect::<Vec<_>>();
    assert!(is_signature(&published));
    let mut inputs = vec![published.clone(), published[..191].to_vec(), [&published[..], &[0]].concat(), Vec::new()];
    for at in 0..6 {
        let mut changed = published.clone();
        changed[32 * at + seeded.below(32)] ^= 1 << seeded.below(8);
        inputs.push(changed);
    }
    inputs.extend((0..cases(24)).map(|case| signed(&mut seeded, case)));
    let mut valid = 0;
    for (number, input) in inputs.iter().enumerate() {
        let is_valid = is_signature(input);
        valid += usize::from(is_valid);
        returned_everywhere(&mut compiled, input, &word(&u8::from(is_valid).into()), &format!("input {number}"));
    }
    assert!(valid > 8 && valid < inputs.len() - 15, "{valid} of {} are signatures", inputs.len());
}
