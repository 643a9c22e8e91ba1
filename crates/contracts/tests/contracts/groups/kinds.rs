//! Inputs of additions and of sums of products, kind by kind, each with its expected result.

use super::sides::{Side, negated, turned};
use crate::points::{Seeded, number, p, r};
use num_bigint::BigUint;

/// Verdict of the precompile on an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A point.
    Accepted,
    /// The identity.
    Identity,
    /// Nothing.
    Refused,
    /// Whatever the precompile says.
    Any,
}

use Verdict::{Accepted, Any, Identity, Refused};

/// A kind of input: its name, what comes of it, and how one of some points is made.
pub type Kind = (&'static str, Verdict, fn(&mut Seeded, &Side, usize) -> Vec<u8>);

/// Two points, the first or the second of which is `point`.
fn beside(s: &mut Seeded, side: &Side, point: Vec<u8>) -> Vec<u8> {
    let other = match s.below(4) {
        0 => side.identity(),
        _ => (side.member)(s),
    };
    if s.below(2) == 0 { [point, other].concat() } else { [other, point].concat() }
}

/// `bytes` with one of its elements replaced.
fn with_element(s: &mut Seeded, mut bytes: Vec<u8>, change: impl FnOnce(BigUint) -> BigUint) -> Vec<u8> {
    let at = 64 * s.below(bytes.len() / 64);
    let element = BigUint::from_bytes_be(&bytes[at..at + 64]);
    bytes[at..at + 64].copy_from_slice(&number(&change(element)));
    bytes
}

fn with_padding(s: &mut Seeded, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = 64 * s.below(bytes.len() / 64) + s.pick(&[0, 15, 1, 7, 8, 14]);
    bytes[at] = 1 << s.below(8);
    bytes
}

fn with_bit_turned(s: &mut Seeded, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = s.below(bytes.len());
    bytes[at] ^= 1 << s.below(8);
    bytes
}

fn two(s: &mut Seeded, side: &Side) -> Vec<u8> {
    [(side.member)(s), (side.member)(s)].concat()
}

/// Inputs of an addition.
pub const ADD: &[Kind] = &[
    ("two members", Accepted, |s, side, _| two(s, side)),
    ("a point twice", Accepted, |s, side, _| (side.member)(s).repeat(2)),
    ("a point and its negative", Identity, |s, side, _| {
        let point = (side.member)(s);
        [point.clone(), negated(&point)].concat()
    }),
    ("the identity first", Accepted, |s, side, _| [side.identity(), (side.member)(s)].concat()),
    ("the identity second", Accepted, |s, side, _| [(side.member)(s), side.identity()].concat()),
    ("the identity twice", Identity, |_, side, _| side.identity().repeat(2)),
    ("a stranger", Accepted, |s, side, _| {
        let point = (side.stranger)(s);
        beside(s, side, point)
    }),
    ("two strangers", Accepted, |s, side, _| [(side.stranger)(s), (side.stranger)(s)].concat()),
    ("a stranger twice", Accepted, |s, side, _| (side.stranger)(s).repeat(2)),
    ("a stranger and its negative", Identity, |s, side, _| {
        let point = (side.stranger)(s);
        [negated(&point), point].concat()
    }),
    ("small order", Accepted, |s, side, _| {
        let point = (side.small)(s);
        beside(s, side, point)
    }),
    ("small order twice", Accepted, |s, side, _| (side.small)(s).repeat(2)),
    ("small order and its negative", Identity, |s, side, _| {
        let point = (side.small)(s);
        [negated(&point), point].concat()
    }),
    ("small orders", Any, |s, side, _| [(side.small)(s), (side.small)(s)].concat()),
    ("strangers with one y", Accepted, |s, side, _| {
        let point = (side.stranger)(s);
        [turned(&point), point].concat()
    }),
    ("strangers with opposite y", Accepted, |s, side, _| {
        let point = (side.stranger)(s);
        [negated(&turned(&point)), point].concat()
    }),
    ("neighbouring multiples of the generator", Any, |s, side, _| {
        let k = s.scalar();
        [(side.multiple)(&k), (side.multiple)(&(k + s.below(3)))].concat()
    }),
    ("off the curve", Refused, |s, side, _| {
        let point = (side.off_curve)(s);
        beside(s, side, point)
    }),
    ("off the curve twice", Refused, |s, side, _| (side.off_curve)(s).repeat(2)),
    ("off the curve with one x", Refused, |s, side, _| {
        let point = (side.off_curve)(s);
        [negated(&point), point].concat()
    }),
    ("x without y", Refused, |s, side, _| {
        let mut point = (side.member)(s);
        let half = point.len() / 2;
        point[half..].fill(0);
        beside(s, side, point)
    }),
    ("y without x", Refused, |s, side, _| {
        let mut point = (side.member)(s);
        let half = point.len() / 2;
        point[..half].fill(0);
        beside(s, side, point)
    }),
    ("x and y exchanged", Refused, |s, side, _| {
        let mut point = (side.member)(s);
        let half = point.len() / 2;
        point.rotate_left(half);
        beside(s, side, point)
    }),
    ("the identity written with p", Refused, |s, side, _| {
        let point = with_element(s, side.identity(), |_| p());
        beside(s, side, point)
    }),
    ("an element p", Refused, |s, side, _| {
        let bytes = two(s, side);
        with_element(s, bytes, |_| p())
    }),
    ("an element with p added", Refused, |s, side, _| {
        let bytes = two(s, side);
        with_element(s, bytes, |element| element + p())
    }),
    ("an element 2³⁸⁴ − 1", Refused, |s, side, _| {
        let bytes = two(s, side);
        with_element(s, bytes, |_| (BigUint::from(1u8) << 384) - 1u32)
    }),
    ("padding that is not zero", Refused, |s, side, _| {
        let bytes = two(s, side);
        with_padding(s, bytes)
    }),
    ("padding that is not zero in the identity", Refused, |s, side, _| {
        let bytes = side.identity().repeat(2);
        with_padding(s, bytes)
    }),
    ("a byte too few", Refused, |s, side, _| {
        let mut bytes = two(s, side);
        bytes.pop();
        bytes
    }),
    ("a byte too many", Refused, |s, side, _| [two(s, side), vec![0]].concat()),
    ("another length", Refused, |s, side, _| {
        let length = s.pick(&[0, 1, 32, 64, 128, 160, 255, 257, 288, 320, 384, 511, 513]);
        let mut bytes = two(s, side);
        bytes.resize(length, 0);
        bytes
    }),
    ("a bit turned", Any, |s, side, _| {
        let bytes = two(s, side);
        with_bit_turned(s, bytes)
    }),
    ("bytes at random", Refused, |s, side, _| s.bytes(2 * side.point_bytes())),
];

/// Products, one after the other.
fn sum(products: &[(Vec<u8>, BigUint)]) -> Vec<u8> {
    products.iter().flat_map(|(point, scalar)| [point.clone(), scalar_bytes(scalar)].concat()).collect()
}

fn scalar_bytes(scalar: &BigUint) -> Vec<u8> {
    number(scalar)[32..].to_vec()
}

fn max() -> BigUint {
    (BigUint::from(1u8) << 256) - 1u32
}

/// A scalar of 256 bits.
fn any_scalar(s: &mut Seeded) -> BigUint {
    BigUint::from_bytes_be(&s.bytes(32))
}

/// A scalar that is special in some way.
fn special(s: &mut Seeded) -> BigUint {
    let z = BigUint::from(residue_curves::bls12_381::X_ABS);
    let of = [
        BigUint::ZERO,
        1u32.into(),
        2u32.into(),
        r() - 1u32,
        r(),
        r() + 1u32,
        r() * 2u32,
        r() * 2u32 + 1u32,
        max(),
        max() - 1u32,
        BigUint::from(1u8) << 255,
        z.clone() - 1u32,
        z.clone(),
        z.clone() + 1u32,
        z.pow(2) - 1u32,
        z.pow(2),
        z.pow(3) - 1u32,
        z.pow(3),
        r() - z.pow(2),
        BigUint::from(1u8) << s.below(256),
        (BigUint::from(1u8) << s.below(256)) - 1u32,
        BigUint::from_bytes_be(&[0x88; 32]),
        BigUint::from(s.word()),
    ];
    of[s.below(of.len())].clone()
}

type Products = Vec<(Vec<u8>, BigUint)>;

fn products(s: &mut Seeded, side: &Side, k: usize) -> Products {
    (0..k).map(|_| ((side.member)(s), any_scalar(s))).collect()
}

/// k products, one of which is of `point` and any scalar, special ones above all.
fn among(s: &mut Seeded, side: &Side, k: usize, point: Vec<u8>) -> Vec<u8> {
    let mut products = products(s, side, k);
    let scalar = if s.below(2) == 0 { special(s) } else { any_scalar(s) };
    products[s.below(k)] = (point, scalar);
    sum(&products)
}

/// Products of which those of the second half take away what those of the first give.
fn cancelling(s: &mut Seeded, side: &Side, k: usize) -> Products {
    let mut all = Vec::new();
    for _ in 0..k.div_ceil(2) {
        let (point, scalar) = ((side.member)(s), s.scalar());
        all.push((point.clone(), scalar.clone()));
        all.push(match s.below(3) {
            0 => (negated(&point), scalar),
            1 => (point, r() - scalar),
            _ => (point, r() * 2u32 - scalar),
        });
    }
    all
}

/// Inputs of a sum of products.
pub const MSM: &[Kind] = &[
    ("members", Accepted, |s, side, k| sum(&products(s, side, k))),
    ("special scalars", Any, |s, side, k| {
        let products: Products = (0..k).map(|_| ((side.member)(s), special(s))).collect();
        sum(&products)
    }),
    ("scalars 0", Identity, |s, side, k| {
        let products: Products = (0..k).map(|_| ((side.member)(s), BigUint::ZERO)).collect();
        sum(&products)
    }),
    ("scalars r", Identity, |s, side, k| {
        let products: Products = (0..k).map(|_| ((side.member)(s), r())).collect();
        sum(&products)
    }),
    ("scalars 1", Accepted, |s, side, k| {
        let products: Products = (0..k).map(|_| ((side.member)(s), 1u32.into())).collect();
        sum(&products)
    }),
    ("scalars 2²⁵⁶ − 1", Accepted, |s, side, k| {
        let products: Products = (0..k).map(|_| ((side.member)(s), max())).collect();
        sum(&products)
    }),
    ("one point many times", Accepted, |s, side, k| {
        let point = (side.member)(s);
        let products: Products = (0..k).map(|_| (point.clone(), s.scalar() >> 10)).collect();
        sum(&products)
    }),
    ("one product many times", Accepted, |s, side, k| {
        let product = ((side.member)(s), s.scalar());
        sum(&vec![product; k])
    }),
    ("a cancelling sum", Identity, |s, side, k| sum(&cancelling(s, side, k))),
    ("a cancelling sum and one product", Accepted, |s, side, k| {
        let mut products = cancelling(s, side, k);
        let at = s.below(products.len());
        products.insert(at, ((side.member)(s), s.scalar()));
        sum(&products)
    }),
    ("multiples of the generator by small scalars", Any, |s, side, k| {
        let small = |s: &mut Seeded| BigUint::from(s.below(20));
        let products: Products = (0..k)
            .map(|_| {
                let point = (side.multiple)(&small(s));
                (if s.below(2) == 0 { negated(&point) } else { point }, small(s))
            })
            .collect();
        sum(&products)
    }),
    ("identities", Identity, |s, side, k| {
        let products: Products = (0..k).map(|_| (side.identity(), any_scalar(s))).collect();
        sum(&products)
    }),
    ("an identity", Any, |s, side, k| {
        let point = side.identity();
        among(s, side, k, point)
    }),
    ("a stranger", Refused, |s, side, k| {
        let point = (side.stranger)(s);
        among(s, side, k, point)
    }),
    ("small order", Refused, |s, side, k| {
        let point = (side.small)(s);
        among(s, side, k, point)
    }),
    ("small order twice", Refused, |s, side, _| {
        let (point, scalar) = ((side.small)(s), special(s));
        sum(&[(point.clone(), scalar.clone()), (negated(&point), scalar)])
    }),
    ("a part of small order", Refused, |s, side, k| {
        let point = (side.mixed)(s);
        among(s, side, k, point)
    }),
    ("a part of small order and its negative", Refused, |s, side, _| {
        let (point, scalar) = ((side.mixed)(s), any_scalar(s));
        sum(&[(negated(&point), scalar.clone()), (point, scalar)])
    }),
    ("off the curve", Refused, |s, side, k| {
        let point = (side.off_curve)(s);
        among(s, side, k, point)
    }),
    ("x and y exchanged", Refused, |s, side, k| {
        let mut point = (side.member)(s);
        let half = point.len() / 2;
        point.rotate_left(half);
        among(s, side, k, point)
    }),
    ("x without y", Refused, |s, side, k| {
        let mut point = (side.member)(s);
        let half = point.len() / 2;
        point[half..].fill(0);
        among(s, side, k, point)
    }),
    ("y without x", Refused, |s, side, k| {
        let mut point = (side.member)(s);
        let half = point.len() / 2;
        point[..half].fill(0);
        among(s, side, k, point)
    }),
    ("an element p", Refused, |s, side, k| {
        let point = (side.member)(s);
        let point = with_element(s, point, |_| p());
        among(s, side, k, point)
    }),
    ("the identity written with p", Refused, |s, side, k| {
        let point = with_element(s, side.identity(), |_| p());
        among(s, side, k, point)
    }),
    ("an element with p added", Refused, |s, side, k| {
        let point = (side.member)(s);
        let point = with_element(s, point, |element| element + p());
        among(s, side, k, point)
    }),
    ("padding that is not zero", Refused, |s, side, k| {
        let point = (side.member)(s);
        let point = with_padding(s, point);
        among(s, side, k, point)
    }),
    ("padding that is not zero in the identity", Refused, |s, side, k| {
        let point = with_padding(s, side.identity());
        among(s, side, k, point)
    }),
    ("no input", Refused, |_, _, _| Vec::new()),
    ("a byte too few", Refused, |s, side, k| {
        let mut bytes = sum(&products(s, side, k));
        bytes.pop();
        bytes
    }),
    ("a byte too many", Refused, |s, side, k| [sum(&products(s, side, k)), vec![0]].concat()),
    ("a scalar too few", Refused, |s, side, k| {
        let mut bytes = sum(&products(s, side, k));
        bytes.truncate(bytes.len() - 32);
        bytes
    }),
    ("zeros of another length", Refused, |s, _, _| vec![0; s.pick(&[1, 32, 64, 128, 159, 161, 256, 287, 289])]),
    ("a bit turned", Any, |s, side, k| {
        let bytes = sum(&products(s, side, k));
        with_bit_turned(s, bytes)
    }),
    ("bytes at random", Refused, |s, side, k| s.bytes((side.point_bytes() + 32) * k)),
];
