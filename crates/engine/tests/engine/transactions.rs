//! Transactions through revm's own traits: the engine as another project sees it.

use crate::code::{Code, modulus_101};
use residue_engine::revm::context::result::{ExecutionResult, HaltReason};
use residue_engine::revm::context::{Context, ContextTr, TxEnv};
use residue_engine::revm::database::InMemoryDB;
use residue_engine::revm::inspector::inspectors::GasInspector;
use residue_engine::revm::interpreter::Interpreter;
use residue_engine::revm::interpreter::interpreter::EthInterpreter;
use residue_engine::revm::primitives::{Address, Bytes, TxKind};
use residue_engine::revm::state::{AccountInfo, Bytecode};
use residue_engine::revm::{
    ExecuteCommitEvm, ExecuteEvm, InspectCommitEvm, InspectEvm, Inspector, MainContext, SystemCallEvm,
};
use residue_engine::{EngineConfig, Halt, native};
use residue_isa::revision::eip6690_2024::MULMODX;
use residue_isa::{Revision, precompile};

const CONTRACT: Address = Address::repeat_byte(0x77);

fn database(code: &Code) -> InMemoryDB {
    let mut db = InMemoryDB::default();
    let code = Bytecode::new_legacy(code.0.clone().into());
    db.insert_account_info(
        CONTRACT,
        AccountInfo { code_hash: code.hash_slow(), code: Some(code), ..Default::default() },
    );
    db
}

fn transaction(nonce: u64) -> TxEnv {
    TxEnv::builder().kind(TxKind::Call(CONTRACT)).nonce(nonce).gas_limit(200_000).build().unwrap()
}

/// 77 · 55 mod 101, stored at key 1 and returned. The product is computed twice, by instructions that may run by one call.
fn product() -> Code {
    let code = modulus_101(0, 3).mstore(0, 77).storex(0, 24, 1).mstore(0, 55).storex(1, 24, 1);
    let code = code.one(MULMODX, 2, 0, 1).one(MULMODX, 0, 0, 1);
    code.loadx(24, 0, 1).push(0).op(0x51).push(1).op(0x55).ret(0, 32)
}

#[derive(Default)]
struct Steps(u64);

impl<CTX: ContextTr> Inspector<CTX, EthInterpreter> for Steps {
    fn step(&mut self, _: &mut Interpreter, _: &mut CTX) {
        self.0 += 1;
    }
}

#[test]
fn transactions_run_commit_and_can_be_inspected() {
    let config = EngineConfig::default_for(Revision::Eip6690_2024);
    let context = Context::mainnet().with_db(database(&product()));
    let mut evm = residue_engine::evm(context, &config).unwrap().with_inspector(Steps::default());
    let first = evm.transact(transaction(0)).unwrap().result;
    assert_eq!(first.output().unwrap()[31], (77 * 55 % 101) as u8);
    assert_eq!(evm.transact_commit(transaction(0)).unwrap(), first);
    assert_eq!(evm.context().chain().last_halt(), Some(Halt::Return));
    let mut again = evm.inspect_tx_commit(transaction(1)).unwrap();
    assert!(again.is_success());
    assert_eq!(again.output(), first.output());
    assert!(again.tx_gas_used() < first.tx_gas_used(), "the value is stored already");
    again = evm.inspect_one_tx(transaction(2)).unwrap();
    assert!(again.is_success());
    assert_eq!(evm.finalize().len(), 2, "the caller and the contract");
    let system = evm.system_call(CONTRACT, Bytes::new()).unwrap();
    assert_eq!(system.result.output(), first.output());
    let steps = evm.into_inspector().0;
    let counted = residue_engine::Engine::new(config).unwrap().run_counted(&product().0, &[], 200_000);
    assert_eq!(steps, 2 * counted.counts.total());
}

#[test]
fn revms_own_inspectors_work() {
    let config = EngineConfig::default_for(Revision::Eip6690_2024);
    let evm = residue_engine::evm(Context::mainnet().with_db(database(&product())), &config).unwrap();
    struct Wrapper(GasInspector);
    impl<CTX: ContextTr> Inspector<CTX, EthInterpreter> for Wrapper {
        fn initialize_interp(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
            self.0.initialize_interp(&interpreter.gas);
        }
        fn step(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
            self.0.step(&interpreter.gas);
        }
        fn step_end(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
            self.0.step_end(&interpreter.gas);
        }
    }
    let mut evm = evm.with_inspector(Wrapper(GasInspector::new()));
    let result = evm.inspect_one_tx(transaction(0)).unwrap();
    let used = 200_000 - evm.into_inspector().0.gas_remaining();
    assert_eq!(result.tx_gas_used(), used);
}

#[test]
fn our_reason_to_halt_stands_beside_that_of_revm() {
    let config = EngineConfig::default_for(Revision::Eip6690_2024);
    let code = modulus_101(0, 2).one(MULMODX, 2, 0, 0);
    let mut evm = residue_engine::evm(Context::mainnet().with_db(database(&code)), &config).unwrap();
    let result = evm.transact(transaction(0)).unwrap().result;
    assert!(matches!(result, ExecutionResult::Halt { reason: HaltReason::OutOfOffset, .. }), "{result:?}");
    assert_eq!(result.tx_gas_used(), 200_000);
    assert_eq!(evm.context().chain().last_halt(), Some(Halt::SlotOutOfRange));
}

#[test]
fn native_precompiles_run_without_an_evm() {
    let fork = residue_engine::Fork::Osaka;
    let empty = native::precompile(fork, precompile::BN254_PAIRING_CHECK, &[], 1_000_000).unwrap();
    assert_eq!((empty.output[31], empty.gas_used), (1, 45_000));
    // A pairing of two points at infinity is one (EIP-2537: 32,600 gas a pair and 37,700 besides).
    let identity = native::precompile(fork, precompile::BLS12_PAIRING_CHECK, &[0; 384], 1_000_000).unwrap();
    assert_eq!((identity.output[31], identity.gas_used), (1, 70_300));
    let error = native::precompile(fork, precompile::BLS12_PAIRING_CHECK, &[1; 384], 1_000_000).unwrap_err();
    assert!(error.to_string().starts_with("the precompile at address 0x0f failed"), "{error}");
    let unknown = native::precompile(residue_engine::Fork::Cancun, precompile::BLS12_PAIRING_CHECK, &[0; 384], 1 << 20);
    assert_eq!(unknown.unwrap_err().to_string(), "cancun has no precompile at address 0x0f");
}
