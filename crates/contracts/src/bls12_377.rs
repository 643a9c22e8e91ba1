//! Contracts on BLS12-377. Points are encoded as in EIP-2539: 64 bytes for an element of Fp, big-endian with 16 zero bytes in front; of an
//! element of Fp2 the part without √−5 comes first; all zeros are the identity.

pub mod pairing;

use crate::encoding::Encoding;
use num_bigint::BigUint;

/// How elements and points are encoded: as in EIP-2537.
pub(crate) const ENCODING: Encoding = Encoding::EIP_2537;

/// Elements in bytes, for examples.
pub(crate) fn encoded<'a>(elements: impl IntoIterator<Item = &'a BigUint>) -> Vec<u8> {
    elements.into_iter().flat_map(|value| ENCODING.encoded(value)).collect()
}
