//! Code without field opcodes runs as on an unmodified revm: result, gas, logs, state.
//!
//! A schedule may reprice the EVM's own opcodes (`[evm]`), and some are a revision's default; these tests leave that out.

use crate::code::Code;
use crate::code::random::random_code;
use rand::{Rng, SeedableRng};
use residue_engine::revm::context::result::{ExecutionResult, HaltReason};
use residue_engine::revm::context::{BlockEnv, CfgEnv, Context, Journal, TxEnv};
use residue_engine::revm::database::InMemoryDB;
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::primitives::{Address, TxKind, U256};
use residue_engine::revm::state::{AccountInfo, Bytecode};
use residue_engine::revm::{ExecuteEvm, MainBuilder};
use residue_engine::{Engine, EngineConfig, Fork};
use residue_isa::{GasSchedule, Revision};

type Plain = Context<BlockEnv, TxEnv, CfgEnv, InMemoryDB, Journal<InMemoryDB>, ()>;

const ADDRESSES: [[u8; 20]; 3] = [[1; 20], [2; 20], [3; 20]];
const FORKS: [(Fork, SpecId); 4] = [
    (Fork::London, SpecId::LONDON),
    (Fork::Cancun, SpecId::CANCUN),
    (Fork::Prague, SpecId::PRAGUE),
    (Fork::Osaka, SpecId::OSAKA),
];

fn context(codes: &[Code], spec: SpecId) -> Plain {
    let mut db = InMemoryDB::default();
    for (address, code) in ADDRESSES.iter().zip(codes) {
        let code = Bytecode::new_legacy(code.0.clone().into());
        let info = AccountInfo {
            balance: U256::from(1000),
            code_hash: code.hash_slow(),
            code: Some(code),
            nonce: 1,
            ..Default::default()
        };
        db.insert_account_info(Address::from(*address), info);
    }
    Plain::new(db, spec)
}

fn transaction(to: TxKind, gas_limit: u64, data: Vec<u8>) -> TxEnv {
    TxEnv::builder().caller(Address::repeat_byte(0xaa)).kind(to).gas_limit(gas_limit).data(data.into()).build().unwrap()
}

/// The revision under its default prices, but for those of the EVM's own opcodes.
fn engine(revision: Revision) -> Engine {
    let text = GasSchedule::default_for(revision).unwrap().to_toml();
    let own = text.split("\n[evm]\n").next().unwrap();
    let schedule = GasSchedule::from_toml(own, "own prices").unwrap();
    assert_eq!(schedule.evm_overrides().count(), 0);
    Engine::new(EngineConfig { schedule, ..EngineConfig::default_for(revision) }).unwrap()
}

/// Bytes that the revision or the fork gives no meaning; revm charges some of them before it refuses them, which changes
/// the reason of a halt but not its price.
fn reason_aside(result: ExecutionResult<HaltReason>) -> (ExecutionResult<HaltReason>, bool) {
    match result {
        ExecutionResult::Halt { gas, logs, .. } => {
            (ExecutionResult::Halt { reason: HaltReason::OpcodeNotFound, gas, logs }, true)
        }
        other => (other, false),
    }
}

/// Code without the bytes that the revision adds.
fn without_field_opcodes(random: &mut impl Rng, revision: Revision) -> Code {
    let mut code = random_code(random, None, &ADDRESSES);
    for byte in &mut code.0 {
        if revision.first_bytes().any(|first| first == *byte) {
            *byte = 0x5b;
        }
    }
    code
}

#[test]
fn random_contracts_without_field_opcodes_do_what_they_do_in_revm() {
    let (mut succeeded, mut halted) = (0, 0);
    for revision in Revision::ALL {
        let engine = engine(*revision);
        for seed in 0..700 {
            let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let codes: Vec<Code> = (0..3).map(|_| without_field_opcodes(&mut random, *revision)).collect();
            let (_, spec) = FORKS[usize::try_from(seed).unwrap() % FORKS.len()];
            let gas = if seed % 3 == 0 { 40_000 } else { 400_000 };
            let created = seed % 5 == 0;
            let tx = || match created {
                true => transaction(TxKind::Create, gas, codes[0].0.clone()),
                false => transaction(TxKind::Call(Address::from(ADDRESSES[0])), gas, vec![9; 50]),
            };
            let ours = engine.evm(context(&codes, spec)).transact(tx());
            let theirs = context(&codes, spec).build_mainnet().transact(tx());
            match (ours, theirs) {
                (Ok(ours), Ok(theirs)) => {
                    assert_eq!(ours.state, theirs.state, "{revision}, seed {seed}");
                    let ((ours, halts), (theirs, _)) = (reason_aside(ours.result), reason_aside(theirs.result));
                    assert_eq!(ours, theirs, "{revision}, seed {seed}");
                    succeeded += usize::from(!halts);
                    halted += usize::from(halts);
                }
                (ours, theirs) => assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{revision}, seed {seed}"),
            }
        }
    }
    assert!(succeeded > 100 && halted > 100, "{succeeded} {halted}");
}

#[test]
fn every_opcode_alone_costs_what_it_costs_in_revm() {
    for revision in Revision::ALL {
        let engine = engine(*revision);
        for (_, spec) in FORKS {
            for opcode in (0..=u8::MAX).filter(|opcode| revision.first_bytes().all(|first| first != *opcode)) {
                for operand in [0_u64, 1, 33, 1 << 20, u64::MAX] {
                    let code = Code::new().stack(&[operand; 7]).op(opcode).op(0x5b);
                    let tx = || transaction(TxKind::Call(Address::from(ADDRESSES[0])), 90_000, vec![1; 5]);
                    let ours = engine.evm(context(std::slice::from_ref(&code), spec)).transact(tx()).unwrap();
                    let theirs = context(std::slice::from_ref(&code), spec).build_mainnet().transact(tx()).unwrap();
                    assert_eq!(ours.state, theirs.state, "{opcode:#04x}");
                    assert_eq!(reason_aside(ours.result), reason_aside(theirs.result), "{opcode:#04x}");
                }
            }
        }
    }
}
