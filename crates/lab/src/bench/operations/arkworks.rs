//! arkworks' way to compute operations: generic Rust, the role that EIP-1962's library had in 2020.

use ark_bls12_381::{Bls12_381, Fq, Fq2, Fq6, Fq12, G1Affine, G1Projective, G2Affine, G2Projective, g1, g2};
use ark_ec::hashing::HashToCurve;
use ark_ec::hashing::curve_maps::wb::WBMap;
use ark_ec::hashing::map_to_curve_hasher::{MapToCurve, MapToCurveBasedHasher};
use ark_ec::pairing::Pairing;
use ark_ec::{AffineRepr, CurveGroup, VariableBaseMSM};
use ark_ff::field_hashers::DefaultFieldHasher;
use ark_ff::{BigInteger, Field, One, PrimeField};
use sha2_010::Sha256;

use super::inputs::{little_endian, mont_elements, scalars, tag_and_message, turns, word};
use super::{Operation, Run};

/// RFC 9380, §8.8: both suites are for 128 bits.
const SECURITY_BITS: usize = 128;
/// Bytes of points and of pairs.
const G1_BYTES: usize = 128;
const G2_BYTES: usize = 256;
const PAIR_BYTES: usize = G1_BYTES + G2_BYTES;

/// arkworks' way; with `checked` that of operations which can check subgroups.
pub(super) fn run(operation: Operation, input: &[u8], checked: bool) -> Option<Run<'static>> {
    if checked && operation != Operation::Pairing {
        return None;
    }
    Some(match operation {
        Operation::FpAdd => fq_chain(operation, input, |x, y| x + y),
        Operation::FpMul => fq_chain(operation, input, |x, y| x * y),
        Operation::FpInverse => fq_chain(operation, input, |x, y| x.inverse().unwrap_or_default() + y),
        Operation::Fp2Mul => {
            let (x, y) = (fq2(&input[..128]), fq2(&input[128..]));
            Box::new(move || encode2(&[(0..turns(operation)).fold(x, |value, _| value * y)]))
        }
        Operation::Fp12Mul => {
            let (x, y) = (fq12(&input[..768]), fq12(&input[768..]));
            Box::new(move || encode2(&parts(&(0..turns(operation)).fold(x, |value, _| value * y))))
        }
        // Its values differ from blst's by factors that the final exponentiation removes, and by its exponent.
        Operation::MillerLoop | Operation::FinalExponentiation => return None,
        Operation::HashToG1 => hash::<G1Projective, WBMap<g1::Config>>(input, encode_g1),
        Operation::HashToG2 => hash::<G2Projective, WBMap<g2::Config>>(input, encode_g2),
        Operation::SyntheticLoop => {
            let values: Vec<Fq> = mont_elements(input).into_iter().map(from_mont).collect();
            let fq6 = |at: &[Fq]| Fq6::new(Fq2::new(at[0], at[1]), Fq2::new(at[2], at[3]), Fq2::new(at[4], at[5]));
            let (a, b) = (fq6(&values[..6]), fq6(&values[6..]));
            Box::new(move || {
                let power = (0..residue_contracts::evm384::synthetic_loop::TURNS).fold(a, |power, _| power * b);
                little_endian([power.c0, power.c1, power.c2].iter().flat_map(|part| [part.c0.0.0, part.c1.0.0]))
            })
        }
        Operation::Pairing => pairing(input, checked),
        Operation::G1Add => {
            let (a, b) = (g1_point(input), g1_point(&input[G1_BYTES..]));
            Box::new(move || encode_g1((a + b).into_affine()))
        }
        Operation::G2Add => {
            let (a, b) = (g2_point(input), g2_point(&input[G2_BYTES..]));
            Box::new(move || encode_g2((a + b).into_affine()))
        }
        Operation::G1Mul => {
            let (point, scalar) = (g1_point(input), ark_scalars(input, G1_BYTES)[0]);
            Box::new(move || encode_g1((point * scalar).into_affine()))
        }
        Operation::G2Mul => {
            let (point, scalar) = (g2_point(input), ark_scalars(input, G2_BYTES)[0]);
            Box::new(move || encode_g2((point * scalar).into_affine()))
        }
        Operation::G1Msm => {
            let points: Vec<G1Affine> = input.chunks_exact(G1_BYTES + 32).map(g1_point).collect();
            let scalars = ark_scalars(input, G1_BYTES);
            Box::new(move || encode_g1(G1Projective::msm(&points, &scalars).unwrap_or_default().into_affine()))
        }
        Operation::G2Msm => {
            let points: Vec<G2Affine> = input.chunks_exact(G2_BYTES + 32).map(g2_point).collect();
            let scalars = ark_scalars(input, G2_BYTES);
            Box::new(move || encode_g2(G2Projective::msm(&points, &scalars).unwrap_or_default().into_affine()))
        }
        Operation::MapFpToG1 => {
            let element = fq(input);
            let map = move || WBMap::<g1::Config>::map_to_curve(element).unwrap_or_default();
            Box::new(move || encode_g1(map().clear_cofactor()))
        }
        Operation::MapFp2ToG2 => {
            let element = fq2(input);
            let map = move || WBMap::<g2::Config>::map_to_curve(element).unwrap_or_default();
            Box::new(move || encode_g2(map().clear_cofactor()))
        }
    })
}

fn pairing(input: &[u8], checked: bool) -> Run<'static> {
    let (p, q): (Vec<G1Affine>, Vec<G2Affine>) =
        input.chunks_exact(PAIR_BYTES).map(|pair| (g1_point(pair), g2_point(&pair[G1_BYTES..]))).unzip();
    Box::new(move || {
        let in_subgroups = |p: &[G1Affine], q: &[G2Affine]| {
            p.iter().all(|p| p.is_in_correct_subgroup_assuming_on_curve())
                && q.iter().all(|q| q.is_in_correct_subgroup_assuming_on_curve())
        };
        word((!checked || in_subgroups(&p, &q)) && Bls12_381::multi_pairing(&p, &q).0.is_one())
    })
}

/// hash_to_curve with SHA-256, which another crate gives it.
fn hash<G: CurveGroup, Map: MapToCurve<G> + 'static>(input: &[u8], encode: fn(G::Affine) -> Vec<u8>) -> Run<'static> {
    type Hasher<G, Map> = MapToCurveBasedHasher<G, DefaultFieldHasher<Sha256, SECURITY_BITS>, Map>;
    let (tag, message) = tag_and_message(input);
    let (tag, message) = (tag.to_vec(), message.to_vec());
    Box::new(move || {
        let hashed = Hasher::<G, Map>::new(&tag).and_then(|hasher| hasher.hash(&message));
        // No answer is a wrong one.
        hashed.map_or(Vec::new(), encode)
    })
}

fn fq_chain(operation: Operation, input: &[u8], step: impl Fn(Fq, Fq) -> Fq + 'static) -> Run<'static> {
    let (x, y) = (fq(&input[..64]), fq(&input[64..]));
    Box::new(move || encode(&(0..turns(operation)).fold(x, |value, _| step(value, y))))
}

/// An element from its encoding.
fn fq(bytes: &[u8]) -> Fq {
    Fq::from_be_bytes_mod_order(&bytes[..64])
}

fn fq2(bytes: &[u8]) -> Fq2 {
    Fq2::new(fq(bytes), fq(&bytes[64..]))
}

fn fq12(bytes: &[u8]) -> Fq12 {
    let fq6 = |bytes: &[u8]| Fq6::new(fq2(bytes), fq2(&bytes[128..]), fq2(&bytes[256..]));
    Fq12::new(fq6(bytes), fq6(&bytes[384..]))
}

/// An element whose Montgomery form is given; arkworks has the same form.
fn from_mont(limbs: [u64; 6]) -> Fq {
    Fq::new_unchecked(ark_ff::BigInt(limbs))
}

fn g1_point(bytes: &[u8]) -> G1Affine {
    G1Affine::new_unchecked(fq(bytes), fq(&bytes[64..]))
}

fn g2_point(bytes: &[u8]) -> G2Affine {
    G2Affine::new_unchecked(fq2(bytes), fq2(&bytes[128..]))
}

fn ark_scalars(input: &[u8], point_bytes: usize) -> Vec<ark_bls12_381::Fr> {
    let scalars = scalars(input, point_bytes);
    scalars.iter().map(|scalar| ark_bls12_381::Fr::from_le_bytes_mod_order(scalar)).collect()
}

fn encode(element: &Fq) -> Vec<u8> {
    [vec![0; 16], element.into_bigint().to_bytes_be()].concat()
}

fn encode2(elements: &[Fq2]) -> Vec<u8> {
    elements.iter().flat_map(|element| [encode(&element.c0), encode(&element.c1)].concat()).collect()
}

fn parts(value: &Fq12) -> [Fq2; 6] {
    [value.c0.c0, value.c0.c1, value.c0.c2, value.c1.c0, value.c1.c1, value.c1.c2]
}

fn encode_g1(point: G1Affine) -> Vec<u8> {
    point.xy().map_or(vec![0; G1_BYTES], |(x, y)| [encode(&x), encode(&y)].concat())
}

fn encode_g2(point: G2Affine) -> Vec<u8> {
    point.xy().map_or(vec![0; G2_BYTES], |(x, y)| encode2(&[x, y]))
}
