//! Nodes of a trie and their encoding: Yellow Paper, appendix D.

use alloy_primitives::{B256, keccak256};
use alloy_rlp::{Decodable, EMPTY_STRING_CODE, Encodable, Header};

use super::NodeChanges;

/// A node.
#[derive(Debug)]
pub enum Node {
    /// The rest of a key and its value.
    Leaf {
        /// Nibbles.
        path: Vec<u8>,
        /// As it was set.
        value: Vec<u8>,
    },
    /// A piece of path that all keys below share.
    Extension {
        /// Nibbles, at least one.
        path: Vec<u8>,
        /// A branch.
        child: Box<Link>,
    },
    /// One child for each next nibble.
    Branch(Box<[Link; 16]>),
}

/// Link from a node to another.
#[derive(Debug, Default)]
pub enum Link {
    /// Nothing.
    #[default]
    Empty,
    /// The hash of a stored node.
    Hash(B256),
    /// A node in memory, changed or not.
    Node(Box<Node>),
}

impl From<Node> for Link {
    fn from(node: Node) -> Self {
        Link::Node(Box::new(node))
    }
}

impl Node {
    /// The node in RLP.
    pub fn encode(&self) -> Vec<u8> {
        let mut items = Vec::new();
        match self {
            Node::Leaf { path, value } => {
                compact(path, true).as_slice().encode(&mut items);
                value.as_slice().encode(&mut items);
            }
            Node::Extension { path, child } => {
                compact(path, false).as_slice().encode(&mut items);
                child.encode(&mut items);
            }
            Node::Branch(children) => {
                for child in children.iter() {
                    child.encode(&mut items);
                }
                items.push(EMPTY_STRING_CODE);
            }
        }
        let mut encoded = Vec::with_capacity(items.len() + 3);
        Header { list: true, payload_length: items.len() }.encode(&mut encoded);
        encoded.extend(items);
        encoded
    }

    /// A node of its RLP; none if that is not one.
    pub fn decode(mut encoded: &[u8]) -> Option<Self> {
        let payload = Header::decode_bytes(&mut encoded, true).ok()?;
        let mut items = Vec::with_capacity(17);
        let mut rest = payload;
        while !rest.is_empty() {
            let before = rest;
            let header = Header::decode(&mut rest).ok()?;
            rest = rest.get(header.payload_length..)?;
            items.push(&before[..before.len() - rest.len()]);
        }
        match items.as_slice() {
            [path, value] => {
                let (path, is_leaf) = from_compact(&mut &**path)?;
                Some(match is_leaf {
                    true => Node::Leaf { path, value: Header::decode_bytes(&mut &**value, false).ok()?.to_vec() },
                    false => Node::Extension { path, child: Box::new(Link::decode(value)?) },
                })
            }
            children if children.len() == 17 => {
                let mut links: Box<[Link; 16]> = Box::default();
                for (link, child) in links.iter_mut().zip(children) {
                    *link = Link::decode(child)?;
                }
                Some(Node::Branch(links))
            }
            _ => None,
        }
    }

    /// Lists this node, if it is one to be stored, and those below it that are in memory.
    pub(super) fn collect(&self, path: &mut Vec<u8>, is_root: bool, found: &mut NodeChanges) {
        let encoded = self.encode();
        if is_root || encoded.len() >= 32 {
            found.push((path.clone(), Some(encoded)));
        }
        let mut below = |more: &[u8], link: &Link| {
            if let Link::Node(node) = link {
                let len = path.len();
                path.extend(more);
                node.collect(path, false, found);
                path.truncate(len);
            }
        };
        match self {
            Node::Leaf { .. } => {}
            Node::Extension { path, child } => below(&path.clone(), child),
            Node::Branch(children) => {
                for (nibble, child) in (0u8..).zip(children.iter()) {
                    below(&[nibble], child);
                }
            }
        }
    }
}

impl Link {
    /// As it stands in its parent: a hash, or the node itself if that is shorter.
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Link::Empty => out.push(EMPTY_STRING_CODE),
            Link::Hash(hash) => hash.encode(out),
            Link::Node(node) => {
                let encoded = node.encode();
                if encoded.len() < 32 { out.extend(encoded) } else { keccak256(encoded).encode(out) }
            }
        }
    }

    fn decode(item: &[u8]) -> Option<Self> {
        Some(match item {
            [EMPTY_STRING_CODE] => Link::Empty,
            [0xc0..=0xff, ..] => Node::decode(item)?.into(),
            _ => Link::Hash(B256::decode(&mut &*item).ok()?),
        })
    }
}

/// Hex-prefix encoding: Yellow Paper, appendix C.
fn compact(path: &[u8], is_leaf: bool) -> Vec<u8> {
    let flag = if is_leaf { 0x20 } else { 0 };
    let (first, pairs) = match path.len() % 2 {
        1 => (flag | 0x10 | path[0], &path[1..]),
        _ => (flag, path),
    };
    let mut bytes = vec![first];
    bytes.extend(pairs.chunks(2).map(|pair| pair[0] << 4 | pair[1]));
    bytes
}

fn from_compact(item: &mut &[u8]) -> Option<(Vec<u8>, bool)> {
    let bytes = Header::decode_bytes(item, false).ok()?;
    let (first, pairs) = bytes.split_first()?;
    let mut path = Vec::with_capacity(2 * pairs.len() + 1);
    if first & 0x10 != 0 {
        path.push(first & 15);
    }
    path.extend(pairs.iter().flat_map(|byte| [byte >> 4, byte & 15]));
    Some((path, first & 0x20 != 0))
}
