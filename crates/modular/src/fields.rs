//! The prime fields that have a name at compile time. Each is a parameter type and the number type over it.

use crate::fp::{Fp, PrimeField};
use crate::limbs::Limb;

macro_rules! fields {
    ($($(#[$doc:meta])* $number:ident, $parameters:ident, $limbs:literal, $name:literal, $modulus:expr;)*) => {$(
        $(#[$doc])*
        pub type $number = Fp<$parameters, $limbs>;

        #[doc = concat!("Names the field of [`", stringify!($number), "`].")]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $parameters;

        impl PrimeField<$limbs> for $parameters {
            const MODULUS: [Limb; $limbs] = $modulus;
            const NAME: &'static str = $name;
        }
    )*};
}

fields! {
    /// The base field of BLS12-381, 381 bits. Source: draft-irtf-cfrg-pairing-friendly-curves-11, §4.2.1, p.
    Bls12_381Fp, Bls12_381FpModulus, 6, "bls12-381 Fp", [
        0xb9fe_ffff_ffff_aaab, 0x1eab_fffe_b153_ffff, 0x6730_d2a0_f6b0_f624,
        0x6477_4b84_f385_12bf, 0x4b1b_a7b6_434b_acd7, 0x1a01_11ea_397f_e69a,
    ];
    /// The scalar field of BLS12-381, 255 bits. Source: draft-irtf-cfrg-pairing-friendly-curves-11, §4.2.1, r.
    Bls12_381Fr, Bls12_381FrModulus, 4, "bls12-381 Fr", [
        0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48,
    ];
    /// The base field of BLS12-377, 377 bits. Source: EIP-2539, "Specification", base field modulus.
    Bls12_377Fp, Bls12_377FpModulus, 6, "bls12-377 Fp", [
        0x8508_c000_0000_0001, 0x170b_5d44_3000_0000, 0x1ef3_622f_ba09_4800,
        0x1a22_d9f3_00f5_138f, 0xc63b_05c0_6ca1_493b, 0x01ae_3a46_17c5_10ea,
    ];
    /// The base field of BW6-761, 761 bits. Source: EIP-3026, "Specification", base field modulus.
    Bw6_761Fp, Bw6_761FpModulus, 12, "bw6-761 Fp", [
        0xf49d_0000_0000_008b, 0xe691_3e68_7000_0082, 0x160c_f8ae_eaf0_a437,
        0x98a1_16c2_5667_a8f8, 0x71dc_d3dc_73eb_ff2e, 0x8689_c8ed_12f9_fd90,
        0x03ce_baff_25b4_2304, 0x707b_a638_e584_e919, 0x5282_75ef_8087_be41,
        0xb926_186a_81d1_4688, 0xd187_c940_04fa_ff3e, 0x0122_e824_fb83_ce0a,
    ];
    /// The base field of BN254 (alt_bn128), 254 bits. Source: EIP-196, "Definition of the groups", p.
    Bn254Fp, Bn254FpModulus, 4, "bn254 Fp", [
        0x3c20_8c16_d87c_fd47, 0x9781_6a91_6871_ca8d, 0xb850_45b6_8181_585d, 0x3064_4e72_e131_a029,
    ];
    /// The scalar field of BN254 (alt_bn128), 254 bits. Source: EIP-197, "Definition of the groups", q, the group order.
    Bn254Fr, Bn254FrModulus, 4, "bn254 Fr", [
        0x43e1_f593_f000_0001, 0x2833_e848_79b9_7091, 0xb850_45b6_8181_585d, 0x3064_4e72_e131_a029,
    ];
    /// The base field of P-256, 256 bits. Source: NIST SP 800-186, §3.2.1.3, p.
    P256Fp, P256FpModulus, 4, "p-256 Fp", [
        0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_ffff, 0x0000_0000_0000_0000, 0xffff_ffff_0000_0001,
    ];
    /// The base field of P-384, 384 bits. Source: NIST SP 800-186, §3.2.1.4, p.
    P384Fp, P384FpModulus, 6, "p-384 Fp", [
        0x0000_0000_ffff_ffff, 0xffff_ffff_0000_0000, 0xffff_ffff_ffff_fffe,
        0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff,
    ];
    /// The base field of P-521, 521 bits. Source: NIST SP 800-186, §3.2.1.5, p.
    P521Fp, P521FpModulus, 9, "p-521 Fp", [
        0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff, 0x0000_0000_0000_01ff,
    ];
    /// The base field of secp256k1, 256 bits. Source: SEC 2, version 2.0, §2.4.1, p.
    Secp256k1Fp, Secp256k1FpModulus, 4, "secp256k1 Fp", [
        0xffff_fffe_ffff_fc2f, 0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff,
    ];
    /// The base field of edwards25519, 255 bits. Source: RFC 8032, §5.1, p.
    Curve25519Fp, Curve25519FpModulus, 4, "25519 Fp", [
        0xffff_ffff_ffff_ffed, 0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff, 0x7fff_ffff_ffff_ffff,
    ];
    /// The base field of Pallas and scalar field of Vesta, 255 bits. Source: the Pasta curves, zcash/pasta, p.
    Pallas, PallasModulus, 4, "pallas Fp", [
        0x992d_30ed_0000_0001, 0x2246_98fc_094c_f91b, 0x0000_0000_0000_0000, 0x4000_0000_0000_0000,
    ];
    /// The base field of Vesta and scalar field of Pallas, 255 bits. Source: the Pasta curves, zcash/pasta, q.
    Vesta, VestaModulus, 4, "vesta Fp", [
        0x8c46_eb21_0000_0001, 0x2246_98fc_0994_a8dd, 0x0000_0000_0000_0000, 0x4000_0000_0000_0000,
    ];
    /// 2⁶⁴ − 2³² + 1. Source: Hamburg 2015 (2015/625), §1, named after Goldilocks' golden ratio.
    Goldilocks, GoldilocksModulus, 1, "goldilocks", [0xffff_ffff_0000_0001];
    /// 2³¹ − 2²⁷ + 1. Source: RISC Zero, “Proof System in Detail”, the base field.
    BabyBear, BabyBearModulus, 1, "babybear", [0x7800_0001];
    /// 2³¹ − 2²⁴ + 1. Source: Plonky3, p3-koala-bear, “The KoalaBear prime”.
    KoalaBear, KoalaBearModulus, 1, "koalabear", [0x7f00_0001];
}
