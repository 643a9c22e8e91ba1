//! A second text of verification, over bytes, and signatures that are valid without a trapdoor: of a key that is made for them.

use super::{DEGREE, Hash, KEY_BYTES, LANES, MODULUS, NORM_MAX, S2_BYTES, SALT_BYTES, WORDS};
use crate::hash_based::keccak256;
use crate::ntt::FALCON;
use sha3::Shake256;
use sha3::digest::{ExtendableOutput, Update, XofReader};

impl Hash {
    /// 512 numbers of 16 bits, reduced.
    pub fn to_point(self, message: &[u8], salt: &[u8]) -> Vec<u64> {
        let bytes: Box<dyn Iterator<Item = u8>> = match self {
            // Blocks are hashes of the hash and an 8-byte count.
            Self::Keccak => {
                let state = keccak256(&[message, salt]);
                Box::new((0u64..).flat_map(move |count| keccak256(&[&state, &count.to_be_bytes()])))
            }
            Self::Shake => {
                let mut hash = Shake256::default();
                [salt, message].into_iter().for_each(|part| hash.update(part));
                let mut reader = hash.finalize_xof();
                Box::new(std::iter::repeat_with(move || {
                    let mut byte = [0];
                    reader.read(&mut byte);
                    byte[0]
                }))
            }
        };
        let mut bytes = bytes.map(u64::from);
        let numbers = std::iter::from_fn(|| Some(bytes.next()? << 8 | bytes.next()?));
        numbers.filter(|&number| number < 5 * MODULUS).map(|number| number % MODULUS).take(DEGREE).collect()
    }
}

/// s₂ in bytes: Falcon's specification, algorithm 17. None if it does not fit.
pub fn compressed(s2: &[i64]) -> Option<Vec<u8>> {
    let mut bits = String::new();
    for &value in s2 {
        let size = value.unsigned_abs();
        if size >= 1 << 11 {
            return None;
        }
        let sign = if value < 0 { '1' } else { '0' };
        bits += &format!("{sign}{:07b}{}1", size & 127, "0".repeat((size >> 7) as usize)); // few
    }
    (bits.len() <= 8 * S2_BYTES).then(|| packed(&bits, S2_BYTES))
}

/// Digits as so many bytes, with zeros after them.
pub fn packed(bits: &str, size: usize) -> Vec<u8> {
    let bit = |at: usize| u8::from(bits.as_bytes().get(at) == Some(&b'1'));
    (0..size).map(|byte| (0..8).fold(0, |sum, at| sum << 1 | bit(8 * byte + at))).collect()
}

/// Algorithm 18. None for an encoding that compression does not make.
pub fn decompressed(bytes: &[u8]) -> Option<Vec<i64>> {
    let bit = |at: usize| bytes.get(at / 8).map(|byte| i64::from(byte >> (7 - at % 8) & 1));
    let (mut at, mut values) = (0, Vec::new());
    for _ in 0..DEGREE {
        let is_negative = bit(at)? == 1;
        let low = (at + 1..at + 8).try_fold(0, |sum, at| Some(sum << 1 | bit(at)?))?;
        at += 8;
        let mut high = 0;
        while bit(at)? == 0 {
            (high, at) = (high + 1, at + 1);
        }
        at += 1;
        let size = high << 7 | low;
        if high > 15 || is_negative && size == 0 {
            return None;
        }
        values.push(if is_negative { -size } else { size });
    }
    let rest = |at: usize| bit(at) == Some(1);
    (!(at..8 * bytes.len()).any(rest)).then_some(values)
}

/// a·b modulo x⁵¹² + 1 and q.
pub fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = vec![0; DEGREE];
    for (i, &x) in a.iter().enumerate().filter(|&(_, &x)| x > 0) {
        for (j, &y) in b.iter().enumerate() {
            let term = if i + j < DEGREE { x * y } else { x * (MODULUS - y) };
            let sum = &mut out[(i + j) % DEGREE];
            *sum = (*sum + term) % MODULUS;
        }
    }
    out
}

fn residue(value: i64) -> u64 {
    u64::try_from(value.rem_euclid(MODULUS.cast_signed())).expect("it is not negative")
}

/// s₂ in two bytes a coefficient, modulo q.
pub fn numbers(s2: &[i64]) -> Vec<u8> {
    s2.iter().flat_map(|&value| residue(value).to_be_bytes().into_iter().skip(6)).collect()
}

/// The answer for a key, a message, and a signature as salt and s₂.
pub fn verify(hash: Hash, key: &[u64], message: &[u8], [salt, s2]: [&[u8]; 2]) -> bool {
    decompressed(s2).is_some_and(|s2| verify_values(hash, key, message, (salt, &s2)))
}

/// The answer for s₂ as numbers.
pub fn verify_values(hash: Hash, key: &[u64], message: &[u8], (salt, s2): (&[u8], &[i64])) -> bool {
    let residues: Vec<u64> = s2.iter().copied().map(residue).collect();
    let half = MODULUS.cast_signed() / 2;
    let point = hash.to_point(message, salt);
    let pairs = point.iter().zip(product(&residues, key));
    let s1 = pairs.map(|(&c, p)| residue(c.cast_signed() - p.cast_signed() + half).cast_signed() - half);
    s1.chain(s2.iter().copied()).map(|value| value.unsigned_abs().pow(2)).sum::<u64>() <= NORM_MAX
}

/// A key of 14 bits a coefficient.
pub fn packed_key(key: &[u64]) -> Vec<u8> {
    packed(&key.iter().map(|value| format!("{value:014b}")).collect::<String>(), KEY_BYTES)
}

/// A key as verification takes it: residues by Horner's rule.
pub fn transformed(key: &[u64]) -> Vec<u8> {
    let scale = power(WORDS as u64, MODULUS - 2); // usize to u64 widens
    let backwards: Vec<u64> = (0..DEGREE).map(|i| if i == 0 { key[0] } else { MODULUS - key[DEGREE - i] }).collect();
    let lane = |word: usize, lane: usize| {
        let terms = (0..WORDS).rev().map(|at| backwards[LANES * at + lane]);
        terms.fold(0, |sum, term| (sum * FALCON.residue_root(word) + term) % MODULUS) * scale % MODULUS
    };
    let lanes = (0..WORDS).flat_map(|word| (0..LANES).rev().map(move |at| lane(word, at)));
    lanes.flat_map(|value| value.to_be_bytes().into_iter().skip(4)).collect()
}

fn power(base: u64, exponent: u64) -> u64 {
    let square = |half: u64| half * half % MODULUS;
    match exponent {
        0 => 1,
        _ => square(power(base, exponent / 2)) * if exponent % 2 == 1 { base } else { 1 } % MODULUS,
    }
}

/// A signature with the key that it is of.
#[derive(Debug, Clone)]
pub struct Signed {
    /// Hash to point.
    pub hash: Hash,
    /// h.
    pub key: Vec<u64>,
    /// A message of any length.
    pub message: Vec<u8>,
    /// 40 bytes.
    pub salt: Vec<u8>,
    /// s₂ in bytes.
    pub s2: Vec<u8>,
}

impl Signed {
    /// The signature of a message with these s₁ and s₂: the key is (c − s₁) / s₂. None if s₂ has no inverse
    /// or is too long.
    pub fn new(hash: Hash, message: Vec<u8>, salt: Vec<u8>, values: [&[i64]; 2]) -> Option<Self> {
        Self::with(hash, [message, salt, compressed(values[1])?], values)
    }

    /// The same of a message and a salt with other bytes for s₂.
    pub fn with(hash: Hash, [message, salt, bytes]: [Vec<u8>; 3], [s1, s2]: [&[i64]; 2]) -> Option<Self> {
        let point = hash.to_point(&message, &salt);
        let values: Vec<u64> = (0..DEGREE)
            .map(|place| {
                let root = FALCON.root_of(place);
                let at = |of: &mut dyn DoubleEndedIterator<Item = u64>| {
                    of.rev().fold(0, |sum, term| (sum * root + term) % MODULUS)
                };
                let divisor = at(&mut s2.iter().copied().map(residue));
                let dividend = at(&mut point.iter().zip(s1).map(|(&c, &s1)| residue(c.cast_signed() - s1)));
                (divisor > 0).then(|| dividend * power(divisor, MODULUS - 2) % MODULUS)
            })
            .collect::<Option<_>>()?;
        // Σ over roots of the value times the root to the power −i, divided by n.
        let scale = power(DEGREE as u64, MODULUS - 2); // usize to u64 widens
        let mut terms: Vec<u64> = values.iter().map(|value| value * scale % MODULUS).collect();
        let inverses: Vec<u64> = (0..DEGREE).map(|place| power(FALCON.root_of(place), MODULUS - 2)).collect();
        let coefficient = |_| {
            let sum = terms.iter().sum::<u64>() % MODULUS;
            terms.iter_mut().zip(&inverses).for_each(|(term, inverse)| *term = *term * inverse % MODULUS);
            sum
        };
        let key = (0..DEGREE).map(coefficient).collect();
        Some(Self { hash, key, message, salt, s2: bytes })
    }

    /// That of a contract's example.
    pub fn example(hash: Hash) -> Self {
        let numbers = (0u32..).flat_map(|count| keccak256(&[b"falcon512/eth", &count.to_be_bytes()]));
        let values: Vec<i64> = numbers.take(2 * DEGREE).map(|byte| 2 * i64::from(byte.cast_signed())).collect();
        let message = keccak256(&[b"message"]).to_vec();
        let salt = [&keccak256(&[b"salt"])[..], &[7; 8]].concat();
        debug_assert_eq!(salt.len(), SALT_BYTES);
        Self::new(hash, message, salt, [&values[..DEGREE], &values[DEGREE..]]).expect("s₂ is short and has an inverse")
    }

    /// Calldata of the contract: what is hashed stands together.
    pub fn calldata(&self) -> Vec<u8> {
        self.calldata_with(&self.s2)
    }

    /// Calldata of `falcon512/eth_numbers`.
    ///
    /// # Panics
    ///
    /// If s₂ is not what compression makes.
    pub fn calldata_of_numbers(&self) -> Vec<u8> {
        self.calldata_with(&numbers(&decompressed(&self.s2).expect("s₂ is compressed")))
    }

    /// Calldata with these bytes in place of s₂.
    pub fn calldata_with(&self, s2: &[u8]) -> Vec<u8> {
        let key = transformed(&self.key);
        let hashed = match self.hash {
            Hash::Keccak => [&self.message[..], &self.salt],
            Hash::Shake => [&self.salt[..], &self.message],
        };
        [&keccak256(&[&key])[..], &key, hashed[0], hashed[1], s2].concat()
    }
}
