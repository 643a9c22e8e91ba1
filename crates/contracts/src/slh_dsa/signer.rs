//! FIPS 205 over bytes, for any parameters with n = 16: a second text, which examples and tests take. Hashes are SHA-256, as §11.2.1 has them, or
//! Keccak-256, as [`super`] says.
//!
//! A key of 2²² leaves is not made: verification sees one leaf and its path, so all else is random, and R is searched until the digest names that leaf.
//! Such a key signs one message, in as many ways as there are secrets of FORS.

use crate::hash_based::{FORS_ROOTS, FORS_TREE, N, TREE, WOTS_PK, keccak256};
use sha2::{Digest, Sha256};

/// Bytes of a node.
const NODE_BYTES: usize = N as usize; // 16
const WOTS_HASH: u64 = 0;

/// 16 bytes.
pub type Node = [u8; NODE_BYTES];

/// The hash functions of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// SHA-256.
    Sha2,
    /// Keccak-256 of words.
    Keccak,
}

/// Parameters. FIPS 205, table 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set {
    /// Its hash functions.
    pub family: Family,
    /// Levels of all trees above FORS: h.
    pub height: usize,
    /// Layers of trees: d.
    pub layers: usize,
    /// Levels of a FORS tree: a.
    pub fors_height: usize,
    /// FORS trees: k.
    pub fors_trees: usize,
    /// Bits of a digit: log₂ w.
    pub digit_bits: usize,
    /// Bytes of a digest: m.
    pub digest_bytes: usize,
}

/// SLH-DSA-SHA2-128-24. NIST SP 800-230, table 1.
pub const SHA2_128_24: Set = Set {
    family: Family::Sha2,
    height: 22,
    layers: 1,
    fors_height: 24,
    fors_trees: 6,
    digit_bits: 2,
    digest_bytes: 21,
};
/// SLH-DSA-Keccak-128-24.
pub const KECCAK_128_24: Set = Set { family: Family::Keccak, ..SHA2_128_24 };
/// SLH-DSA-SHA2-128f.
pub const SHA2_128F: Set = Set {
    family: Family::Sha2,
    height: 66,
    layers: 22,
    fors_height: 6,
    fors_trees: 33,
    digit_bits: 4,
    digest_bytes: 34,
};

impl Set {
    const fn tree_height(self) -> usize {
        self.height / self.layers
    }

    const fn steps(self) -> u64 {
        (1 << self.digit_bits) - 1
    }

    /// Digits of a node and of its checksum. FIPS 205, §5.
    const fn chains(self) -> [usize; 2] {
        let node = 8 * NODE_BYTES / self.digit_bits;
        let most = node as u64 * self.steps(); // usize to u64 widens
        [node, ((u64::BITS - most.leading_zeros()) as usize).div_ceil(self.digit_bits)] // 64 at most
    }

    fn all_chains(self) -> usize {
        self.chains().iter().sum()
    }

    /// Bytes of a signature.
    pub fn signature_bytes(self) -> usize {
        let fors = self.fors_trees * (1 + self.fors_height);
        NODE_BYTES * (1 + fors + self.layers * self.all_chains() + self.height)
    }
}

/// A layer, and the number of a tree in it.
type Tree = (u64, u64);

/// A tree, a type and three words.
#[derive(Debug, Clone, Copy)]
struct Address {
    tree: Tree,
    kind: u64,
    words: [usize; 3],
}

const fn address(tree: Tree, kind: u64, words: [usize; 3]) -> Address {
    Address { tree, kind, words }
}

impl Address {
    /// FIPS 205, §11.2.
    fn compressed(self) -> Vec<u8> {
        let (layer, tree) = self.tree;
        [&layer.to_be_bytes()[7..], &tree.to_be_bytes(), &self.kind.to_be_bytes()[7..], &self.last()].concat()
    }

    /// Layer, tree, type and key pair of 4, 8, 4 and 4 bytes, then three words: of chains the first two, of trees the last two.
    fn of_words(self) -> Vec<u8> {
        let (layer, tree) = self.tree;
        let (last, zeros) = (self.last(), [0; 4]);
        let (key_pair, two) = last.split_at(4);
        let two = if self.kind == WOTS_HASH { [two, &zeros].concat() } else { [&zeros[..], two].concat() };
        [&layer.to_be_bytes()[4..], &tree.to_be_bytes(), &self.kind.to_be_bytes()[4..], key_pair, &two].concat()
    }

    fn last(self) -> Vec<u8> {
        self.words.into_iter().flat_map(|word| (word as u64).to_be_bytes().into_iter().skip(4)).collect() // usize to u64 widens
    }
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

fn node(bytes: &[u8]) -> Node {
    bytes[..NODE_BYTES].try_into().expect("there are as many bytes")
}

/// Each node in the high half of a word.
fn words(nodes: &[u8]) -> Vec<u8> {
    nodes.chunks(NODE_BYTES).flat_map(|node| [node, &[0; NODE_BYTES]].concat()).collect()
}

/// F, H and T. FIPS 205, §11.2.1.
fn tweaked(set: Set, seed: &Node, address: Address, nodes: &[u8]) -> Node {
    node(&match set.family {
        Family::Sha2 => sha256(&[seed, &[0; 48], &address.compressed(), nodes]),
        Family::Keccak => keccak256(&[&words(seed), &address.of_words(), &words(nodes)]),
    })
}

/// Numbers of so many bits, the first most significant. FIPS 205, algorithm 4.
fn base_2b(bytes: &[u8], bits: usize, count: usize) -> Vec<usize> {
    let bit = |at: usize| usize::from(bytes[at / 8] >> (7 - at % 8) & 1);
    (0..count).map(|digit| (0..bits).fold(0, |number, at| number << 1 | bit(bits * digit + at))).collect()
}

/// FIPS 205, §11.2.1: H_msg.
fn message_digest(set: Set, public: &[u8; 32], r: &[u8], message: &[u8]) -> Vec<u8> {
    let (seed, root) = public.split_at(NODE_BYTES);
    if set.family == Family::Keccak {
        let mut tail = [0xff; 32];
        tail[31] = 0xfb;
        return keccak256(&[&words(seed), &words(root), &words(r), message, &tail]).to_vec();
    }
    let inner = sha256(&[r, seed, root, message]);
    let blocks =
        (0..set.digest_bytes.div_ceil(32) as u32).flat_map(|block| sha256(&[r, seed, &inner, &block.to_be_bytes()])); // few
    blocks.take(set.digest_bytes).collect()
}

/// So many bits from the lowest of a digest with Keccak-256 up, without the first `from`.
fn low_bits(digest: &[u8], from: usize, count: usize) -> usize {
    let bit = |at: usize| usize::from(digest[digest.len() - 1 - at / 8] >> (at % 8) & 1);
    (0..count).rev().fold(0, |number, at| number << 1 | bit(from + at))
}

/// The tree and the leaf that a digest names. FIPS 205, algorithm 20.
fn place_of(set: Set, digest: &[u8]) -> (u64, usize) {
    if set.family == Family::Keccak {
        return (0, low_bits(digest, set.fors_trees * set.fors_height, set.height));
    }
    let number = |bytes: &[u8], bits: usize| {
        let number = bytes.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        if bits == 64 { number } else { number & ((1 << bits) - 1) }
    };
    let above = set.height - set.tree_height();
    let (tree, leaf) = digest[(set.fors_trees * set.fors_height).div_ceil(8)..].split_at(above.div_ceil(8));
    (number(tree, above), number(leaf, set.tree_height()) as usize) // a tree has few leaves
}

/// The same with FORS indices before it.
fn parts_of(set: Set, digest: &[u8]) -> (Vec<usize>, u64, usize) {
    let (tree, leaf) = place_of(set, digest);
    let (height, trees) = (set.fors_height, set.fors_trees);
    let indices = match set.family {
        Family::Sha2 => base_2b(digest, height, trees),
        Family::Keccak => (0..trees).map(|number| low_bits(digest, number * height, height)).collect(),
    };
    (indices, tree, leaf)
}

/// Digits of a node and of what they lack. FIPS 205, algorithm 8.
fn digits_of(set: Set, node: &Node) -> Vec<usize> {
    let [node_chains, sum_chains] = set.chains();
    let mut digits = base_2b(node, set.digit_bits, node_chains);
    if set.family == Family::Keccak {
        digits.reverse();
    }
    let lacks: u64 = digits.iter().map(|&digit| set.steps() - digit as u64).sum(); // usize to u64 widens
    let bits = sum_chains * set.digit_bits;
    let shifted = lacks << ((8 - bits % 8) % 8);
    let bytes = shifted.to_be_bytes();
    digits.extend(base_2b(&bytes[8 - bits.div_ceil(8)..], set.digit_bits, sum_chains));
    digits
}

/// Steps of the chains of a signature: what gas depends on.
pub fn steps_left(set: Set, node: &Node) -> u64 {
    digits_of(set, node).iter().map(|&digit| set.steps() - digit as u64).sum() // usize to u64 widens
}

/// Steps `from` to `to` − 1 of a chain.
fn chain(
    set: Set,
    seed: &Node,
    tree: Tree,
    (leaf, number): (usize, usize),
    value: Node,
    (from, to): (usize, usize),
) -> Node {
    let step = |value: Node, step| tweaked(set, seed, address(tree, WOTS_HASH, [leaf, number, step]), &value);
    (from..to).fold(value, step)
}

fn climb(
    (set, seed): (Set, &Node),
    mut below: Node,
    index: usize,
    path: &[u8],
    address: impl Fn(usize, usize) -> Address,
) -> Node {
    for (level, other) in path.chunks(NODE_BYTES).enumerate() {
        let pair = if index >> level & 1 == 1 { [other, &below] } else { [&below, other] };
        below = tweaked(set, seed, address(level + 1, index >> (level + 1)), &pair.concat());
    }
    below
}

/// FIPS 205, algorithm 17.
fn fors_node(set: Set, seed: &Node, (indices, tree, leaf): &(Vec<usize>, u64, usize), signature: &[u8]) -> Node {
    let at = |height, index| address((0, *tree), FORS_TREE, [*leaf, height, index]);
    let part_bytes = NODE_BYTES * (1 + set.fors_height);
    let root = |(number, (&index, part)): (usize, (&usize, &[u8]))| {
        let whole = number << set.fors_height | index;
        let (secret, path) = part.split_at(NODE_BYTES);
        climb((set, seed), tweaked(set, seed, at(0, whole), secret), whole, path, at)
    };
    let roots: Vec<u8> = indices.iter().zip(signature.chunks(part_bytes)).enumerate().flat_map(root).collect();
    tweaked(set, seed, address((0, *tree), FORS_ROOTS, [*leaf, 0, 0]), &roots)
}

/// The root that a signature of the right length leads to; and the node that FORS signs. FIPS 205, algorithm 20.
pub fn root_from(set: Set, public: &[u8; 32], message: &[u8], signature: &[u8]) -> (Node, Node) {
    let seed = node(public);
    let (r, rest) = signature.split_at(NODE_BYTES);
    let parts = parts_of(set, &message_digest(set, public, r, message));
    let (fors, mut rest) = rest.split_at(NODE_BYTES * set.fors_trees * (1 + set.fors_height));
    let signed = fors_node(set, &seed, &parts, fors);
    let (_, mut tree, mut leaf) = parts;
    let mut below = signed;
    for layer in 0..set.layers as u64 {
        let place = (layer, tree);
        let (chains, after) = rest.split_at(NODE_BYTES * set.all_chains());
        let (path, after) = after.split_at(NODE_BYTES * set.tree_height());
        let digits = digits_of(set, &below);
        let steps = set.steps() as usize; // few
        let top = |(number, (value, &digit)): (usize, (&[u8], &usize))| {
            chain(set, &seed, place, (leaf, number), node(value), (digit, steps))
        };
        let tops: Vec<u8> = chains.chunks(NODE_BYTES).zip(&digits).enumerate().flat_map(top).collect();
        let of_key = tweaked(set, &seed, address(place, WOTS_PK, [leaf, 0, 0]), &tops);
        below = climb((set, &seed), of_key, leaf, path, |height, index| address(place, TREE, [0, height, index]));
        rest = after;
        leaf = tree as usize & ((1 << set.tree_height()) - 1); // a tree has few leaves
        tree = tree.checked_shr(set.tree_height() as u32).unwrap_or(0); // few
    }
    (below, signed)
}

/// The bytes that are signed for a message: with SHA-256 it has an empty context before it. FIPS 205, algorithm 22.
pub fn external(set: Set, message: &[u8]) -> Vec<u8> {
    match set.family {
        Family::Sha2 => [&[0, 0], message].concat(),
        Family::Keccak => message.to_vec(),
    }
}

/// True if a signature of any length is one of what is signed. FIPS 205, algorithm 20.
pub fn verify(set: Set, public: &[u8; 32], message: &[u8], signature: &[u8]) -> bool {
    signature.len() == set.signature_bytes() && root_from(set, public, message, signature).0 == public[NODE_BYTES..]
}

/// A key for one message, of a set with one layer.
#[derive(Debug, Clone)]
pub struct Signer {
    set: Set,
    public: [u8; 32],
    secret: Node,
    path: Vec<u8>,
    r: Node,
    parts: (Vec<usize>, u64, usize),
}

impl Signer {
    /// The key of this number for what is signed. R is searched from `first` on.
    ///
    /// # Panics
    ///
    /// Panics if the set has several layers.
    pub fn new(set: Set, number: u64, message: &[u8], first: u128) -> Self {
        assert_eq!(set.layers, 1, "trees of other layers are not made");
        let random = |which: u8| node(&sha256(&[b"SLH-DSA", &number.to_be_bytes(), &[which]]));
        let (seed, secret) = (random(0), random(1));
        let leaf = random(2).iter().fold(0, |leaf, &byte| (leaf << 8 | usize::from(byte)) & ((1 << set.height) - 1));
        let mut signer = Self {
            set,
            public: [0; 32],
            secret,
            path: many(&secret, b"path", set.height),
            r: [0; NODE_BYTES],
            parts: (Vec::new(), 0, leaf),
        };
        let steps = set.steps() as usize; // few
        let tops: Vec<u8> =
            (0..set.all_chains()).flat_map(|chain| signer.part_of_chain(&seed, chain, (0, steps))).collect();
        let of_key = tweaked(set, &seed, address((0, 0), WOTS_PK, [leaf, 0, 0]), &tops);
        let root =
            climb((set, &seed), of_key, leaf, &signer.path, |height, index| address((0, 0), TREE, [0, height, index]));
        signer.public = [seed, root].concat().try_into().expect("two nodes are 32 bytes");
        let mut digests = (first..).map(|number| {
            let r = number.to_be_bytes();
            (r, message_digest(set, &signer.public, &r, message))
        });
        let found = digests.find(|(_, digest)| place_of(set, digest).1 == leaf);
        let (r, digest) = found.expect("some R leads to the leaf");
        (signer.r, signer.parts) = (r, parts_of(set, &digest));
        signer
    }

    /// Seed and root.
    pub fn public(&self) -> [u8; 32] {
        self.public
    }

    /// R.
    pub fn randomizer(&self) -> u128 {
        u128::from_be_bytes(self.r)
    }

    fn part_of_chain(&self, seed: &Node, number: usize, steps: (usize, usize)) -> Node {
        let start = node(&sha256(&[&self.secret, b"chain", &number.to_be_bytes()]));
        chain(self.set, seed, (0, 0), (self.parts.2, number), start, steps)
    }

    /// A signature with the secrets of FORS of this number.
    pub fn sign(&self, number: u64) -> Vec<u8> {
        let (set, seed) = (self.set, node(&self.public));
        let secret = node(&sha256(&[&self.secret, &number.to_be_bytes()]));
        let fors = many(&secret, b"fors", set.fors_trees * (1 + set.fors_height));
        let digits = digits_of(set, &fors_node(set, &seed, &self.parts, &fors));
        let chains = digits.iter().enumerate().flat_map(|(chain, &digit)| self.part_of_chain(&seed, chain, (0, digit)));
        [&self.r[..], &fors, &chains.collect::<Vec<u8>>(), &self.path].concat()
    }
}

/// Nodes at random.
fn many(secret: &Node, of: &[u8], nodes: usize) -> Vec<u8> {
    (0..nodes).flat_map(|number| node(&sha256(&[secret, of, &number.to_be_bytes()]))).collect()
}

/// The bytes from 0 to 31 signed by key 1.
pub(super) fn example(set: Set) -> Vec<u8> {
    // The first R that leads to its leaf, so that examples need not search it.
    let first = match set.family {
        Family::Sha2 => 6_066_103,
        Family::Keccak => 11_658_812,
    };
    let message: Vec<u8> = (0..32).collect();
    let signer = Signer::new(set, 1, &external(set, &message), first);
    [&signer.public()[..], &message, &signer.sign(0)].concat()
}
