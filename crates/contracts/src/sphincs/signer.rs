//! Keys and signatures, and what a signature leads to: a second text of the sets, over bytes, which examples and tests take.
//!
//! Of the trees below the topmost one, and of FORS, verification sees one leaf and its path, so the rest is random: such a key signs, but is no more than
//! an example. Of the topmost tree examples know a path, so that it need not be made.

use super::{CHAINS, Set};
use crate::hash_based::{FORS_ROOTS, FORS_TREE, N, TREE, WOTS_PK, keccak256};

/// Bytes of a node.
const NODE_BYTES: usize = N as usize; // 16
const WOTS_HASH: u64 = 0;
/// The last step of a chain.
const STEPS: u64 = 7;

/// 16 bytes.
pub type Node = [u8; NODE_BYTES];

/// Three words at the end of an address.
type Words = [u64; 3];

fn cut(hash: [u8; 32]) -> Node {
    hash[..NODE_BYTES].try_into().expect("a hash is longer than a node")
}

/// A node in the high half of a word.
fn word(node: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    word[..NODE_BYTES].copy_from_slice(node);
    word
}

/// FIPS 205, §4.2: layer, tree and type, then three words.
fn address(layer: u64, tree: u64, kind: u64, words: Words) -> [u8; 32] {
    let mut bytes = [0; 32];
    let fields =
        [(0..4, layer), (8..16, tree), (16..20, kind), (20..24, words[0]), (24..28, words[1]), (28..32, words[2])];
    for (range, value) in fields {
        let length = range.len();
        bytes[range].copy_from_slice(&value.to_be_bytes()[8 - length..]);
    }
    bytes
}

/// The hash of nodes under an address.
fn tweaked(seed: &Node, address: [u8; 32], nodes: &[Node]) -> Node {
    let nodes: Vec<u8> = nodes.iter().flat_map(|node| word(node)).collect();
    cut(keccak256(&[&word(seed), &address, &nodes]))
}

/// `count` bits from bit `from` on, with those before them in a byte 64 at most.
fn bits(digest: &[u8; 32], from: u64, count: u64) -> u64 {
    let end = 32 - (from / 8) as usize; // below 256
    let window = digest[end.saturating_sub(8)..end].iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    window >> (from % 8) & ((1 << count) - 1)
}

fn message_digest(seed: &Node, root: &Node, r: &[u8], message: &[u8; 32]) -> [u8; 32] {
    keccak256(&[&word(seed), &word(root), &word(r), message, &[0xff; 32]])
}

/// The digits of a node, lowest bits first.
fn digits(seed: &Node, base: [u8; 32], node: &Node, count: u32) -> [u64; CHAINS as usize] {
    let mut counted = [0; 32];
    counted[28..].copy_from_slice(&count.to_be_bytes());
    let digest = keccak256(&[&word(seed), &base, &word(node), &counted]);
    let mut digits = [0; CHAINS as usize]; // 43
    for (digit, number) in digits.iter_mut().zip(0..) {
        *digit = bits(&digest, 3 * number, 3);
    }
    digits
}

/// Steps `from` to `to` − 1 of a chain.
fn chain(seed: &Node, place: (u64, u64, u64), number: u64, value: Node, (from, to): (u64, u64)) -> Node {
    let (layer, tree, leaf) = place;
    let step = |value, step| tweaked(seed, address(layer, tree, WOTS_HASH, [leaf, number, step]), &[value]);
    (from..to).fold(value, step)
}

/// The root above a node.
fn climb(seed: &Node, mut node: Node, index: u64, path: &[u8], address: impl Fn(u64, u64) -> [u8; 32]) -> Node {
    for (other, level) in path.chunks(NODE_BYTES).zip(0..) {
        let other = other.try_into().expect("a path has whole nodes");
        let pair = if index >> level & 1 == 1 { [other, node] } else { [node, other] };
        node = tweaked(seed, address(level + 1, index >> (level + 1)), &pair);
    }
    node
}

/// The node that FORS signs; `body` is the signature after R. Of the last tree there is leaf 0 alone, whatever the digest says.
fn fors_root(set: Set, seed: &Node, digest: &[u8; 32], body: &[u8]) -> Node {
    let (height, trees) = (set.fors_height, set.fors_trees);
    let index = bits(digest, trees * height, set.height);
    let (leaf, tree) = (index & ((1 << set.tree_height()) - 1), index >> set.tree_height());
    let at = |height: u64, index: u64| address(0, tree, FORS_TREE, [leaf, height, index]);
    let path_bytes = (N * height) as usize; // a signature is short
    let (secrets, paths) = body.split_at((N * trees) as usize); // likewise
    let root = |(number, secret): (u64, &[u8])| {
        let is_last = number + 1 == trees;
        let whole = number << height | if is_last { 0 } else { bits(digest, number * height, height) };
        let node = tweaked(seed, at(0, whole), &[secret.try_into().expect("secrets are nodes")]);
        let path = paths.chunks(path_bytes).nth(number as usize).filter(|_| !is_last); // few
        climb(seed, node, whole, path.unwrap_or_default(), at)
    };
    let roots: Vec<Node> = (0..).zip(secrets.chunks(NODE_BYTES)).map(root).collect();
    tweaked(seed, address(0, tree, FORS_ROOTS, [leaf, 0, 0]), &roots)
}

/// The root that a signature of the right length leads to; none if the last FORS index or the sum of a layer's digits is not what it has to be.
pub fn root_from(set: Set, public: &[u8; 32], message: &[u8; 32], signature: &[u8]) -> Option<Node> {
    let (seed, root) = (cut(word(&public[..NODE_BYTES])), cut(word(&public[NODE_BYTES..])));
    let (fors, mut rest) = signature.split_at(set.fors_bytes() as usize); // a signature is short
    let (r, body) = fors.split_at(NODE_BYTES);
    let digest = message_digest(&seed, &root, r, message);
    if bits(&digest, (set.fors_trees - 1) * set.fors_height, set.fors_height) != 0 {
        return None;
    }
    let mut node = fors_root(set, &seed, &digest, body);
    let mut index = bits(&digest, set.fors_trees * set.fors_height, set.height);
    for layer in 0..set.layers {
        let (leaf, tree) = (index & ((1 << set.tree_height()) - 1), index >> set.tree_height());
        let (chains, after) = rest.split_at((N * CHAINS) as usize); // likewise
        let (count, after) = after.split_at(4);
        let (path, after) = after.split_at((N * set.tree_height()) as usize); // likewise
        let count = u32::from_be_bytes(count.try_into().expect("it has four bytes"));
        let digits = digits(&seed, address(layer, tree, WOTS_HASH, [leaf, 0, 0]), &node, count);
        if digits.iter().sum::<u64>() != set.digit_sum {
            return None;
        }
        let top = |((number, value), &digit): ((u64, &[u8]), &u64)| {
            let value = value.try_into().expect("chains are nodes");
            chain(&seed, (layer, tree, leaf), number, value, (digit, STEPS))
        };
        let tops: Vec<Node> = (0..).zip(chains.chunks(NODE_BYTES)).zip(&digits).map(top).collect();
        node = tweaked(&seed, address(layer, tree, WOTS_PK, [leaf, 0, 0]), &tops);
        node = climb(&seed, node, leaf, path, |height, index| address(layer, tree, TREE, [0, height, index]));
        (rest, index) = (after, tree);
    }
    Some(node)
}

/// True if a signature of any length is one of the message.
pub fn verify(set: Set, public: &[u8; 32], message: &[u8; 32], signature: &[u8]) -> bool {
    signature.len() as u64 == set.signature_bytes() // usize to u64 widens
        && root_from(set, public, message, signature).is_some_and(|root| root == public[NODE_BYTES..])
}

/// The topmost tree of a key.
#[derive(Debug, Clone)]
enum Top {
    /// All levels, the leaves first.
    Whole(Vec<Vec<Node>>),
    /// The path of one leaf, for which alone it signs, and R that leads there for the message of examples.
    Path { leaf: u64, nodes: Vec<u8>, r: u128 },
}

/// The root and a path of a key's topmost tree, an R that leads to that path for the bytes from 0 to 31, and counts that lead to the sums of digits
/// then.
#[derive(Debug)]
pub(super) struct Known {
    pub root: &'static str,
    pub path: &'static str,
    pub r: u128,
    pub counts: [u32; 2],
}

/// A key, which signs.
#[derive(Debug, Clone)]
pub struct Signer {
    set: Set,
    seed: Node,
    secret: Node,
    root: Node,
    top: Top,
}

/// The message of examples.
pub fn example_message() -> [u8; 32] {
    std::array::from_fn(|at| at as u8) // below 32
}

impl Signer {
    /// The key of this number, whose topmost tree is made.
    pub fn new(set: Set, number: u64) -> Self {
        let mut signer = Self::without_tree(set, number);
        let (layer, seed) = (set.layers - 1, signer.seed);
        let mut nodes: Vec<Node> = (0..1 << set.tree_height()).map(|leaf| signer.leaf((layer, 0, leaf))).collect();
        let mut levels = Vec::new();
        for height in 1..=set.tree_height() {
            let above =
                |(index, pair): (u64, &[Node])| tweaked(&seed, address(layer, 0, TREE, [0, height, index]), pair);
            let above = (0..).zip(nodes.chunks(2)).map(above).collect();
            levels.push(std::mem::replace(&mut nodes, above));
        }
        (signer.root, signer.top) = (nodes[0], Top::Whole(levels));
        signer
    }

    /// The key of number 1, of whose topmost tree this is known.
    pub(super) fn known(set: Set, known: &Known) -> Self {
        let mut signer = Self::without_tree(set, 1);
        let bytes = |digits: &str| hex::decode(digits).expect("nodes are written with two digits a byte");
        signer.root = bytes(known.root).try_into().expect("a root is a node");
        let digest = message_digest(&signer.seed, &signer.root, &known.r.to_be_bytes(), &example_message());
        let leaf = bits(&digest, set.fors_trees * set.fors_height, set.height) >> set.tree_height();
        signer.top = Top::Path { leaf, nodes: bytes(known.path), r: known.r };
        signer
    }

    fn without_tree(set: Set, number: u64) -> Self {
        let [seed, secret] = [0, 1].map(|which| cut(keccak256(&[b"SPHINCS-", &number.to_be_bytes(), &[which]])));
        Self { set, seed, secret, root: [0; NODE_BYTES], top: Top::Whole(Vec::new()) }
    }

    /// Seed and root.
    pub fn public(&self) -> [u8; 32] {
        let mut public = word(&self.seed);
        public[NODE_BYTES..].copy_from_slice(&self.root);
        public
    }

    fn random(&self, of: &[u8], nodes: u64) -> Vec<u8> {
        (0..nodes).flat_map(|number| cut(keccak256(&[&self.secret, of, &number.to_be_bytes()]))).collect()
    }

    fn start(&self, (layer, tree, leaf): (u64, u64, u64), chain: u64) -> Node {
        let numbers: Vec<u8> = [layer, tree, leaf, chain].into_iter().flat_map(u64::to_be_bytes).collect();
        cut(keccak256(&[&self.secret, &numbers]))
    }

    /// The leaf of a one-time key.
    fn leaf(&self, place: (u64, u64, u64)) -> Node {
        let top = |number| chain(&self.seed, place, number, self.start(place, number), (0, STEPS));
        let tops: Vec<Node> = (0..CHAINS).map(top).collect();
        let (layer, tree, leaf) = place;
        tweaked(&self.seed, address(layer, tree, WOTS_PK, [leaf, 0, 0]), &tops)
    }

    /// The path of a leaf of the topmost tree.
    fn top_path(&self, leaf: u64) -> Vec<u8> {
        match &self.top {
            Top::Whole(levels) => {
                let sibling = |(level, nodes): (u64, &Vec<Node>)| nodes[(leaf >> level ^ 1) as usize]; // below 2¹²
                (0..).zip(levels).flat_map(sibling).collect()
            }
            Top::Path { nodes, .. } => nodes.clone(),
        }
    }

    /// A signature of a message, with secrets of FORS of this number. A key of which a path is known signs the message of examples.
    pub fn sign(&self, message: &[u8; 32], number: u64) -> Vec<u8> {
        self.sign_where((message, number), |index| index == 0, |sum| sum == self.set.digit_sum)
    }

    /// The same with another last index, or other sums of digits, than signatures have: nothing else is wrong with it.
    pub fn sign_where(
        &self,
        of: (&[u8; 32], u64),
        is_index: impl Fn(u64) -> bool,
        is_sum: impl Fn(u64) -> bool,
    ) -> Vec<u8> {
        let first = match self.top {
            Top::Whole(_) => 0,
            Top::Path { r, .. } => r,
        };
        self.sign_from((first, [0; 2]), of, is_index, is_sum)
    }

    /// The same, where R and counts are searched from some on.
    fn sign_from(
        &self,
        (first, first_counts): (u128, [u32; 2]),
        (message, number): (&[u8; 32], u64),
        is_index: impl Fn(u64) -> bool,
        is_sum: impl Fn(u64) -> bool,
    ) -> Vec<u8> {
        let (set, seed) = (self.set, &self.seed);
        let index_of = |digest: &[u8; 32]| bits(digest, set.fors_trees * set.fors_height, set.height);
        let is_there = |digest: &[u8; 32]| match self.top {
            Top::Whole(_) => true,
            Top::Path { leaf, .. } => index_of(digest) >> (set.height - set.tree_height()) == leaf,
        };
        let last = (set.fors_trees - 1) * set.fors_height;
        let mut found = (first..).map(|number| {
            let r = number.to_be_bytes();
            (r, message_digest(seed, &self.root, &r, message))
        });
        let (r, digest) = found
            .find(|(_, digest)| is_there(digest) && is_index(bits(digest, last, set.fors_height)))
            .expect("some R leads to the last index");
        let body = self.random(&[&message[..], &number.to_be_bytes()].concat(), set.fors_bytes() / N - 1);
        let mut node = fors_root(set, seed, &digest, &body);
        let mut signature = [&r[..], &body].concat();
        let mut index = index_of(&digest);
        for layer in 0..set.layers {
            let (leaf, tree) = (index & ((1 << set.tree_height()) - 1), index >> set.tree_height());
            let base = address(layer, tree, WOTS_HASH, [leaf, 0, 0]);
            let first = first_counts[layer as usize]; // there are two
            let mut counted = (first..=u32::MAX).map(|count| (count, digits(seed, base, &node, count)));
            let (count, digits) =
                counted.find(|(_, digits)| is_sum(digits.iter().sum())).expect("some count leads to the sum");
            let place = (layer, tree, leaf);
            for (number, digit) in (0..).zip(digits) {
                signature.extend(chain(seed, place, number, self.start(place, number), (0, digit)));
            }
            signature.extend(count.to_be_bytes());
            let is_top = layer + 1 == set.layers;
            let path = if is_top { self.top_path(leaf) } else { self.random(&base, set.tree_height()) };
            let at = |height, index| address(layer, tree, TREE, [0, height, index]);
            node = climb(seed, self.leaf(place), leaf, &path, at);
            signature.extend(path);
            index = tree;
        }
        signature
    }
}

/// The key of which something is known signs its message.
pub(super) fn example(set: Set, known: &Known) -> Vec<u8> {
    let signer = Signer::known(set, known);
    let (message, search) = (example_message(), (known.r, known.counts));
    let signature = signer.sign_from(search, (&message, 0), |index| index == 0, |sum| sum == set.digit_sum);
    [&signer.public()[..], &message, &signature].concat()
}
