//! Inputs of every kind on a curve of arkworks, and the expected answers of contracts.

use crate::points::Seeded;
use ark_ec::pairing::Pairing;
use ark_ec::short_weierstrass::{Affine, Projective, SWCurveConfig};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, Field, PrimeField, Zero};
use num_bigint::BigUint;

/// Bytes of elements and scalars.
#[derive(Clone, Copy)]
pub struct Encoding {
    pub element_bytes: usize,
    pub scalar_bytes: usize,
}

type Made = (Vec<u8>, Option<Vec<u8>>);

fn number(value: &BigUint, bytes: usize) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; bytes - digits.len()], digits].concat()
}

fn elements<F: Field>(value: F) -> Vec<BigUint> {
    value.to_base_prime_field_elements().map(|element| element.into_bigint().into()).collect()
}

fn modulus<F: Field>() -> BigUint {
    F::BasePrimeField::MODULUS.into()
}

/// A point, or zeros for the identity.
pub fn encode<P: SWCurveConfig>(point: Affine<P>, encoding: Encoding) -> Vec<u8> {
    let count = 2 * P::BaseField::extension_degree() as usize;
    if point.is_zero() {
        return vec![0; count * encoding.element_bytes];
    }
    let coordinates = [point.x, point.y].map(elements);
    coordinates.iter().flatten().flat_map(|value| number(value, encoding.element_bytes)).collect()
}

fn element<F: Field>(s: &mut Seeded) -> F {
    let degree = F::extension_degree() as usize;
    let parts: Vec<F::BasePrimeField> =
        (0..degree).map(|_| F::BasePrimeField::from_le_bytes_mod_order(&s.bytes(112))).collect();
    F::from_base_prime_field_elems(parts).unwrap()
}

/// A point of the whole curve, almost never in the group.
pub fn any_point<P: SWCurveConfig>(s: &mut Seeded) -> Affine<P> {
    loop {
        let x = element(s);
        if let Some(point) = Affine::get_point_from_x_unchecked(x, s.word().is_multiple_of(2)) {
            return point;
        }
    }
}

/// [k]P by plain double and add: right on the whole curve, which methods for the subgroup need not be.
pub fn times<P: SWCurveConfig>(point: Affine<P>, k: &BigUint) -> Affine<P> {
    let mut sum = Projective::<P>::ZERO;
    for bit in (0..k.bits()).rev() {
        sum = sum + sum;
        if k.bit(bit) {
            sum += point.into_group();
        }
    }
    sum.into_affine()
}

fn order<P: SWCurveConfig>() -> BigUint {
    P::ScalarField::MODULUS.into()
}

fn cofactor<P: SWCurveConfig>() -> BigUint {
    P::COFACTOR.iter().rev().fold(BigUint::ZERO, |value, &limb| (value << 64u32) + limb)
}

/// A point of the group.
pub fn member<P: SWCurveConfig>(s: &mut Seeded) -> Affine<P> {
    let scalar = BigUint::from_bytes_le(&s.bytes(64)) % (order::<P>() - 1u32) + 1u32;
    times(Affine::generator(), &scalar)
}

/// A point of each of these orders, primes that divide the cofactor.
pub fn small_points<P: SWCurveConfig>(primes: &[u32]) -> Vec<Affine<P>> {
    let mut s = Seeded(11);
    let all = cofactor::<P>() * order::<P>();
    let of_order = |prime: u32, s: &mut Seeded| {
        let mut rest = all.clone();
        while &rest % prime == BigUint::ZERO {
            rest /= prime;
        }
        loop {
            let mut point = times(any_point::<P>(s), &rest);
            if point.is_zero() {
                continue;
            }
            while !times(point, &prime.into()).is_zero() {
                point = times(point, &prime.into());
            }
            return point;
        }
    };
    primes.iter().map(|&prime| of_order(prime, &mut s)).collect()
}

/// The point with y = 0 of y² = x³ ± 1.
pub fn order_two<P: SWCurveConfig>() -> Affine<P> {
    Affine::new_unchecked(-P::COEFF_B, P::BaseField::ZERO)
}

/// The point with the same y whose x is that of this one times a cube root of one.
fn turned<P: SWCurveConfig>(point: Affine<P>) -> Affine<P> {
    let exponent = (modulus::<P::BaseField>() - 1u32) / 3u32;
    let roots = (2u64..).map(|base| <P::BaseField as Field>::BasePrimeField::from(base).pow(exponent.to_u64_digits()));
    let root = roots.into_iter().find(|root| *root != Field::ONE).expect("a third of the numbers are no cubes");
    Affine::new_unchecked(point.x.mul_by_base_prime_field(&root), point.y)
}

/// The point with another y.
fn off_curve<P: SWCurveConfig>(s: &mut Seeded) -> Affine<P> {
    let point = any_point::<P>(s);
    Affine::new_unchecked(point.x, point.y + P::BaseField::ONE)
}

/// The same bytes with p added to an element, if that has room, or p for the first.
fn not_below_p<P: SWCurveConfig>(s: &mut Seeded, mut bytes: Vec<u8>, encoding: Encoding, count: usize) -> Vec<u8> {
    let at = encoding.element_bytes * s.below(count);
    let place = &mut bytes[at..at + encoding.element_bytes];
    let sum = BigUint::from_bytes_be(place) + modulus::<P::BaseField>();
    let sum = if sum.bits() > 8 * encoding.element_bytes as u64 { modulus::<P::BaseField>() } else { sum };
    place.copy_from_slice(&number(&sum, encoding.element_bytes));
    bytes
}

fn cut(s: &mut Seeded, bytes: &[u8]) -> Vec<u8> {
    bytes[..s.below(bytes.len())].to_vec()
}

/// Kinds of sums, and whether they are answered.
pub const SUMS: &[(&str, bool)] = &[
    ("any points", true),
    ("points of the group", true),
    ("a point twice", true),
    ("a point and its opposite", true),
    ("points with one y", true),
    ("points with opposite y", true),
    ("a point and the identity", true),
    ("the identity and a point", true),
    ("identities", true),
    ("order two", true),
    ("order two twice", true),
    ("off the curve", false),
    ("off the curve and the identity", false),
    ("not below p", false),
    ("cut", false),
    ("longer", false),
];

/// P ‖ Q and their sum.
pub fn sum<P: SWCurveConfig>(s: &mut Seeded, kind: &str, encoding: Encoding, two: Option<Affine<P>>) -> Made {
    let none = Affine::identity();
    let (p, q) = match kind {
        "points of the group" => (member::<P>(s), member(s)),
        "a point twice" => {
            let p = any_point(s);
            (p, p)
        }
        "a point and its opposite" => {
            let p: Affine<P> = any_point(s);
            (p, -p)
        }
        "points with one y" => {
            let p = any_point(s);
            (p, turned(p))
        }
        "points with opposite y" => {
            let p = any_point(s);
            (p, -turned(p))
        }
        "a point and the identity" => (any_point(s), none),
        "the identity and a point" => (none, any_point(s)),
        "identities" => (none, none),
        "order two" => (any_point(s), two.unwrap_or(none)),
        "order two twice" => (two.unwrap_or(none), two.unwrap_or(none)),
        "off the curve" => (any_point(s), off_curve(s)),
        "off the curve and the identity" => (off_curve(s), none),
        _ => (any_point(s), any_point(s)),
    };
    let bytes = [encode(p, encoding), encode(q, encoding)].concat();
    let is_answered = SUMS.iter().any(|&(other, is_answered)| other == kind && is_answered);
    let bytes = match kind {
        "not below p" => {
            let count = bytes.len() / encoding.element_bytes;
            not_below_p::<P>(s, bytes, encoding, count)
        }
        "cut" => cut(s, &bytes),
        "longer" => [bytes, vec![0]].concat(),
        _ => bytes,
    };
    (bytes, is_answered.then(|| encode((p + q).into_affine(), encoding)))
}

/// Kinds of products; the last four are refused.
pub const MULTIPLES: &[&str] = &[
    "any point, any scalar",
    "a point of the group, any scalar",
    "a small scalar",
    "zero",
    "r",
    "r − 1",
    "r + 1",
    "all bits",
    "a power of two",
    "the identity",
    "a small order",
    "a small order, a small scalar",
    "beside the group",
    "off the curve",
    "not below p",
    "cut",
    "longer",
];

fn point_and_scalar<P: SWCurveConfig>(
    s: &mut Seeded,
    kind: &str,
    encoding: Encoding,
    small: &[Affine<P>],
) -> (Affine<P>, BigUint) {
    let any = BigUint::from_bytes_be(&s.bytes(encoding.scalar_bytes));
    let small_point = |s: &mut Seeded| if small.is_empty() { member(s) } else { small[s.below(small.len())] };
    match kind {
        "a point of the group, any scalar" => (member(s), any),
        "a small scalar" => (any_point(s), s.below(20).into()),
        "zero" => (any_point(s), BigUint::ZERO),
        "r" => (member(s), order::<P>() % (BigUint::from(1u8) << (8 * encoding.scalar_bytes))),
        "r − 1" => (member(s), order::<P>() - 1u32),
        "r + 1" => (member(s), order::<P>() + 1u32),
        "all bits" => (any_point(s), (BigUint::from(1u8) << (8 * encoding.scalar_bytes)) - 1u32),
        "a power of two" => (any_point(s), BigUint::from(1u8) << s.below(8 * encoding.scalar_bytes)),
        "the identity" => (Affine::identity(), any),
        "a small order" => (small_point(s), any),
        "a small order, a small scalar" => (small_point(s), s.below(40).into()),
        "beside the group" => ((member::<P>(s) + small_point(s)).into_affine(), any),
        "off the curve" => (off_curve(s), any),
        _ => (any_point(s), any),
    }
}

fn is_refused(kind: &str) -> bool {
    ["off the curve", "not below p", "cut", "longer"].contains(&kind)
}

/// P ‖ k and k·P.
pub fn product<P: SWCurveConfig>(s: &mut Seeded, kind: &str, encoding: Encoding, small: &[Affine<P>]) -> Made {
    let (point, scalar) = point_and_scalar(s, kind, encoding, small);
    let bytes = [encode(point, encoding), number(&scalar, encoding.scalar_bytes)].concat();
    let count = (bytes.len() - encoding.scalar_bytes) / encoding.element_bytes;
    let bytes = match kind {
        "not below p" => not_below_p::<P>(s, bytes, encoding, count),
        "cut" => cut(s, &bytes),
        "longer" => [bytes, vec![0]].concat(),
        _ => bytes,
    };
    (bytes, (!is_refused(kind)).then(|| encode(times(point, &scalar), encoding)))
}

/// Several of them, one of this kind and the others with equal and opposite points too, and the sum of the products.
pub fn sum_of_products<P: SWCurveConfig>(s: &mut Seeded, kind: &str, encoding: Encoding, small: &[Affine<P>]) -> Made {
    if ["cut", "longer"].contains(&kind) {
        let (bytes, _) = product(s, kind, encoding, small);
        return (bytes, None);
    }
    let mut products = vec![product(s, kind, encoding, small)];
    let (point, scalar) = point_and_scalar::<P>(s, "any point, any scalar", encoding, small);
    let opposite = if s.below(2) == 0 { point } else { -point };
    for (point, scalar) in [(point, scalar.clone()), (opposite, scalar)].into_iter().take(s.below(3)) {
        let bytes = [encode(point, encoding), number(&scalar, encoding.scalar_bytes)].concat();
        products.push((bytes, Some(encode(times(point, &scalar), encoding))));
    }
    // Up to nine in all: some share doublings, and others are left.
    for _ in 0..s.below(7) {
        products.push(product(s, "any point, any scalar", encoding, small));
    }
    let last = s.below(products.len());
    products.swap(0, last);
    let input = products.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
    let sum = products
        .iter()
        .try_fold(Projective::<P>::ZERO, |sum, (_, product)| Some(sum + decode::<P>(product.as_ref()?, encoding)));
    (input, sum.map(|sum| encode(sum.into_affine(), encoding)))
}

fn decode<P: SWCurveConfig>(bytes: &[u8], encoding: Encoding) -> Affine<P> {
    if bytes.iter().all(|&byte| byte == 0) {
        return Affine::identity();
    }
    let coordinates = bytes.chunks(bytes.len() / 2).map(|coordinate| {
        let parts = coordinate
            .chunks(encoding.element_bytes)
            .map(<P::BaseField as Field>::BasePrimeField::from_be_bytes_mod_order);
        P::BaseField::from_base_prime_field_elems(parts).unwrap()
    });
    let [x, y] = coordinates.collect::<Vec<_>>().try_into().unwrap();
    Affine::new_unchecked(x, y)
}

/// Kinds of pairing checks.
pub const PAIRINGS: &[&str] = &[
    "a product of one",
    "a product that is not one",
    "the identity for P",
    "the identity for Q",
    "the identity for both",
    "P off the curve",
    "Q off the curve",
    "P outside",
    "Q outside",
    "P of the order of the cofactor",
    "Q of the order of the cofactor",
    "P with y = 0",
    "Q outside, P the identity",
    "P outside, Q the identity",
    "not below p",
    "p for zero",
    "nothing",
    "cut",
    "longer",
];

/// Pairs without the identity whose product is one; at least two.
pub fn product_of_one<P1: SWCurveConfig, P2: SWCurveConfig>(
    s: &mut Seeded,
    count: usize,
    encoding: Encoding,
) -> Vec<u8> {
    let r = order::<P1>();
    let mut sum = BigUint::ZERO;
    let mut pairs = Vec::new();
    for _ in 1..count {
        let [a, b] = [(); 2].map(|()| BigUint::from_bytes_le(&s.bytes(64)) % &r);
        let (p, q) = (times(Affine::<P1>::generator(), &a), times(Affine::<P2>::generator(), &b));
        pairs.extend([encode(p, encoding), encode(q, encoding)].concat());
        sum += a * b;
    }
    let last = times(Affine::<P1>::generator(), &(&r - sum % &r));
    pairs.extend([encode(last, encoding), encode(Affine::<P2>::generator(), encoding)].concat());
    pairs
}

/// A check and its answer, with arkworks' pairing as the judge of what is not one by how it is made.
pub fn pairing<E, P1, P2>(s: &mut Seeded, kind: &str, encoding: Encoding) -> Made
where
    P1: SWCurveConfig,
    P2: SWCurveConfig,
    E: Pairing<G1Affine = Affine<P1>, G2Affine = Affine<P2>>,
{
    let (p, q) = (member::<P1>(s), member::<P2>(s));
    let (p, q) = match kind {
        "the identity for P" => (Affine::identity(), q),
        "the identity for Q" => (p, Affine::identity()),
        "the identity for both" => (Affine::identity(), Affine::identity()),
        "P off the curve" => (off_curve(s), q),
        "Q off the curve" => (p, off_curve(s)),
        "P outside" => (any_point(s), q),
        "Q outside" => (p, any_point(s)),
        "P of the order of the cofactor" => (times(any_point::<P1>(s), &order::<P1>()), q),
        "Q of the order of the cofactor" => (p, times(any_point::<P2>(s), &order::<P2>())),
        "P with y = 0" => (order_two(), q),
        "Q outside, P the identity" => (Affine::identity(), any_point(s)),
        "P outside, Q the identity" => (any_point(s), Affine::identity()),
        _ => (p, q),
    };
    let count = s.below(2) + 2;
    let mut bytes = product_of_one::<P1, P2>(s, count, encoding);
    if kind != "a product of one" {
        let pair = [encode(p, encoding), encode(q, encoding)].concat();
        let at = pair.len() * s.below(count + 1);
        bytes.splice(at..at, pair);
    }
    let elements = bytes.len() / encoding.element_bytes;
    let bytes = match kind {
        "not below p" => not_below_p::<P1>(s, bytes, encoding, elements),
        "p for zero" => {
            let zeros = vec![0; bytes.len() / (count + 1)];
            let count = zeros.len() / encoding.element_bytes;
            not_below_p::<P1>(s, zeros, encoding, count)
        }
        "nothing" => Vec::new(),
        "cut" => {
            let bytes = cut(s, &bytes);
            if bytes.len().is_multiple_of(384) { bytes[..bytes.len().saturating_sub(1)].to_vec() } else { bytes }
        }
        "longer" => [bytes, vec![0]].concat(),
        _ => bytes,
    };
    let verdict = match kind {
        "a product of one" | "the identity for P" | "the identity for Q" | "the identity for both" => Some(true),
        "a product that is not one" => Some(E::pairing(p, q).is_zero()),
        _ => None,
    };
    (bytes, verdict.map(|is_one| [vec![0; 31], vec![u8::from(is_one)]].concat()))
}
