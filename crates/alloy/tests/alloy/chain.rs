//! The chain of the execution clients' JSON-RPC tests: 54 blocks through every fork from Frontier to the second change of blob parameters,
//! made by geth. `EthBlockExecutor` with our factory must come to every state, receipt and transaction root in their headers.

use std::path::PathBuf;

use alloy_consensus::proofs::{calculate_receipt_root, calculate_transaction_root};
use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{Block, Eip658Value, Header, ReceiptEnvelope, TxEnvelope};
use alloy_evm::block::{BlockExecutionResult, BlockExecutor, BlockExecutorFactory};
use alloy_evm::eth::receipt_builder::AlloyReceiptBuilder;
use alloy_evm::eth::{EthBlockExecutionCtx, EthBlockExecutorFactory};
use alloy_evm::{Evm, EvmFactory};
use alloy_genesis::Genesis;
use alloy_rlp::Decodable;
use residue_alloy::{Activation, ChainRules, FieldEvmFactory};
use residue_engine::EngineConfig;
use residue_engine::revm::database::State;
use residue_engine::revm::database::states::bundle_state::BundleRetention;
use residue_engine::revm::primitives::B256;
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_isa::{GasSchedule, Revision};

use crate::world::World;

type Executors = EthBlockExecutorFactory<AlloyReceiptBuilder, ChainRules, FieldEvmFactory>;

/// The folder of the exchanges; none, with a message, where this machine does not have it.
fn vectors() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = std::env::var_os("RESIDUE_VECTORS").map_or_else(beside, PathBuf::from).join("rpc-compat");
    let is_there = folder.join("chain.rlp").is_file();
    if !is_there {
        eprintln!("skipped: no chain at {}", folder.display());
    }
    is_there.then_some(folder)
}

/// Executes a block, and returns what came of it with the changes in `world`.
fn execute(
    executors: &Executors,
    world: &mut World,
    block: &Block<TxEnvelope>,
) -> BlockExecutionResult<ReceiptEnvelope> {
    let rules = executors.spec();
    let mut state = State::builder().with_database(world.clone()).with_bundle_update().build();
    let evm = executors.evm_factory().create_evm(&mut state, rules.env_of(&block.header));
    let context = EthBlockExecutionCtx {
        parent_hash: block.header.parent_hash,
        parent_beacon_block_root: block.header.parent_beacon_block_root,
        ommers: &block.body.ommers,
        withdrawals: block.body.withdrawals.as_ref().map(|all| all.as_slice().into()),
        extra_data: block.header.extra_data.clone(),
        tx_count_hint: Some(block.body.transactions.len()),
        slot_number: None,
    };
    let mut executor = executors.create_executor(evm, context);
    executor.apply_pre_execution_changes().unwrap();
    let mut roots = Vec::new();
    for transaction in &block.body.transactions {
        let transaction = transaction.clone().try_into_recovered().unwrap();
        executor.execute_transaction(&transaction).unwrap();
        if rules.spec(block.header.timestamp, block.header.number) < SpecId::BYZANTIUM {
            // Receipts have the state root after their transaction.
            let state = executor.evm_mut().db_mut();
            state.merge_transitions(BundleRetention::PlainState);
            let mut after = world.clone();
            after.apply(&state.bundle_state);
            roots.push(after.root());
        }
    }
    let (_, mut result) = executor.finish().unwrap();
    for (receipt, root) in result.receipts.iter_mut().zip(roots) {
        let ReceiptEnvelope::Legacy(receipt) = receipt else { panic!("{receipt:?} before Byzantium") };
        receipt.receipt.status = Eip658Value::PostState(root);
    }
    state.merge_transitions(BundleRetention::PlainState);
    world.apply(&state.take_bundle());
    result
}

/// Imports the chain and returns the hash of its last block.
fn import(factory: FieldEvmFactory, folder: &std::path::Path) -> B256 {
    let genesis: Genesis = serde_json::from_slice(&std::fs::read(folder.join("genesis.json")).unwrap()).unwrap();
    let rules = ChainRules::from_config(&genesis.config).unwrap();
    let executors = Executors::new(AlloyReceiptBuilder::default(), rules, factory);
    let mut world = World::of_genesis(&genesis.alloc);
    let genesis_header = Header {
        state_root: world.root(),
        gas_limit: genesis.gas_limit,
        difficulty: genesis.difficulty,
        extra_data: genesis.extra_data,
        ..Header::default()
    };
    let mut parent = genesis_header.hash_slow();
    assert_eq!(parent.to_string(), "0x44fd89d504659cd58f48f4796b77a7e7012cf296a2409afa2f6c3cb99b5b3d99");
    world.block_hashes.insert(0, parent);

    let bytes = std::fs::read(folder.join("chain.rlp")).unwrap();
    let mut rest = bytes.as_slice();
    let mut count = 0;
    while !rest.is_empty() {
        let block = Block::<TxEnvelope>::decode(&mut rest).unwrap();
        let number = block.header.number;
        assert_eq!(block.header.parent_hash, parent);
        let result = execute(&executors, &mut world, &block);
        assert_eq!(result.gas_used, block.header.gas_used, "gas of block {number}");
        let receipts = calculate_receipt_root(&result.receipts);
        assert_eq!(receipts, block.header.receipts_root, "receipt root of block {number}");
        let transactions = calculate_transaction_root(&block.body.transactions);
        assert_eq!(transactions, block.header.transactions_root, "transaction root of block {number}");
        assert_eq!(world.root(), block.header.state_root, "state root of block {number}");
        let requests = block.header.requests_hash.map(|_| result.requests.requests_hash());
        assert_eq!(requests, block.header.requests_hash, "requests of block {number}");
        parent = block.header.hash_slow();
        world.block_hashes.insert(number, parent);
        count += 1;
    }
    assert_eq!(count, 54);
    parent
}

#[test]
fn every_root_of_the_chain_is_right_without_a_revision_and_with_every_one() {
    let Some(folder) = vectors() else { return };
    let head = "0xd226371d0b1551adb03fb52b71f08e3e11247fe9b1af994768af8cdaa8e7dcd7";
    assert_eq!(import(FieldEvmFactory::new([]).unwrap(), &folder).to_string(), head);
    for &revision in Revision::ALL {
        // From the beginning, and in the middle of the chain.
        for time in [0, 300] {
            // Some schedules price the EVM's own opcodes anew, which the makers of the chain did not.
            let schedule = GasSchedule::default_for(revision).unwrap().with_stock_evm();
            let engine = EngineConfig::new(revision, schedule);
            let factory = FieldEvmFactory::new([Activation { time, engine }]).unwrap();
            assert_eq!(import(factory, &folder).to_string(), head, "{revision} from {time}");
        }
    }
}
