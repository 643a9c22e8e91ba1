//! The chain and the exchanges of the execution clients' JSON-RPC tests, where this machine has them.

use std::path::PathBuf;

use alloy_genesis::Genesis;
use alloy_rlp::Decodable;
use residue_alloy::{Activation, FieldEvmFactory};
use residue_engine::EngineConfig;
use residue_isa::Revision;
use residue_node::chain::Chain;
use residue_node::genesis;
use residue_node::store::{ChainBlock, Store};

/// The folder; none, with a message, where this machine does not have it.
pub fn folder() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = std::env::var_os("RESIDUE_VECTORS").map_or_else(beside, PathBuf::from).join("rpc-compat");
    let is_there = folder.join("chain.rlp").is_file();
    if !is_there {
        eprintln!("skipped: no exchanges at {}", folder.display());
    }
    is_there.then_some(folder)
}

/// The genesis and the blocks.
pub fn chain(folder: &std::path::Path) -> (Genesis, Vec<ChainBlock>) {
    let genesis = serde_json::from_slice(&std::fs::read(folder.join("genesis.json")).unwrap()).unwrap();
    let bytes = std::fs::read(folder.join("chain.rlp")).unwrap();
    let mut rest = bytes.as_slice();
    let mut blocks = Vec::new();
    while !rest.is_empty() {
        blocks.push(ChainBlock::decode(&mut rest).unwrap());
    }
    (genesis, blocks)
}

/// The chain in a database in memory, with a revision from the beginning or none.
pub fn imported(folder: &std::path::Path, revision: Option<Revision>) -> Chain {
    let (genesis, blocks) = chain(folder);
    let activation = |revision| Activation { time: 0, engine: EngineConfig::default_for(revision) };
    let factory = FieldEvmFactory::new(revision.map(activation)).unwrap();
    let rules = genesis::rules(&genesis).unwrap();
    let chain = Chain::open(Store::open(None).unwrap(), &genesis, rules, factory, None).unwrap();
    for block in &blocks {
        chain.import(block).unwrap();
    }
    chain
}
