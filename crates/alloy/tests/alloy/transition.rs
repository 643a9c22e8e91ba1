//! A fork transition: the same transaction before and after the time of an activation.

use alloy_evm::{Evm, EvmEnv, EvmFactory};
use residue_alloy::{Activation, FactoryError, FieldEvmFactory};
use residue_engine::revm::context::result::{ExecutionResult, HaltReason, OutOfGasError};
use residue_engine::revm::context::{BlockEnv, CfgEnv, TxEnv};
use residue_engine::revm::database::{BENCH_TARGET, BenchmarkDB};
use residue_engine::revm::inspector::{Inspector, NoOpInspector};
use residue_engine::revm::interpreter::Interpreter;
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::primitives::{Bytes, TxKind, U256};
use residue_engine::revm::state::Bytecode;
use residue_engine::{Engine, EngineConfig, Replacement};
use residue_isa::Revision;
use residue_isa::assembly::assemble_text;

/// 77² mod 101.
const CODE: &str = "
    PUSH 101  PUSH 0  MSTORE  PUSH 2 PUSH 8 PUSH 24 PUSH 0 SETMODX
    PUSH 77   PUSH 0  MSTORE  PUSH 1 PUSH 24 PUSH 0 STOREX
    MULMODX 1 0 0             PUSH 1 PUSH 1 PUSH 24 LOADX
    PUSH 32   PUSH 0  RETURN";
const REVISION: Revision = Revision::Eip6690_2024;
const BEGINS: u64 = 1000;

fn code() -> Vec<u8> {
    assemble_text(CODE, REVISION).unwrap().bytes
}

fn env(time: u64) -> EvmEnv {
    let block_env = BlockEnv { timestamp: U256::from(time), ..BlockEnv::default() };
    EvmEnv { cfg_env: CfgEnv::new_with_spec(SpecId::OSAKA), block_env }
}

fn call(code: &[u8]) -> (BenchmarkDB, TxEnv) {
    let database = BenchmarkDB::new_bytecode(Bytecode::new_legacy(code.to_vec().into()));
    (database, TxEnv { kind: TxKind::Call(BENCH_TARGET), gas_limit: 100_000, ..TxEnv::default() })
}

fn run(factory: &FieldEvmFactory, time: u64, code: &[u8]) -> ExecutionResult {
    let (database, transaction) = call(code);
    factory.create_evm(database, env(time)).transact(transaction).unwrap().result
}

fn from_the_fork_on() -> FieldEvmFactory {
    FieldEvmFactory::new([Activation { time: BEGINS, engine: EngineConfig::default_for(REVISION) }]).unwrap()
}

/// Counts instructions.
#[derive(Default)]
struct Count(u64);

impl<CTX> Inspector<CTX> for Count {
    fn step(&mut self, _: &mut Interpreter, _: &mut CTX) {
        self.0 += 1;
    }
}

#[test]
fn field_instructions_exist_from_the_block_time_of_their_activation() {
    let factory = from_the_fork_on();
    for time in [0, BEGINS - 1] {
        let result = run(&factory, time, &code());
        assert!(matches!(result, ExecutionResult::Halt { reason: HaltReason::OpcodeNotFound, .. }), "{result:?}");
    }
    let alone = Engine::new(EngineConfig::default_for(REVISION)).unwrap().run_code(&code(), &[], 79_000);
    for time in [BEGINS, u64::MAX] {
        let result = run(&factory, time, &code());
        assert_eq!(result.output().and_then(|output| output.last()), Some(&71), "{result:?}");
        // 21,000: intrinsic gas of a transaction without data.
        assert_eq!(result.tx_gas_used(), 21_000 + alone.gas_used);
    }
}

#[test]
fn a_later_activation_takes_the_place_of_an_earlier_one() {
    let at = |time, revision| Activation { time, engine: EngineConfig::default_for(revision) };
    let factory = FieldEvmFactory::new([at(2000, Revision::Evm384V7), at(BEGINS, REVISION)]).unwrap();
    let revision = |time| factory.engine_at(time).map(|engine| engine.config().revision);
    assert_eq!([999, 1000, 1999, 2000].map(revision), [None, Some(REVISION), Some(REVISION), Some(Revision::Evm384V7)]);
    let twice = FieldEvmFactory::new([at(5, REVISION), at(5, Revision::Evm384V7)]);
    assert_eq!(twice.unwrap_err(), FactoryError::SameTime { time: 5 });
}

#[test]
fn an_inspector_sees_what_is_executed_and_changes_nothing() {
    let factory = from_the_fork_on();
    let (database, transaction) = call(&code());
    let mut count = Count::default();
    let mut evm = factory.create_evm_with_inspector(database, env(BEGINS), &mut count);
    let observed = evm.transact(transaction.clone()).unwrap().result;
    assert_eq!(observed, run(&factory, BEGINS, &code()));
    evm.disable_inspector();
    evm.transact(transaction).unwrap();
    drop(evm);
    // Sixteen pushes, two stores, the four field instructions, and what ends the frame.
    assert_eq!(count.0, 23);
    let (database, _) = call(&code());
    let (_, returned) = factory.create_evm_with_inspector(database, env(7), NoOpInspector {}).finish();
    assert_eq!(returned, env(7));
}

#[test]
fn before_the_activation_precompiles_are_not_replaced() {
    // STATICCALL of address 6, whose replacement returns nothing; BN254 addition of nothing returns 64 zero bytes.
    let replaced = EngineConfig {
        replacements: vec![Replacement { address: 6, code: Vec::new() }],
        ..EngineConfig::default_for(REVISION)
    };
    let factory = FieldEvmFactory::new([Activation { time: BEGINS, engine: replaced }]).unwrap();
    let text = "PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 6 GAS STATICCALL RETURNDATASIZE PUSH 0 MSTORE PUSH 32 PUSH 0 RETURN";
    let code = assemble_text(text, REVISION).unwrap().bytes;
    let size = |time| run(&factory, time, &code).output().and_then(|output: &Bytes| output.last().copied());
    assert_eq!([size(BEGINS - 1), size(BEGINS)], [Some(64), Some(0)]);
}

#[test]
fn the_plain_evm_of_the_factory_is_revm_as_it_is() {
    let factory = FieldEvmFactory::new([]).unwrap();
    for code in [code(), vec![0x5b, 0x60, 0x00, 0x56], vec![0xc0], vec![0x60, 0x01, 0x5f, 0x53, 0x60, 0x20, 0x5f, 0xf3]]
    {
        let (database, transaction) = call(&code);
        let stock = alloy_evm::EthEvmFactory::default().create_evm(database, env(BEGINS)).transact(transaction);
        let stock = stock.unwrap().result;
        let ours = run(&factory, BEGINS, &code);
        assert_eq!(ours, stock);
        let is_out_of_gas = |result: &ExecutionResult| {
            matches!(result, ExecutionResult::Halt { reason: HaltReason::OutOfGas(OutOfGasError::Basic), .. })
        };
        assert_eq!(is_out_of_gas(&stock), code == [0x5b, 0x60, 0x00, 0x56]);
    }
}
