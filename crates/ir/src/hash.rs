//! Hashes of programs: SHA-256 (FIPS 180-4) and Keccak-256 (Yellow Paper, appendix A) of bytes in words, in calldata and
//! in scratch memory.

use crate::calldata::calldata_slice;
use ruint::aliases::U256;
use sha2::{Digest, Sha256};
use sha3::Keccak256;

/// A piece of a hash's input; `W` is the type of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Piece<W> {
    /// The first `size_bytes` of the 32 big-endian bytes of `word`; there must not be more than 32 of them.
    Word {
        /// The word.
        word: W,
        /// Number of its bytes.
        size_bytes: W,
    },
    /// `size_bytes` of calldata from `offset`; bytes past the end are zero.
    Calldata {
        /// The first byte.
        offset: W,
        /// Number of bytes.
        size_bytes: W,
    },
}

/// Bytes that one hash may have: as much as memory may grow to.
pub const HASHED_BYTES_MAX: u32 = 1 << 26;

impl<W> Piece<W> {
    /// The same piece with its words mapped by `map`, from the first to the last.
    pub fn map<V>(self, mut map: impl FnMut(W) -> V) -> Piece<V> {
        match self {
            Piece::Word { word, size_bytes } => Piece::Word { word: map(word), size_bytes: map(size_bytes) },
            Piece::Calldata { offset, size_bytes } => {
                Piece::Calldata { offset: map(offset), size_bytes: map(size_bytes) }
            }
        }
    }

    /// Its words.
    pub fn words(self) -> [W; 2] {
        match self {
            Piece::Word { word, size_bytes } => [word, size_bytes],
            Piece::Calldata { offset, size_bytes } => [offset, size_bytes],
        }
    }

    /// Its length.
    pub fn size_bytes(&self) -> &W {
        match self {
            Piece::Word { size_bytes, .. } | Piece::Calldata { size_bytes, .. } => size_bytes,
        }
    }
}

/// The SHA-256 hash of `pieces`, one after the other, as a big-endian number; `None` if they are longer than
/// [`HASHED_BYTES_MAX`], or a word is asked for more bytes than it has.
pub(crate) fn sha256(calldata: &[u8], pieces: impl IntoIterator<Item = Piece<U256>>) -> Option<U256> {
    Some(sha256_of(&bytes(calldata, pieces)?))
}

/// The same with Keccak-256.
pub(crate) fn keccak256(calldata: &[u8], pieces: impl IntoIterator<Item = Piece<U256>>) -> Option<U256> {
    Some(keccak256_of(&bytes(calldata, pieces)?))
}

/// The SHA-256 hash of `bytes`, as a big-endian number.
pub(crate) fn sha256_of(bytes: &[u8]) -> U256 {
    U256::from_be_bytes::<32>(Sha256::digest(bytes).into())
}

/// The Keccak-256 hash (Yellow Paper, appendix A) of `bytes`, as a big-endian number.
pub fn keccak256_of(bytes: &[u8]) -> U256 {
    U256::from_be_bytes::<32>(Keccak256::digest(bytes).into())
}

/// Input bytes of a hash.
fn bytes(calldata: &[u8], pieces: impl IntoIterator<Item = Piece<U256>>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for piece in pieces {
        let room = (HASHED_BYTES_MAX as usize).checked_sub(bytes.len())?; // u32 to usize widens
        let size_bytes = usize::try_from(*piece.size_bytes()).ok().filter(|&size_bytes| size_bytes <= room)?;
        match piece {
            Piece::Word { word, .. } => bytes.extend(word.to_be_bytes::<32>().get(..size_bytes)?),
            Piece::Calldata { offset, .. } => bytes.extend(calldata_slice(calldata, offset, size_bytes)),
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8]) -> Piece<U256> {
        let mut all = [0; 32];
        all[..bytes.len()].copy_from_slice(bytes);
        Piece::Word { word: U256::from_be_bytes(all), size_bytes: U256::from(bytes.len()) }
    }

    fn calldata(offset: u64, size_bytes: u64) -> Piece<U256> {
        Piece::Calldata { offset: U256::from(offset), size_bytes: U256::from(size_bytes) }
    }

    #[test]
    fn pieces_are_hashed_one_after_the_other() {
        // FIPS 180-4's examples: the empty message, “abc”, and 56 letters, which take two blocks.
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        let cases: [(&[Piece<U256>], &str); 5] = [
            (&[], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (&[word(b"abc")], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (&[word(b"a"), word(b""), word(b"bc")], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (&[calldata(0, 56)], "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
            (
                &[calldata(0, 20), word(&long[20..50]), calldata(50, 6)],
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ];
        for (pieces, expected) in cases {
            let hash = sha256(long, pieces.iter().copied()).unwrap();
            assert_eq!(format!("{hash:064x}"), expected, "{pieces:?}");
        }
        // The hash of nothing stands in every account without code; that of “abc” in the submission of Keccak.
        let nothing = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
        let abc = "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45";
        for (pieces, expected) in [(vec![], nothing), (vec![word(b"a"), word(b"bc")], abc)] {
            assert_eq!(format!("{:064x}", keccak256(long, pieces).unwrap()), expected);
        }
        let zeros = sha256(&[], [word(&[0; 32]), word(&[0; 8])]);
        assert_eq!(sha256(long, [calldata(56, 40)]), zeros, "bytes past the end are zero");
    }

    #[test]
    fn more_than_memory_holds_is_not_hashed() {
        assert_eq!(sha256(&[], [calldata(0, u64::from(HASHED_BYTES_MAX) + 1)]), None);
        assert_eq!(sha256(&[], [calldata(0, 1), calldata(0, HASHED_BYTES_MAX.into())]), None);
        assert_eq!(sha256(&[], [Piece::Word { word: U256::ZERO, size_bytes: U256::from(33) }]), None);
        assert_eq!(sha256(&[], [Piece::Calldata { offset: U256::ZERO, size_bytes: U256::MAX }]), None);
    }
}
