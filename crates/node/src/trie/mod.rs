//! The Merkle Patricia trie of a state, changed key by key: the cost of a block depends on its changes, not on the size
//! of the state.
//!
//! Nodes are kept by their path, not by their hash: what a node at a path becomes takes the place of what it was, so a database of them
//! never holds a node of an earlier state. Keys are hashes, so they have one length and branches hold no values.

mod node;
mod state;

pub use node::{Link, Node};
pub use state::{AccountChange, StateTrie, TrieChanges, account_key};

use alloy_primitives::{B256, keccak256};
use alloy_trie::EMPTY_ROOT_HASH;

/// Nibbles of a key.
pub const KEY_NIBBLES: usize = 64;

/// Source of stored nodes.
pub trait Nodes {
    /// Error of reading them.
    type Error;

    /// The encoded node at a path; none if no node is stored there.
    fn node(&self, path: &[u8]) -> std::result::Result<Option<Vec<u8>>, Self::Error>;
}

/// Why a trie could not be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrieError<E> {
    /// The store failed.
    #[error(transparent)]
    Store(E),
    /// A node that another one points to is not there, or is no node.
    #[error("the trie has no valid node at path {path:02x?}")]
    Broken {
        /// Its nibbles.
        path: Vec<u8>,
    },
}

/// One trie, loaded as far as it was asked for.
#[derive(Debug)]
pub struct Trie<N> {
    nodes: N,
    root: Link,
    /// Paths of stored nodes that were loaded: what is not written again at one of them is gone.
    loaded: Vec<Vec<u8>>,
}

/// Changes of the store: encoded nodes by path, none for a deleted node.
pub type NodeChanges = Vec<(Vec<u8>, Option<Vec<u8>>)>;

type Result<T, N> = std::result::Result<T, TrieError<<N as Nodes>::Error>>;

impl<N: Nodes> Trie<N> {
    /// The trie of a root hash.
    pub fn new(nodes: N, root: B256) -> Self {
        let root = if root == EMPTY_ROOT_HASH { Link::Empty } else { Link::Hash(root) };
        Self { nodes, root, loaded: Vec::new() }
    }

    /// Sets the value of a key; an empty value removes it.
    pub fn set(&mut self, key: B256, value: Vec<u8>) -> Result<(), N> {
        let key = nibbles(key);
        let root = std::mem::take(&mut self.root);
        self.root = match value.is_empty() {
            true => self.remove(root, &key, 0)?,
            false => self.insert(root, &key, 0, value)?,
        };
        Ok(())
    }

    /// The root hash.
    pub fn root(&self) -> B256 {
        match &self.root {
            Link::Empty => EMPTY_ROOT_HASH,
            Link::Hash(hash) => *hash,
            Link::Node(node) => keccak256(node.encode()),
        }
    }

    /// The root hash and what changes in the store.
    pub fn into_changes(self) -> (B256, NodeChanges) {
        let root = self.root();
        let mut written = NodeChanges::new();
        if let Link::Node(node) = &self.root {
            node.collect(&mut Vec::new(), true, &mut written);
        }
        let kept: std::collections::HashSet<&[u8]> = written.iter().map(|(path, _)| path.as_slice()).collect();
        let gone: Vec<_> = self.loaded.iter().filter(|path| !kept.contains(path.as_slice())).cloned().collect();
        written.extend(gone.into_iter().map(|path| (path, None)));
        (root, written)
    }

    /// The nodes from the root to a key or to where it is seen to be absent, encoded. Those inside another node are not listed.
    pub fn proof(&mut self, key: B256) -> Result<Vec<Vec<u8>>, N> {
        let key = nibbles(key);
        let mut proof = Vec::new();
        let mut root = std::mem::take(&mut self.root);
        let result = self.prove(&mut root, &key, 0, &mut proof);
        self.root = root;
        result.map(|()| proof)
    }

    fn prove(&mut self, link: &mut Link, key: &[u8], depth: usize, proof: &mut Vec<Vec<u8>>) -> Result<(), N> {
        if matches!(link, Link::Empty) {
            return Ok(());
        }
        let mut node = self.load(std::mem::take(link), &key[..depth])?;
        let encoded = node.encode();
        if depth == 0 || encoded.len() >= 32 {
            proof.push(encoded);
        }
        match &mut node {
            Node::Leaf { .. } => {}
            Node::Extension { path, child } => {
                if key[depth..].starts_with(path) {
                    let below = depth + path.len();
                    self.prove(child, key, below, proof)?;
                }
            }
            Node::Branch(children) => {
                self.prove(&mut children[usize::from(key[depth])], key, depth + 1, proof)?;
            }
        }
        *link = Link::Node(Box::new(node));
        Ok(())
    }

    /// The node of a link that is not empty.
    fn load(&mut self, link: Link, path: &[u8]) -> Result<Node, N> {
        let broken = || TrieError::Broken { path: path.to_vec() };
        match link {
            Link::Node(node) => Ok(*node),
            Link::Hash(hash) => {
                let encoded = self
                    .nodes
                    .node(path)
                    .map_err(TrieError::Store)?
                    .filter(|encoded| keccak256(encoded) == hash)
                    .ok_or_else(broken)?;
                self.loaded.push(path.to_vec());
                Node::decode(&encoded).ok_or_else(broken)
            }
            Link::Empty => Err(broken()),
        }
    }

    fn insert(&mut self, link: Link, key: &[u8], depth: usize, value: Vec<u8>) -> Result<Link, N> {
        if matches!(link, Link::Empty) {
            return Ok(Node::Leaf { path: key[depth..].to_vec(), value }.into());
        }
        let node = match self.load(link, &key[..depth])? {
            Node::Leaf { path, value: old } => {
                if path == key[depth..] {
                    return Ok(Node::Leaf { path, value }.into());
                }
                fork(path, &key[depth..], |rest| Node::Leaf { path: rest, value: old }.into(), value)
            }
            Node::Extension { path, mut child } => {
                if key[depth..].starts_with(&path) {
                    *child = self.insert(*child, key, depth + path.len(), value)?;
                    return Ok(Node::Extension { path, child }.into());
                }
                let below = |rest: Vec<u8>| match rest.is_empty() {
                    true => *child,
                    false => Node::Extension { path: rest, child }.into(),
                };
                fork(path, &key[depth..], below, value)
            }
            Node::Branch(mut children) => {
                let child = &mut children[usize::from(key[depth])];
                *child = self.insert(std::mem::take(child), key, depth + 1, value)?;
                Node::Branch(children)
            }
        };
        Ok(node.into())
    }

    fn remove(&mut self, link: Link, key: &[u8], depth: usize) -> Result<Link, N> {
        if matches!(link, Link::Empty) {
            return Ok(link);
        }
        match self.load(link, &key[..depth])? {
            Node::Leaf { path, value } => Ok(match path == key[depth..] {
                true => Link::Empty,
                false => Node::Leaf { path, value }.into(),
            }),
            Node::Extension { path, child } => {
                if !key[depth..].starts_with(&path) {
                    return Ok(Node::Extension { path, child }.into());
                }
                let below = depth + path.len();
                let child = self.remove(*child, key, below)?;
                self.joined(path, child, &key[..below])
            }
            Node::Branch(mut children) => {
                let at = usize::from(key[depth]);
                children[at] = self.remove(std::mem::take(&mut children[at]), key, depth + 1)?;
                let mut left = (0..16u8).filter(|&nibble| !matches!(children[usize::from(nibble)], Link::Empty));
                match (left.next(), left.next()) {
                    (Some(only), None) => {
                        let child = std::mem::take(&mut children[usize::from(only)]);
                        let mut path = key[..depth].to_vec();
                        path.push(only);
                        self.joined(vec![only], child, &path)
                    }
                    _ => Ok(Node::Branch(children).into()),
                }
            }
        }
    }

    /// A child below a piece of path, in the shortest form: pieces that follow each other are one. `at` is the child's path.
    fn joined(&mut self, mut prefix: Vec<u8>, child: Link, at: &[u8]) -> Result<Link, N> {
        if matches!(child, Link::Empty) {
            return Ok(child);
        }
        Ok(match self.load(child, at)? {
            Node::Leaf { path, value } => {
                prefix.extend(path);
                Node::Leaf { path: prefix, value }
            }
            Node::Extension { path, child } => {
                prefix.extend(path);
                Node::Extension { path: prefix, child }
            }
            branch @ Node::Branch(_) => Node::Extension { path: prefix, child: Box::new(branch.into()) },
        }
        .into())
    }
}

/// A branch where two paths part, below what they share. `old` makes a link of what is left of the old path.
fn fork(old_path: Vec<u8>, key: &[u8], old: impl FnOnce(Vec<u8>) -> Link, value: Vec<u8>) -> Node {
    let shared = old_path.iter().zip(key).take_while(|(a, b)| a == b).count();
    let mut children: Box<[Link; 16]> = Box::default();
    children[usize::from(old_path[shared])] = old(old_path[shared + 1..].to_vec());
    children[usize::from(key[shared])] = Node::Leaf { path: key[shared + 1..].to_vec(), value }.into();
    let branch = Node::Branch(children);
    match shared {
        0 => branch,
        _ => Node::Extension { path: key[..shared].to_vec(), child: Box::new(branch.into()) },
    }
}

/// The half-bytes of a key, high one first.
pub fn nibbles(key: B256) -> Vec<u8> {
    key.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use alloy_primitives::U256;
    use alloy_trie::Nibbles;
    use alloy_trie::proof::verify_proof;
    use alloy_trie::root::storage_root;

    use super::*;

    type Stored = BTreeMap<Vec<u8>, Vec<u8>>;

    impl Nodes for &Stored {
        type Error = Infallible;

        fn node(&self, path: &[u8]) -> std::result::Result<Option<Vec<u8>>, Infallible> {
            Ok(self.get(path).cloned())
        }
    }

    /// Numbers from a seed, as many as wanted.
    fn random(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut state = seed;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        }
    }

    /// Few distinct keys with long shared pieces, so that every way of joining and forking is met.
    fn key(of: u64) -> B256 {
        let mut key = B256::repeat_byte(0x11);
        key[0] = (of % 5) as u8;
        key[15] = ((of / 5) % 4) as u8;
        key[31] = (of / 20) as u8;
        if of.is_multiple_of(3) { key } else { keccak256(key) }
    }

    #[test]
    fn roots_and_proofs_are_those_of_alloy_trie_after_any_changes_and_nothing_is_left_behind() {
        for seed in 0..40 {
            let mut random = random(seed);
            let (mut stored, mut values) = (Stored::new(), BTreeMap::<B256, U256>::new());
            let mut root = EMPTY_ROOT_HASH;
            for _ in 0..30 {
                let mut trie = Trie::new(&stored, root);
                for _ in 0..random(12) {
                    let key = key(random(60));
                    let value = if random(3) == 0 { U256::ZERO } else { U256::from(random(1 << 30)) << random(200) };
                    values.insert(key, value);
                    trie.set(key, if value.is_zero() { Vec::new() } else { alloy_rlp::encode(value) }).unwrap();
                }
                values.retain(|_, value| !value.is_zero());
                let (after, changes) = trie.into_changes();
                root = after;
                assert_eq!(root, storage_root(values.clone()), "seed {seed}");
                for (path, node) in changes {
                    match node {
                        Some(node) => stored.insert(path, node),
                        None => stored.remove(&path),
                    };
                }
                let asked = key(random(60));
                let proof = Trie::new(&stored, root).proof(asked).unwrap();
                let value = values.get(&asked).map(alloy_rlp::encode);
                let proof: Vec<_> = proof.into_iter().map(alloy_primitives::Bytes::from).collect();
                verify_proof(root, Nibbles::unpack(asked), value, &proof).unwrap();
            }
            // What is stored is the present trie and nothing else.
            let mut reached = 0;
            let mut open = vec![Vec::new()];
            while let Some(path) = open.pop() {
                let Some(node) = stored.get(&path) else { continue };
                reached += 1;
                let nodes: Vec<Vec<u8>> = match Node::decode(node).unwrap() {
                    Node::Leaf { .. } => Vec::new(),
                    Node::Extension { path: more, .. } => vec![[path.clone(), more].concat()],
                    Node::Branch(_) => (0..16).map(|nibble| [path.clone(), vec![nibble]].concat()).collect(),
                };
                open.extend(nodes);
            }
            assert_eq!(reached, stored.len(), "seed {seed}");
        }
    }

    #[test]
    fn a_node_that_is_not_what_its_parent_says_is_an_error() {
        let empty = Stored::new();
        let mut trie = Trie::new(&empty, B256::repeat_byte(1));
        assert_eq!(trie.set(B256::ZERO, vec![1]), Err(TrieError::Broken { path: Vec::new() }));
    }
}
