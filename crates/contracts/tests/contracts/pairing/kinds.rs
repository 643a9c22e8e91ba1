//! Inputs of the pairing check, kind by kind, each with its expected result.

use crate::points::{SMALL_G1, SMALL_G2, Seeded, encode1, encode2, fq, number, p, r, times1, times2};
use ark_bls12_381::{Fq, Fq2, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, Field};
use num_bigint::BigUint;

/// Verdict on an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The product is one.
    True,
    /// The product is not one.
    False,
    /// The input is refused.
    Refused,
    /// Whatever the precompile says.
    Any,
}

use Verdict::{Any, False, Refused, True};

/// A kind of input: its name, what comes of it, and how one with at least one pair is made.
pub type Kind = (&'static str, Verdict, fn(&mut Seeded, usize) -> Vec<u8>);

/// Bytes of a point of G1, and of a pair.
const G1_BYTES: usize = 128;
const PAIR_BYTES: usize = 384;

/// Pairs as bytes, one after the other.
type Pairs = Vec<(G1Affine, G2Affine)>;

fn encode(pairs: &[(G1Affine, G2Affine)]) -> Vec<u8> {
    pairs.iter().flat_map(|&(p, q)| [encode1(p), encode2(q)].concat()).collect()
}

/// k pairs, none with the identity, whose product is one; for k = 1, where there is none, it is not.
fn balanced(seeded: &mut Seeded, k: usize) -> Pairs {
    let (one, two) = (G1Affine::generator(), G2Affine::generator());
    let mut sum = BigUint::ZERO;
    let mut pairs = Pairs::new();
    for _ in 1..k {
        let (a, b) = (seeded.scalar(), seeded.scalar());
        pairs.push((times1(one, &a), times2(two, &b)));
        sum += a * b;
    }
    let last = (r() - sum % r()) % r();
    let last = if last == BigUint::ZERO { seeded.scalar() } else { last };
    pairs.push((times1(one, &last), two));
    pairs
}

/// Pairs without the identity whose product is one; at least two.
pub fn product_of_one(seeded: &mut Seeded, pairs: usize) -> Vec<u8> {
    encode(&balanced(seeded, pairs))
}

/// `balanced`, with another pair put in anywhere.
fn with(seeded: &mut Seeded, k: usize, p: Vec<u8>, q: Vec<u8>) -> Vec<u8> {
    let mut bytes = if k == 1 { Vec::new() } else { encode(&balanced(seeded, k.max(3) - 1)) };
    let at = PAIR_BYTES * seeded.below(bytes.len() / PAIR_BYTES + 1);
    bytes.splice(at..at, [p, q].concat());
    bytes
}

/// `balanced` with one P in place of another.
fn with_p(seeded: &mut Seeded, k: usize, p: Vec<u8>) -> Vec<u8> {
    let q = encode2(seeded.g2());
    with(seeded, k, p, q)
}

/// `balanced` with one Q in place of another.
fn with_q(seeded: &mut Seeded, k: usize, q: Vec<u8>) -> Vec<u8> {
    let p = encode1(seeded.g1());
    with(seeded, k, p, q)
}

/// `balanced` with `element` written over any element.
fn with_element(seeded: &mut Seeded, k: usize, element: &BigUint) -> Vec<u8> {
    let mut bytes = encode(&balanced(seeded, k));
    let at = 64 * seeded.below(6 * k);
    bytes[at..at + 64].copy_from_slice(&number(element));
    bytes
}

fn identity1() -> Vec<u8> {
    vec![0; G1_BYTES]
}

fn identity2() -> Vec<u8> {
    vec![0; PAIR_BYTES - G1_BYTES]
}

fn off_curve1(seeded: &mut Seeded) -> Vec<u8> {
    let mut point = seeded.g1();
    match seeded.below(4) {
        0 => point.x += Fq::ONE,
        1 => point.y += Fq::ONE,
        2 => point.x = Fq::ZERO,
        _ => point.y = Fq::ZERO,
    }
    [fq(point.x), fq(point.y)].concat()
}

fn off_curve2(seeded: &mut Seeded) -> Vec<u8> {
    let mut point = seeded.g2();
    match seeded.below(6) {
        0 => point.x.c0 += Fq::ONE,
        1 => point.x.c1 += Fq::ONE,
        2 => point.y.c0 += Fq::ONE,
        3 => point.y.c1 += Fq::ONE,
        4 => point.x = Fq2::ZERO,
        _ => point.y = Fq2::ZERO,
    }
    encode2(point)
}

/// A point of G1 and one of small order, added.
fn mixed1(seeded: &mut Seeded) -> G1Affine {
    (seeded.g1() + seeded.pick(&*SMALL_G1)).into_affine()
}

fn mixed2(seeded: &mut Seeded) -> G2Affine {
    (seeded.g2() + seeded.pick(&*SMALL_G2)).into_affine()
}

fn small1(seeded: &mut Seeded, k: usize, which: usize) -> Vec<u8> {
    let multiple = 1 + seeded.below(2);
    let point = times1(SMALL_G1[which], &multiple.into());
    with_p(seeded, k, encode1(point))
}

fn small2(seeded: &mut Seeded, k: usize, which: usize) -> Vec<u8> {
    let multiple = 1 + seeded.below(12);
    let point = times2(SMALL_G2[which], &multiple.into());
    with_q(seeded, k, encode2(point))
}

/// An exchange of two ranges of the same length in any pair.
fn exchanged(seeded: &mut Seeded, k: usize, a: usize, b: usize, length: usize) -> Vec<u8> {
    let mut bytes = encode(&balanced(seeded, k));
    let pair = PAIR_BYTES * seeded.below(k);
    for offset in pair..pair + length {
        bytes.swap(a + offset, b + offset);
    }
    bytes
}

fn padded(seeded: &mut Seeded, k: usize, position: usize) -> Vec<u8> {
    let mut bytes = encode(&balanced(seeded, k));
    let at = 64 * seeded.below(6 * k) + position;
    bytes[at] = 1 << seeded.below(8);
    bytes
}

fn cut(seeded: &mut Seeded, k: usize, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = encode(&balanced(seeded, k));
    change(&mut bytes);
    bytes
}

/// Every kind.
pub const KINDS: &[Kind] = &[
    ("two or more pairs that make one", True, |s, k| encode(&balanced(s, k.max(2)))),
    ("pairs at random", False, |s, k| encode(&(0..k).map(|_| (s.g1(), s.g2())).collect::<Pairs>())),
    ("the generators", False, |_, _| encode(&[(G1Affine::generator(), G2Affine::generator())])),
    ("e(aP, bQ)·e(−abP, Q)", True, |s, _| {
        let (p, q, a, b) = (s.g1(), s.g2(), s.scalar(), s.scalar());
        encode(&[(times1(p, &a), times2(q, &b)), (-times1(p, &(a * b)), q)])
    }),
    ("e(aP, bQ)·e(bP, −aQ)", True, |s, _| {
        let (p, q, a, b) = (s.g1(), s.g2(), s.scalar(), s.scalar());
        encode(&[(times1(p, &a), times2(q, &b)), (times1(p, &b), -times2(q, &a))])
    }),
    ("every P multiplied by the same number", True, |s, k| {
        let a = s.scalar();
        let pairs = balanced(s, k.max(2)).into_iter();
        encode(&pairs.map(|(p, q)| (times1(p, &a), q)).collect::<Pairs>())
    }),
    ("every Q negated", True, |s, k| {
        encode(&balanced(s, k.max(2)).into_iter().map(|(p, q)| (p, -q)).collect::<Pairs>())
    }),
    ("one P negated", False, |s, k| {
        let mut pairs = balanced(s, k);
        let at = s.below(k);
        pairs[at].0 = -pairs[at].0;
        encode(&pairs)
    }),
    ("P and −P", True, |s, _| {
        let (p, q) = (s.g1(), s.g2());
        encode(&[(p, q), (-p, q)])
    }),
    ("Q and −Q", True, |s, _| {
        let (p, q) = (s.g1(), s.g2());
        encode(&[(p, q), (p, -q)])
    }),
    ("−P with −Q beside P with Q", False, |s, _| {
        let (p, q) = (s.g1(), s.g2());
        encode(&[(p, q), (-p, -q)])
    }),
    ("one pair many times", False, |s, k| encode(&vec![(s.g1(), s.g2()); k])),
    ("a pair twice and its opposite once", True, |s, _| {
        let (p, q) = (s.g1(), s.g2());
        encode(&[(p, q), (p, q), (times1(p, &(r() - 2u32)), q)])
    }),
    ("one P with many Q", False, |s, k| {
        let p = s.g1();
        encode(&(0..k).map(|_| (p, s.g2())).collect::<Pairs>())
    }),
    ("nothing but identities", True, |_, k| vec![0; PAIR_BYTES * k]),
    ("the identity for P", True, |s, k| with_p(s, k, identity1())),
    ("the identity for Q", True, |s, k| with_q(s, k, identity2())),
    ("the identity for both", True, |s, k| with(s, k, identity1(), identity2())),
    ("identities among pairs that make no one", False, |s, k| {
        let pairs: Vec<Vec<u8>> = (0..k)
            .flat_map(|_| {
                let (p, q) = (encode1(s.g1()), encode2(s.g2()));
                [[identity1(), q.clone()].concat(), [p.clone(), q].concat(), [p, identity2()].concat()]
            })
            .collect();
        pairs.concat()
    }),
    ("the identity beside Q off the curve", Refused, |s, k| {
        let q = off_curve2(s);
        with(s, k, identity1(), q)
    }),
    ("the identity beside P off the curve", Refused, |s, k| {
        let p = off_curve1(s);
        with(s, k, p, identity2())
    }),
    ("the identity beside Q outside G2", Refused, |s, k| {
        let q = encode2(s.twist_point());
        with(s, k, identity1(), q)
    }),
    ("the identity beside P outside G1", Refused, |s, k| {
        let p = encode1(s.curve_point());
        with(s, k, p, identity2())
    }),
    ("the identity beside Q of small order", Refused, |s, k| {
        let q = encode2(s.pick(&*SMALL_G2));
        with(s, k, identity1(), q)
    }),
    ("the identity beside P of small order", Refused, |s, k| {
        let p = encode1(s.pick(&*SMALL_G1));
        with(s, k, p, identity2())
    }),
    ("the identity written with p", Refused, |s, k| {
        let mut p = identity1();
        p[64 * s.below(2)..][..64].copy_from_slice(&number(&crate::points::p()));
        with_p(s, k, p)
    }),
    ("P off the curve", Refused, |s, k| {
        let p = off_curve1(s);
        with_p(s, k, p)
    }),
    ("Q off the curve", Refused, |s, k| {
        let q = off_curve2(s);
        with_q(s, k, q)
    }),
    ("P on y² = x³ + 5", Refused, |s, k| {
        let (x, y) = loop {
            let x = s.fq();
            if let Some(y) = (x * x * x + Fq::from(5u8)).sqrt() {
                break (x, y);
            }
        };
        with_p(s, k, [fq(x), fq(y)].concat())
    }),
    ("Q made of a P", Refused, |s, k| {
        let p = s.g1();
        with_q(s, k, [p.x, Fq::ZERO, p.y, Fq::ZERO].map(fq).concat())
    }),
    ("P on the curve, outside G1", Refused, |s, k| {
        let p = s.curve_point();
        with_p(s, k, encode1(p))
    }),
    ("Q on the twist, outside G2", Refused, |s, k| {
        let q = s.twist_point();
        with_q(s, k, encode2(q))
    }),
    ("P = (0, ±2)", Refused, |s, k| {
        let y = s.pick(&[Fq::from(2u8), -Fq::from(2u8)]);
        with_p(s, k, [fq(Fq::ZERO), fq(y)].concat())
    }),
    ("P of order 3", Refused, |s, k| small1(s, k, 0)),
    ("P of order 11", Refused, |s, k| small1(s, k, 1)),
    ("P of order 10177", Refused, |s, k| small1(s, k, 2)),
    ("Q of order 13", Refused, |s, k| small2(s, k, 0)),
    ("Q of order 23", Refused, |s, k| small2(s, k, 1)),
    ("Q of order 2713", Refused, |s, k| small2(s, k, 2)),
    ("Q of order 11953", Refused, |s, k| small2(s, k, 3)),
    ("P with a part of small order", Refused, |s, k| {
        let p = mixed1(s);
        with_p(s, k, encode1(p))
    }),
    ("Q with a part of small order", Refused, |s, k| {
        let q = mixed2(s);
        with_q(s, k, encode2(q))
    }),
    ("parts of small order that cancel on P", Refused, |s, _| {
        let (p, q) = (mixed1(s), s.g2());
        encode(&[(p, q), (-p, q)])
    }),
    ("parts of small order that cancel on Q", Refused, |s, _| {
        let (p, q) = (s.g1(), mixed2(s));
        encode(&[(p, q), (p, -q)])
    }),
    ("an element p", Refused, |s, k| with_element(s, k, &p())),
    ("an element p + 1", Refused, |s, k| with_element(s, k, &(p() + 1u32))),
    ("an element 2³⁸⁴ − 1", Refused, |s, k| with_element(s, k, &((BigUint::from(1u8) << 384) - 1u32))),
    ("an element 2⁵¹² − 1", Refused, |s, k| with_element(s, k, &((BigUint::from(1u8) << 512) - 1u32))),
    ("an element with p added", Refused, |s, k| {
        let mut bytes = encode(&balanced(s, k));
        let at = 64 * s.below(6 * k);
        let element = BigUint::from_bytes_be(&bytes[at..at + 64]);
        bytes[at..at + 64].copy_from_slice(&number(&(element + p())));
        bytes
    }),
    ("padding that is not zero", Refused, |s, k| {
        let position = s.below(16);
        padded(s, k, position)
    }),
    ("padding that is not zero at its first byte", Refused, |s, k| padded(s, k, 0)),
    ("padding that is not zero at its last byte", Refused, |s, k| padded(s, k, 15)),
    ("x and y of P exchanged", Refused, |s, k| exchanged(s, k, 0, 64, 64)),
    ("x and y of Q exchanged", Refused, |s, k| exchanged(s, k, 128, 256, 128)),
    ("c0 and c1 of x exchanged", Refused, |s, k| exchanged(s, k, 128, 192, 64)),
    ("c0 and c1 of y exchanged", Refused, |s, k| exchanged(s, k, 256, 320, 64)),
    ("Q before P", Refused, |s, k| {
        balanced(s, k).into_iter().flat_map(|(p, q)| [encode2(q), encode1(p)].concat()).collect()
    }),
    ("no input", Refused, |_, _| Vec::new()),
    ("a byte too few", Refused, |s, k| cut(s, k, |bytes| bytes.truncate(bytes.len() - 1))),
    ("a byte too many", Refused, |s, k| cut(s, k, |bytes| bytes.push(0))),
    ("another length", Refused, |s, k| {
        let length = s.pick(&[1, 31, 32, 63, 64, 128, 256, 320, 383, 385, 448, 512]);
        cut(s, k, |bytes| bytes.resize(length, 0))
    }),
    ("zeros of another length", Refused, |s, _| vec![0; s.pick(&[1, 32, 128, 383, 385, 512, 767, 769])]),
    ("elements at random", Refused, |s, k| (0..6 * k).flat_map(|_| fq(s.fq())).collect()),
    ("bytes at random", Refused, |s, k| s.bytes(PAIR_BYTES * k)),
    ("a bit turned", Any, |s, k| {
        let mut bytes = encode(&balanced(s, k));
        let at = s.below(bytes.len());
        bytes[at] ^= 1 << s.below(8);
        bytes
    }),
];
