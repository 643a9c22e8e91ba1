//! Contracts: field programs that take calldata and return bytes, one file each.
//!
//! [`CONTRACTS`] lists them by name, and [`PROOF_SYSTEMS`] those whose verifiers are made of a key. A contract is a program; the compiler
//! makes code of it for any revision that can express it. [`Source`] is what both are to those who compile.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod baby_jubjub;
pub mod bip340;
mod bls12;
pub mod bls12_377;
pub mod bls12_381;
pub mod bn254;
pub mod bw6_761;
pub mod drand;
mod ecdsa;
pub mod ed25519;
pub mod encoding;
pub mod eth;
pub mod evm384;
pub mod falcon512;
pub mod functions;
mod glv;
pub mod groth16;
mod hash_based;
pub mod hashes;
mod keyed;
pub mod kzg;
pub mod lean_imt;
pub mod linked;
pub mod mldsa;
pub mod modexp;
pub mod multiples;
pub mod ntt;
pub mod p256;
pub mod p384;
pub mod plonk;
mod points;
pub mod poseidon;
pub mod poseidon2;
pub mod secp256k1;
pub mod secp521r1;
pub mod slh_dsa;
mod source;
pub mod sphincs;
pub mod verifier;
mod words;
pub mod xmss;

pub use functions::Function;
pub use source::Source;
pub use verifier::{CallError, KeyError, ProofSystem, Verifier, VerifierOptions};

use num_bigint::BigUint;
use residue_ir::{Feature, Fp2Product, Machine, Program, Recording};
use residue_isa::UnknownName;

/// A contract of ours.
#[derive(Debug, Clone, Copy)]
pub struct Contract {
    /// Its name, as commands take it.
    pub name: &'static str,
    /// One line: what it computes.
    pub summary: &'static str,
    /// Calldata and output.
    pub interface: &'static str,
    /// The modulus of the field that it computes in.
    pub field: fn() -> BigUint,
    /// Its program.
    pub text: fn(&Recording<'_>),
    /// The precompile that it replaces byte for byte.
    pub precompile: Option<u16>,
    /// An input to try it with, and to measure.
    pub example: fn() -> Vec<u8>,
}

/// Every proof system. A static, as [`CONTRACTS`] is.
pub static PROOF_SYSTEMS: &[ProofSystem] = &[groth16::SYSTEM, plonk::SYSTEM];

/// Every contract. A static: what it points to is compiled in this crate alone.
pub static CONTRACTS: &[Contract] = &[
    bls12_381::pairing::CONTRACT,
    bls12_381::pairing_witness::CONTRACT,
    bls12_381::G1_ADD,
    bls12_381::G1_MSM,
    bls12_381::G2_ADD,
    bls12_381::G2_MSM,
    bls12_381::map_fp_to_g1::CONTRACT,
    bls12_381::map_fp2_to_g2::CONTRACT,
    bls12_381::aggregate_g1::CONTRACT,
    bls12_381::decompress_g1::CONTRACT,
    bls12_381::decompress_g2::CONTRACT,
    bls12_381::hash_to_g1::CONTRACT,
    bls12_381::hash_to_g2::CONTRACT,
    bls12_381::verify::CONTRACT,
    bls12_381::fast_aggregate_verify::CONTRACT,
    eth::deposit::CONTRACT,
    eth::sync_committee::CONTRACT,
    drand::verify::CONTRACT,
    kzg::point_evaluation::CONTRACT,
    bls12_377::pairing::CONTRACT,
    bls12_377::G1_ADD,
    bls12_377::G1_MUL,
    bls12_377::G1_MSM,
    bls12_377::G2_ADD,
    bls12_377::G2_MUL,
    bls12_377::G2_MSM,
    bw6_761::pairing::CONTRACT,
    bw6_761::G1_ADD,
    bw6_761::G1_MUL,
    bw6_761::G1_MSM,
    bw6_761::G2_ADD,
    bw6_761::G2_MUL,
    bw6_761::G2_MSM,
    bn254::pairing::CONTRACT,
    bn254::ADD,
    bn254::MUL,
    bn254::msm::CONTRACT,
    modexp::CONTRACT,
    modexp::in_words::CONTRACT,
    modexp::word::CONTRACT,
    p256::verify::CONTRACT,
    p384::verify::CONTRACT,
    secp521r1::verify::CONTRACT,
    secp256k1::recover::CONTRACT,
    bip340::verify::CONTRACT,
    ed25519::verify::CONTRACT,
    ed25519::zip215::CONTRACT,
    multiples::GRUMPKIN_MUL,
    multiples::GRUMPKIN_MSM,
    multiples::PALLAS_MUL,
    multiples::PALLAS_MSM,
    multiples::VESTA_MUL,
    multiples::VESTA_MSM,
    multiples::BABY_JUBJUB_MUL,
    multiples::BABY_JUBJUB_MSM,
    baby_jubjub::eddsa::CONTRACT,
    multiples::BANDERSNATCH_MUL,
    multiples::BANDERSNATCH_MSM,
    hashes::sha256::CONTRACT,
    hashes::ripemd160::CONTRACT,
    hashes::blake2f::CONTRACT,
    hashes::sha1::CONTRACT,
    hashes::sha512::CONTRACT,
    hashes::sha3::SHA3_256,
    hashes::sha3::SHAKE128,
    hashes::sha3::SHAKE256,
    falcon512::ETH,
    falcon512::ETH_NUMBERS,
    falcon512::SHAKE,
    falcon512::REGISTER,
    mldsa::ETH_44,
    mldsa::FIPS_44,
    mldsa::FIPS_65,
    mldsa::ETH_REGISTER_44,
    mldsa::REGISTER_44,
    mldsa::REGISTER_65,
    slh_dsa::SHA2_128_24,
    slh_dsa::SHA2_128_24_ROLLED,
    slh_dsa::KECCAK_128_24,
    sphincs::C13,
    sphincs::C13_ROLLED,
    sphincs::C7,
    sphincs::C11,
    xmss::WOTS_KECCAK_128,
    xmss::WOTS_KECCAK_256,
    xmss::XMSS_KECCAK_10_128,
    xmss::XMSS_KECCAK_10_256,
    poseidon::T2,
    poseidon::T3,
    poseidon::T4,
    poseidon::T5,
    poseidon::T6,
    poseidon::T3_MANY,
    poseidon::merkle::CONTRACT,
    poseidon2::BN254_T2,
    poseidon2::BN254_T3,
    poseidon2::BN254_T4,
    poseidon2::BLS12_381_T2,
    poseidon2::BLS12_381_T3,
    poseidon2::BLS12_381_T4,
    poseidon2::PALLAS_T3,
    poseidon2::VESTA_T3,
    poseidon2::GOLDILOCKS_T12,
    poseidon2::BABYBEAR_T16,
    poseidon2::KOALABEAR_T16,
    poseidon2::KOALABEAR_T24,
    poseidon2::BABYBEAR_T16_LANES,
    poseidon2::KOALABEAR_T16_LANES,
    poseidon2::KOALABEAR_T24_LANES,
    poseidon2::BN254_T3_MANY,
    poseidon2::BN254_T4_MANY,
    poseidon2::merkle::CONTRACT,
    lean_imt::POSEIDON,
    lean_imt::POSEIDON2,
    ntt::FALCON512,
    ntt::FALCON512_SHORT,
    ntt::DILITHIUM256,
    bls12_381::fp2_mul::CONTRACT,
    bls12_381::g1_mul::CONTRACT,
    bls12_381::g2_mul::CONTRACT,
    evm384::f6m_mul::CONTRACT,
    evm384::synthetic_loop::CONTRACT,
    evm384::miller_loop::CONTRACT,
    evm384::final_exponentiation::CONTRACT,
    evm384::pairing_eq::CONTRACT,
];

/// The contract named `name`, in letters of any case.
pub fn find(name: &str) -> Option<&'static Contract> {
    CONTRACTS.iter().find(|contract| contract.name.eq_ignore_ascii_case(name))
}

/// The same with the nearest names, of proof systems too, where there is none.
pub fn named(name: &str) -> Result<&'static Contract, UnknownName> {
    let systems = PROOF_SYSTEMS.iter().map(|system| system.name);
    let known = CONTRACTS.iter().map(|contract| contract.name).chain(systems);
    find(name).ok_or_else(|| UnknownName::new("contract", name, known).listed_by("residue list contracts"))
}

impl Contract {
    /// Its program, recorded anew.
    pub fn program(&self) -> Program {
        Source::program(self)
    }

    /// The same with products in Fp2 made in the given way.
    pub fn program_with(&self, product: Fp2Product) -> Program {
        Source::program_with(self, product)
    }

    /// Program of the contract: a call of the precompile that it replaces, where code may call that, else the text.
    fn whole_text(&self, machine: &Recording<'_>) {
        if let Some(address) = self.precompile {
            // Not an arm beside the text: so without precompiles there is nothing else than that.
            machine.branch(
                machine.has(Feature::Precompile(address)),
                |machine| machine.return_precompile(address),
                |_| (),
            );
        }
        (self.text)(machine);
    }

    /// True if its formulas are those of a publication, so that only the published variant shows the published numbers.
    pub fn is_published(&self) -> bool {
        self.name.starts_with("evm384/")
    }
}
