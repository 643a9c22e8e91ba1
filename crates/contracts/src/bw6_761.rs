//! Contracts on BW6-761. An element of Fp has 96 bytes, big-endian; points of both groups have coordinates in Fp; all zeros are the identity:
//! EIP-3026, “Encoding”.

pub mod pairing;

use crate::encoding::Encoding;
use num_bigint::BigUint;
use residue_curves::Affine;

/// How elements and points are encoded.
pub(crate) const ENCODING: Encoding = Encoding::EIP_3026;
/// Bytes of a point of either group.
pub(crate) const POINT_BYTES: u32 = 2 * ENCODING.element_bytes;

/// A point of canonical values in bytes, for examples.
pub(crate) fn encoded_point(point: &Affine<BigUint>) -> Vec<u8> {
    [&point.x, &point.y].into_iter().flat_map(|value| ENCODING.encoded(value)).collect()
}
