//! The same over bytes, with a signer: a second text, which examples and tests take.
//!
//! A tree is not made: verification sees one leaf and its path, so the path is random, and a key signs one message.

use super::{DIGIT_BITS, INDEX_BYTES, Set};
use crate::hash_based::{TREE, WOTS_PK, keccak256};

/// Steps of a chain: w − 1.
const STEPS: u64 = (1 << DIGIT_BITS) - 1;

/// A type and three words of an address.
type Last = (u64, [u64; 3]);

/// Layer, tree, type and three words of 4, 12, 4 and 4 bytes each. FIPS 205, §4.2.
fn address((kind, words): Last) -> Vec<u8> {
    let four = |number: u64| number.to_be_bytes().into_iter().skip(4);
    [0; 16].into_iter().chain(four(kind)).chain(words.into_iter().flat_map(four)).collect()
}

impl Set {
    /// Nodes in the high parts of words.
    fn words(self, nodes: &[u8]) -> Vec<u8> {
        let n = self.node_bytes as usize; // 16 or 32
        nodes.chunks(n).flat_map(|node| [node, &vec![0; 32 - n]].concat()).collect()
    }

    /// A hash cut to a node.
    fn node(self, parts: &[&[u8]]) -> Vec<u8> {
        keccak256(parts)[..self.node_bytes as usize].to_vec() // 16 or 32
    }

    /// F, H and T. FIPS 205, §4.1.
    fn tweaked(self, seed: &[u8], last: Last, nodes: &[u8]) -> Vec<u8> {
        self.node(&[&self.words(seed), &address(last), &self.words(nodes)])
    }

    /// Digits of a node and of the sum of what they lack. FIPS 205, algorithm 8, lines 1 to 8.
    pub fn digits(self, node: &[u8]) -> Vec<u64> {
        let mut digits: Vec<u64> = node.iter().flat_map(|&byte| [u64::from(byte >> 4), u64::from(byte & 15)]).collect();
        let lacks: u64 = digits.iter().map(|digit| STEPS - digit).sum();
        digits.extend([8, 4, 0].map(|shift| lacks >> shift & STEPS));
        digits
    }

    /// Steps `from` to `to` − 1 of a chain. FIPS 205, algorithm 5.
    fn chain(self, seed: &[u8], key_pair: u64, number: usize, value: Vec<u8>, (from, to): (u64, u64)) -> Vec<u8> {
        let number = number as u64; // usize to u64 widens
        (from..to).fold(value, |value, step| self.tweaked(seed, (0, [key_pair, number, step]), &value))
    }

    /// The public key of WOTS+ that chains lead to. FIPS 205, algorithm 8.
    fn one_time_key(self, seed: &[u8], key_pair: u64, signed: &[u8], chains: &[u8]) -> Vec<u8> {
        let n = self.node_bytes as usize; // 16 or 32
        let top = |(number, (start, digit)): (usize, (&[u8], u64))| {
            self.chain(seed, key_pair, number, start.to_vec(), (digit, STEPS))
        };
        let tops: Vec<u8> = chains.chunks(n).zip(self.digits(signed)).enumerate().flat_map(top).collect();
        self.tweaked(seed, (WOTS_PK, [key_pair, 0, 0]), &tops)
    }

    /// The root above a leaf. FIPS 205, algorithm 11.
    fn climb(self, seed: &[u8], leaf: Vec<u8>, index: u64, path: &[u8]) -> Vec<u8> {
        let n = self.node_bytes as usize; // 16 or 32
        path.chunks(n).zip(1u64..).fold(leaf, |below, (other, height)| {
            let above = index >> height;
            let pair = if index >> (height - 1) & 1 == 1 { [other, &below] } else { [&below, other] };
            self.tweaked(seed, (TREE, [0, height, above]), &pair.concat())
        })
    }

    /// The node that is signed: the message itself, or its hash with seed, root, R and index.
    fn signed(self, public: &[u8], message: &[u8], r: &[u8], index: u64) -> Vec<u8> {
        if self.height == 0 {
            return message.to_vec();
        }
        let words = [self.words(public), self.words(r)].concat();
        self.node(&[&words, &[0; 24], &index.to_be_bytes(), message])
    }
}

/// True if calldata of any length has a signature.
pub fn verify(set: Set, calldata: &[u8]) -> bool {
    // usize to u64 widens
    if calldata.len() as u64 != set.calldata_bytes() {
        return false;
    }
    let n = set.node_bytes as usize; // 16 or 32
    let (public, rest) = calldata.split_at(2 * n);
    let (seed, root) = public.split_at(n);
    let (message, rest) = rest.split_at(set.message_bytes() as usize); // at most 32
    let before = set.chains_at() - set.head_bytes();
    let (before, rest) = rest.split_at(before as usize); // at most 36
    let (index, r) = before.split_at(before.len().min(INDEX_BYTES as usize)); // 4
    let index = index.iter().fold(0, |index, &byte| index << 8 | u64::from(byte));
    let (chains, path) = rest.split_at(n * set.chains() as usize); // at most 67
    let leaf = set.one_time_key(seed, index, &set.signed(public, message, r, index), chains);
    index >> set.height == 0 && set.climb(seed, leaf, index, path) == root
}

/// Calldata with a signature of a message, of as many bytes as the set signs, by a key of this number.
///
/// # Panics
///
/// Panics if the message has another length.
pub fn signed_calldata(set: Set, number: u64, message: &[u8]) -> Vec<u8> {
    let hash = keccak256(&[b"XMSS index", &number.to_be_bytes()]);
    let index = hash.iter().fold(0, |index, &byte| index << 8 | u64::from(byte)) % (1 << set.height);
    signed_with_index(set, (number, index), message)
}

/// The same with the leaf of an index, which may be beyond the tree.
///
/// # Panics
///
/// Panics if the message has another length.
pub fn signed_with_index(set: Set, (number, index): (u64, u64), message: &[u8]) -> Vec<u8> {
    assert_eq!(message.len() as u64, set.message_bytes(), "a message of another length"); // usize to u64 widens
    let n = set.node_bytes as usize; // 16 or 32
    let random = |which: &[u8], part: u64| set.node(&[b"XMSS", &number.to_be_bytes(), which, &part.to_be_bytes()]);
    let (seed, r) = (random(b"seed", 0), random(b"R", 0));
    let path: Vec<u8> = (0..set.height).flat_map(|level| random(b"path", level)).collect();
    let part = |(chain, to): (usize, u64)| {
        set.chain(&seed, index, chain, random(b"chain", chain as u64), (0, to)) // usize to u64 widens
    };
    let tops: Vec<u8> = (0..set.chains() as usize).flat_map(|chain| part((chain, STEPS))).collect(); // at most 67
    let leaf = set.tweaked(&seed, (WOTS_PK, [index, 0, 0]), &tops);
    let public = [&seed[..], &set.climb(&seed, leaf, index, &path)].concat();
    let signed = set.signed(&public, message, &r, index);
    let chains: Vec<u8> = set.digits(&signed).into_iter().enumerate().flat_map(part).collect();
    let before = if set.height == 0 { Vec::new() } else { [&index.to_be_bytes()[4..], &r[..n]].concat() };
    [&public, message, &before, &chains, &path].concat()
}

/// Keccak-256 of the bytes from 0 to 31, cut to what the set signs, signed by key 1: digits of bytes that count would be small, and chains long.
pub(super) fn example(set: Set) -> Vec<u8> {
    let bytes: Vec<u8> = (0..32).collect();
    signed_calldata(set, 1, &keccak256(&[&bytes])[..set.message_bytes() as usize]) // at most 32
}
