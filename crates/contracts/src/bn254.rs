//! Contracts on BN254, which EIP-196 and EIP-197 call alt_bn128. An element of Fp has 32 bytes, big-endian; of an element of Fp2 the
//! part times u comes first; all zeros are the identity.

pub mod add;
pub mod msm;
pub mod mul;
pub mod pairing;

use crate::encoding::Encoding;
use num_bigint::BigUint;
use residue_curves::Affine;

/// How elements and points are encoded.
pub(crate) const ENCODING: Encoding = Encoding::EIP_196;
/// Bytes of an encoded element of Fp.
pub(crate) const FP_BYTES: u32 = ENCODING.element_bytes;
/// Bytes of a point of G1.
pub(crate) const G1_BYTES: u32 = 2 * FP_BYTES;

/// A point of canonical values in bytes, for examples.
pub(crate) fn encoded_point(point: &Affine<BigUint>) -> Vec<u8> {
    [&point.x, &point.y].into_iter().flat_map(|value| ENCODING.encoded(value)).collect()
}
