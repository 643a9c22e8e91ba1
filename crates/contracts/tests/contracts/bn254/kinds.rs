//! Inputs of the contracts on BN254, kind by kind, each with its expected result.

use super::points::{SMALL, encode1, encode2, g1, g2, number, p, r, scalar, times1, times2, twist_point};
use crate::points::Seeded;
use ark_bn254::{G1Affine, G2Affine};
use ark_ec::AffineRepr;
use num_bigint::BigUint;

/// Verdict of the precompile on an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Something.
    Accepted,
    /// Zeros: the identity, or a product that is not one.
    Zero,
    /// A point, or that the product is one.
    NotZero,
    /// Nothing.
    Refused,
    /// Whatever the precompile says.
    Any,
}

use Verdict::{Accepted, Any, NotZero, Refused, Zero};

/// A kind of input: its name, what comes of it, and how one is made.
pub type Kind = (&'static str, Verdict, fn(&mut Seeded) -> Vec<u8>);

const IDENTITY: [u8; 64] = [0; 64];
const IDENTITY_2: [u8; 128] = [0; 128];

fn point(s: &mut Seeded) -> Vec<u8> {
    encode1(g1(s))
}

/// A point whose coordinates do not fit.
fn off_curve(s: &mut Seeded) -> Vec<u8> {
    let mut bytes = point(s);
    match s.below(4) {
        0 => bytes[..32].fill(0),
        1 => bytes[32..].fill(0),
        2 => bytes[31] ^= 1,
        _ => bytes[63] ^= 2,
    }
    bytes
}

/// p or more added to one of the elements of 32 bytes, where it has room.
fn not_below_p(s: &mut Seeded, mut bytes: Vec<u8>, elements: usize) -> Vec<u8> {
    let at = 32 * s.below(elements);
    let element = BigUint::from_bytes_be(&bytes[at..at + 32]);
    let most = (BigUint::from(1u8) << 256) - 1u32;
    let value = match s.below(4) {
        0 => p(),
        1 => most,
        2 => element + p() * 4u32,
        _ => element + p(),
    };
    bytes[at..at + 32].copy_from_slice(&number(&value));
    bytes
}

fn with_bit_turned(s: &mut Seeded, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = s.below(bytes.len());
    bytes[at] ^= 1 << s.below(8);
    bytes
}

fn cut(s: &mut Seeded, mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(s.below(bytes.len()));
    bytes
}

fn longer(s: &mut Seeded, bytes: Vec<u8>) -> Vec<u8> {
    let count = 1 + s.below(70);
    [bytes, s.bytes(count)].concat()
}

/// Inputs of the addition.
pub const ADD: &[Kind] = &[
    ("two points", NotZero, |s| [point(s), point(s)].concat()),
    ("a point twice", NotZero, |s| point(s).repeat(2)),
    ("a point and its negative", Zero, |s| {
        let point = g1(s);
        [encode1(point), encode1(-point)].concat()
    }),
    ("the identity first", NotZero, |s| [IDENTITY.to_vec(), point(s)].concat()),
    ("the identity second", NotZero, |s| [point(s), IDENTITY.to_vec()].concat()),
    ("the identity twice", Zero, |_| IDENTITY.repeat(2)),
    ("two points with one y", NotZero, |s| {
        let point = g1(s);
        [encode1(point), encode1(times1(point, &lambda()))].concat()
    }),
    ("two points with opposite y", NotZero, |s| {
        let point = g1(s);
        [encode1(point), encode1(-times1(point, &lambda()))].concat()
    }),
    ("neighbouring multiples of the generator", Accepted, |s| {
        let k = scalar(s);
        let other = &k + s.below(3);
        [k, other].map(|k| encode1(times1(G1Affine::generator(), &k))).concat()
    }),
    ("off the curve first", Refused, |s| [off_curve(s), point(s)].concat()),
    ("off the curve second", Refused, |s| [point(s), off_curve(s)].concat()),
    ("off the curve and the identity", Refused, |s| [off_curve(s), IDENTITY.to_vec()].concat()),
    ("off the curve twice", Refused, |s| off_curve(s).repeat(2)),
    ("not below p", Refused, |s| {
        let bytes = [point(s), point(s)].concat();
        not_below_p(s, bytes, 4)
    }),
    ("zeros and p", Refused, |s| not_below_p(s, IDENTITY.repeat(2), 4)),
    ("cut", Any, |s| {
        let bytes = [point(s), point(s)].concat();
        cut(s, bytes)
    }),
    ("one point", NotZero, point),
    ("nothing", Zero, |_| Vec::new()),
    ("longer", NotZero, |s| {
        let bytes = [point(s), point(s)].concat();
        longer(s, bytes)
    }),
    ("a bit turned", Any, |s| {
        let bytes = [point(s), point(s)].concat();
        with_bit_turned(s, bytes)
    }),
    ("anything", Any, |s| s.bytes(128)),
];

/// 6x² + 2x.
fn step() -> BigUint {
    let x = BigUint::from(residue_curves::bn254::X);
    &x * &x * 6u32 + x * 2u32
}

/// Eigenvalue of the endomorphism (x, y) ↦ (β·x, y).
fn lambda() -> BigUint {
    let odd = BigUint::from(residue_curves::bn254::X) * 2u32 + 1u32;
    step() * odd.modpow(&(r() - 2u32), &r()) % r()
}

/// 32 bytes of a scalar that is less usual.
fn edge_scalar(s: &mut Seeded) -> Vec<u8> {
    let base = match s.below(7) {
        0 => BigUint::ZERO,
        1 => r() * (1 + s.below(4)) as u64,
        2 => BigUint::from(1u8) << s.below(256),
        3 => step() * BigUint::from_bytes_le(&s.bytes(15)),
        4 => lambda() * s.below(9) + r(),
        5 => BigUint::from(residue_curves::bn254::X).pow(s.below(5) as u32),
        _ => (BigUint::from(1u8) << 256) - 9u32,
    };
    let words = BigUint::from(1u8) << 256;
    let value = base + &words + s.below(9) - 4u32 + if s.below(2) == 0 { r() } else { BigUint::ZERO };
    number(&(value % words))
}

/// Inputs of the multiplication.
pub const MUL: &[Kind] = &[
    ("a point and a scalar", NotZero, |s| [point(s), number(&scalar(s))].concat()),
    ("a point and any number", Accepted, |s| [point(s), s.bytes(32)].concat()),
    ("a point and a scalar at an edge", Accepted, |s| [point(s), edge_scalar(s)].concat()),
    ("the generator and a scalar at an edge", Accepted, |s| [encode1(G1Affine::generator()), edge_scalar(s)].concat()),
    ("a point and a small scalar", Accepted, |s| [point(s), number(&s.below(20).into())].concat()),
    ("a point and zero", Zero, |s| [point(s), vec![0; 32]].concat()),
    ("a point and r", Zero, |s| [point(s), number(&r())].concat()),
    ("a point and r − 1", NotZero, |s| [point(s), number(&(r() - 1u32))].concat()),
    ("the identity", Zero, |s| [IDENTITY.to_vec(), s.bytes(32)].concat()),
    ("off the curve", Refused, |s| [off_curve(s), s.bytes(32)].concat()),
    ("off the curve and zero", Refused, |s| [off_curve(s), vec![0; 32]].concat()),
    ("not below p", Refused, |s| {
        let bytes = [point(s), s.bytes(32)].concat();
        not_below_p(s, bytes, 2)
    }),
    ("cut", Any, |s| {
        let bytes = [point(s), s.bytes(32)].concat();
        cut(s, bytes)
    }),
    ("cut in the scalar", Accepted, |s| {
        let count = s.below(32);
        [point(s), s.bytes(count)].concat()
    }),
    ("nothing", Zero, |_| Vec::new()),
    ("longer", Accepted, |s| {
        let bytes = [point(s), s.bytes(32)].concat();
        longer(s, bytes)
    }),
    ("a bit turned", Any, |s| {
        let bytes = [point(s), s.bytes(32)].concat();
        with_bit_turned(s, bytes)
    }),
];

/// A kind of sum: its name, whether it is accepted if there are products, and how one of a number of products is made.
pub type SumKind = (&'static str, bool, fn(&mut Seeded, usize) -> Vec<u8>);

fn products(count: usize, mut product: impl FnMut(usize) -> [Vec<u8>; 2]) -> Vec<u8> {
    (0..count).flat_map(|index| product(index).concat()).collect()
}

/// Products of which one anywhere has this point.
fn with_point(s: &mut Seeded, count: usize, bad: fn(&mut Seeded) -> Vec<u8>) -> Vec<u8> {
    let at = s.below(count.max(1));
    products(count, |index| [if index == at { bad(s) } else { point(s) }, s.bytes(32)])
}

/// T, which sums of products begin with: 3¹⁶⁰·G.
fn hidden() -> G1Affine {
    times1(G1Affine::generator(), &BigUint::from(3u8).modpow(&160u32.into(), &r()))
}

/// Inputs of the sum of products.
pub const SUMS: &[SumKind] = &[
    ("any points and numbers", true, |s, count| products(count, |_| [point(s), s.bytes(32)])),
    ("one point", true, |s, count| {
        let point = point(s);
        products(count, |_| [point.clone(), edge_scalar(s)])
    }),
    ("equal products", true, |s, count| {
        let product = [point(s), s.bytes(32)];
        products(count, |_| product.clone())
    }),
    ("opposite points, one scalar", true, |s, count| {
        let (point, scalar) = (g1(s), s.bytes(32));
        products(count, |index| [encode1(if index % 2 == 0 { point } else { -point }), scalar.clone()])
    }),
    ("opposite scalars", true, |s, count| {
        let (point, scalar) = (point(s), scalar(s));
        products(count, |index| [point.clone(), number(&if index % 2 == 0 { scalar.clone() } else { r() - &scalar })])
    }),
    ("images of one point", true, |s, count| {
        let (point, scalar) = (g1(s), s.bytes(32));
        products(count, |index| [encode1(times1(point, &lambda().pow((index % 3) as u32))), scalar.clone()])
    }),
    ("some identities", true, |s, count| {
        products(count, |_| [if s.below(2) == 0 { IDENTITY.to_vec() } else { point(s) }, s.bytes(32)])
    }),
    ("identities", true, |s, count| products(count, |_| [IDENTITY.to_vec(), s.bytes(32)])),
    ("zeros and multiples of r", true, |s, count| products(count, |_| [point(s), number(&(r() * s.below(6)))])),
    ("small scalars", true, |s, count| products(count, |_| [point(s), number(&s.below(4).into())])),
    ("edges", true, |s, count| products(count, |_| [point(s), edge_scalar(s)])),
    ("the point that sums begin with", true, |s, count| {
        let sign = s.below(2) == 0;
        products(count, |_| {
            let point = if sign { hidden() } else { -hidden() };
            [encode1(point), number(&(BigUint::from(1u8) << s.below(4)))]
        })
    }),
    ("less the point that sums begin with", true, |_, count| {
        products(count, |index| [encode1(-hidden()), number(&u32::from(index == 0).into())])
    }),
    ("off the curve", false, |s, count| with_point(s, count, off_curve)),
    ("not below p", false, |s, count| {
        with_point(s, count, |s| {
            let bytes = point(s);
            not_below_p(s, bytes, 2)
        })
    }),
    ("p for a zero of the identity", false, |s, count| with_point(s, count, |s| not_below_p(s, IDENTITY.to_vec(), 2))),
];

/// k pairs, none with the identity, whose product is one; k ≥ 2.
fn balanced(s: &mut Seeded, k: usize) -> Vec<Vec<u8>> {
    let (one, two) = (G1Affine::generator(), G2Affine::generator());
    let mut sum = BigUint::ZERO;
    let mut pairs = Vec::new();
    for _ in 1..k {
        let (a, b) = (scalar(s), scalar(s));
        pairs.push([encode1(times1(one, &a)), encode2(times2(two, &b))].concat());
        sum += a * b;
    }
    pairs.push([encode1(times1(one, &(r() - sum % r()))), encode2(two)].concat());
    pairs
}

/// Pairs without the identity whose product is one; at least two.
pub fn product_of_one(s: &mut Seeded, pairs: usize) -> Vec<u8> {
    balanced(s, pairs).concat()
}

/// A product of one with another pair put in anywhere.
fn with(s: &mut Seeded, p: Vec<u8>, q: Vec<u8>) -> Vec<u8> {
    let mut pairs = match s.below(3) {
        0 => Vec::new(),
        more => balanced(s, 1 + more),
    };
    pairs.insert(s.below(pairs.len() + 1), [p, q].concat());
    pairs.concat()
}

fn with_p(s: &mut Seeded, p: Vec<u8>) -> Vec<u8> {
    let q = encode2(g2(s));
    with(s, p, q)
}

fn with_q(s: &mut Seeded, q: G2Affine) -> Vec<u8> {
    let p = point(s);
    with(s, p, encode2(q))
}

/// A point of G2 with another in place of one of its coordinates.
fn off_twist(s: &mut Seeded) -> Vec<u8> {
    let mut q = encode2(g2(s));
    match s.below(4) {
        0 => q[..64].fill(0),
        1 => q[64..].fill(0),
        2 => q[63] ^= 1,
        _ => q.rotate_left(64),
    }
    q
}

/// Q ∈ G2, with a point of a small order added.
fn beside_g2(s: &mut Seeded) -> G2Affine {
    let small = SMALL[s.below(2)];
    (g2(s) + times2(small, &(1 + s.below(10_068)).into())).into()
}

/// Inputs of the pairing check.
pub const PAIRING: &[Kind] = &[
    ("a product of one", NotZero, |s| {
        let pairs = 2 + s.below(4);
        balanced(s, pairs).concat()
    }),
    ("a product that is not one", Zero, |s| {
        let p = point(s);
        with_p(s, p)
    }),
    ("nothing", NotZero, |_| Vec::new()),
    ("the identity for P", NotZero, |s| with_p(s, IDENTITY.to_vec())),
    ("the identity for Q", NotZero, |s| {
        let p = point(s);
        with(s, p, IDENTITY_2.to_vec())
    }),
    ("the identity for both", NotZero, |s| with(s, IDENTITY.to_vec(), IDENTITY_2.to_vec())),
    ("a pair and its opposite", NotZero, |s| {
        let (p, q) = (g1(s), encode2(g2(s)));
        [encode1(p), q.clone(), encode1(-p), q].concat()
    }),
    ("a pair twice", Zero, |s| [point(s), encode2(g2(s))].concat().repeat(2)),
    ("P off the curve", Refused, |s| {
        let p = off_curve(s);
        with_p(s, p)
    }),
    ("P off the curve, Q the identity", Refused, |s| {
        let p = off_curve(s);
        with(s, p, IDENTITY_2.to_vec())
    }),
    ("Q off the twist", Refused, |s| {
        let (p, q) = (point(s), off_twist(s));
        with(s, p, q)
    }),
    ("Q off the twist, P the identity", Refused, |s| {
        let q = off_twist(s);
        with(s, IDENTITY.to_vec(), q)
    }),
    ("Q outside G2", Refused, |s| {
        let q = twist_point(s);
        with_q(s, q)
    }),
    ("Q outside G2, P the identity", Refused, |s| {
        let q = encode2(twist_point(s));
        with(s, IDENTITY.to_vec(), q)
    }),
    ("Q of a small order", Refused, |s| {
        let q = times2(SMALL[s.below(2)], &(1 + s.below(10_068)).into());
        with_q(s, q)
    }),
    ("Q of a small order, P the identity", Refused, |s| {
        let q = encode2(times2(SMALL[s.below(2)], &(1 + s.below(10_068)).into()));
        with(s, IDENTITY.to_vec(), q)
    }),
    ("Q of the order of the cofactor", Refused, |s| {
        let q = times2(twist_point(s), &r());
        with_q(s, q)
    }),
    ("Q beside G2", Refused, |s| {
        let q = beside_g2(s);
        with_q(s, q)
    }),
    ("two Qs beside G2 that add up to one in it", Refused, |s| {
        let (p, small) = (point(s), SMALL[0]);
        let [a, b] = [small, -small].map(|small| encode2((g2(s) + small).into()));
        [p.clone(), a, p, b].concat()
    }),
    ("not below p", Refused, |s| {
        let bytes = balanced(s, 2).concat();
        not_below_p(s, bytes, 12)
    }),
    ("p for zero", Refused, |s| {
        let bytes = [IDENTITY.to_vec(), IDENTITY_2.to_vec()].concat();
        not_below_p(s, bytes, 6)
    }),
    ("cut", Any, |s| {
        let bytes = balanced(s, 2).concat();
        cut(s, bytes)
    }),
    ("longer", Refused, |s| {
        let bytes = balanced(s, 2).concat();
        longer(s, bytes)
    }),
    ("a bit turned", Any, |s| {
        let bytes = balanced(s, 2).concat();
        with_bit_turned(s, bytes)
    }),
    ("anything", Any, |s| s.bytes(384)),
];
