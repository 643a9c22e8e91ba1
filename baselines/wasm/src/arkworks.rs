//! arkworks for wasm32: what `arkworks` does as a native library in `residue bench comparison`, from bytes to bytes.
//!
//! The module speaks as those which Residue makes: the globals `input` and `output` are addresses, and each operation is a
//! function that takes the number of bytes at `input` and gives that at `output`, or −1 for what is no input. Elements are
//! encoded as in EIP-2537, those of the synthetic loop as 48 little-endian bytes in Montgomery form.
//!
//! There is no `unsafe` here, but the lint that would forbid it counts exported names as such.

use core::sync::atomic::{AtomicU8, Ordering};

use ark_bls12_381::{Bls12_381, Fq, Fq2, Fq6, Fr, G1Affine, G2Affine};
use ark_ec::pairing::Pairing;
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{BigInt, BigInteger, One, PrimeField};

/// Room for sixteen pairs.
const INPUT_BYTES: usize = 16 * PAIR_BYTES;
/// Room for an element of Fp6 in Montgomery form.
const OUTPUT_BYTES: usize = 6 * MONT_BYTES;
/// Bytes of encodings.
const ELEMENT_BYTES: usize = 64;
const G1_BYTES: usize = 2 * ELEMENT_BYTES;
const PAIR_BYTES: usize = 6 * ELEMENT_BYTES;
const MONT_BYTES: usize = 48;
/// Turns of the synthetic loop (EVM384, update 2, "Interfaces").
const TURNS: u32 = 1350;
/// Result of a function for a malformed input.
const FAILED: i32 = -1;

/// Buffer that inputs are written to. Atomic, so that writing to it is safe: the target has one thread.
#[export_name = "input"]
pub static INPUT: [AtomicU8; INPUT_BYTES] = [const { AtomicU8::new(0) }; INPUT_BYTES];
/// Buffer that outputs are read from.
#[export_name = "output"]
pub static OUTPUT: [AtomicU8; OUTPUT_BYTES] = [const { AtomicU8::new(0) }; OUTPUT_BYTES];

/// The pairing check, without looking at subgroups: a word that is one or zero.
#[export_name = "pairing"]
pub extern "C" fn pairing(size: i32) -> i32 {
    answer(size, |input| {
        let pairs = input.chunks_exact(PAIR_BYTES);
        let (p, q): (Vec<G1Affine>, Vec<G2Affine>) = pairs.map(|pair| (g1(pair), g2(&pair[G1_BYTES..]))).unzip();
        let mut word = vec![0; 32];
        word[31] = u8::from(Bls12_381::multi_pairing(&p, &q).0.is_one());
        (input.len() % PAIR_BYTES == 0).then_some(word)
    })
}

/// A multiple of a point of G1: the point, then the scalar in 32 bytes.
#[export_name = "g1-mul"]
pub extern "C" fn g1_mul(size: i32) -> i32 {
    answer(size, |input| {
        let scalar = Fr::from_be_bytes_mod_order(input.get(G1_BYTES..G1_BYTES + 32)?);
        let product = (g1(input) * scalar).into_affine();
        Some(product.xy().map_or(vec![0; G1_BYTES], |(x, y)| [encode(&x), encode(&y)].concat()))
    })
}

/// The synthetic loop: a, b ↦ a·bᵗ in Fp6, twice six values in, six out.
#[export_name = "synthetic-loop"]
pub extern "C" fn synthetic_loop(size: i32) -> i32 {
    answer(size, |input| {
        let values: Vec<Fq> = input.chunks_exact(MONT_BYTES).map(from_mont).collect();
        let fq6 = |at: &[Fq]| Fq6::new(Fq2::new(at[0], at[1]), Fq2::new(at[2], at[3]), Fq2::new(at[4], at[5]));
        let (a, b) = (fq6(values.get(..6)?), fq6(values.get(6..12)?));
        let power = (0..TURNS).fold(a, |power, _| power * b);
        let elements = [power.c0, power.c1, power.c2].into_iter().flat_map(|part| [part.c0, part.c1]);
        Some(elements.flat_map(|element| element.0 .0.into_iter().flat_map(u64::to_le_bytes)).collect())
    })
}

/// Hands the input to an operation and its answer out.
fn answer(size: i32, operation: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> i32 {
    let Some(input) = usize::try_from(size).ok().and_then(|size| INPUT.get(..size)) else { return FAILED };
    let input: Vec<u8> = input.iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
    let Some(output) = operation(&input) else { return FAILED };
    OUTPUT.iter().zip(&output).for_each(|(place, byte)| place.store(*byte, Ordering::Relaxed));
    i32::try_from(output.len()).unwrap_or(FAILED)
}

fn fq(bytes: &[u8]) -> Fq {
    Fq::from_be_bytes_mod_order(&bytes[..ELEMENT_BYTES])
}

fn fq2(bytes: &[u8]) -> Fq2 {
    Fq2::new(fq(bytes), fq(&bytes[ELEMENT_BYTES..]))
}

fn g1(bytes: &[u8]) -> G1Affine {
    G1Affine::new_unchecked(fq(bytes), fq(&bytes[ELEMENT_BYTES..]))
}

fn g2(bytes: &[u8]) -> G2Affine {
    G2Affine::new_unchecked(fq2(bytes), fq2(&bytes[2 * ELEMENT_BYTES..]))
}

/// An element whose Montgomery form is given; arkworks has the same form.
fn from_mont(bytes: &[u8]) -> Fq {
    let mut limbs = [0; 6];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
        *limb = bytes.iter().rev().fold(0, |limb, byte| limb << 8 | u64::from(*byte));
    }
    Fq::new_unchecked(BigInt(limbs))
}

fn encode(element: &Fq) -> Vec<u8> {
    [vec![0; ELEMENT_BYTES - MONT_BYTES], element.into_bigint().to_bytes_be()].concat()
}
