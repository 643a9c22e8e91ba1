//! A revm with EIP-6690: the code by which another project gives its EVM the field instructions. It computes 77² mod
//! 101.

use residue_engine::revm::context::{Context, TxEnv};
use residue_engine::revm::database::{BENCH_TARGET, BenchmarkDB};
use residue_engine::revm::{ExecuteEvm, MainContext, primitives::TxKind, state::Bytecode};
use residue_engine::{EngineConfig, evm};
use residue_isa::{Revision, assembly::assemble_text};

const CODE: &str = "
    PUSH 101  PUSH 0  MSTORE  PUSH 2 PUSH 8 PUSH 24 PUSH 0 SETMODX ; context 0: modulus 101, two slots
    PUSH 77   PUSH 0  MSTORE  PUSH 1 PUSH 24 PUSH 0 STOREX         ; slot 0 = 77
    MULMODX 1 0 0             PUSH 1 PUSH 1 PUSH 24 LOADX          ; slot 1 = slot 0 squared, to memory
    PUSH 32   PUSH 0  RETURN";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let revision = Revision::Eip6690_2024;
    let code = assemble_text(CODE, revision)?.bytes;
    let database = BenchmarkDB::new_bytecode(Bytecode::new_legacy(code.into()));
    let mut evm = evm(Context::mainnet().with_db(database), &EngineConfig::default_for(revision))?;
    let transaction = TxEnv { kind: TxKind::Call(BENCH_TARGET), gas_limit: 100_000, ..TxEnv::default() };
    let result = evm.transact(transaction)?.result;
    println!("{result:?}");
    assert_eq!(result.output().and_then(|output| output.last()), Some(&71), "77² = 58·101 + 71");
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
