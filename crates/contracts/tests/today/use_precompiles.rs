//! Contracts that may call the precompiles of today's EVM answer as those that may not.

use crate::by_precompiles::by_precompiles;
use residue_compiler::{CompileError, Dialect, SmallMultiples, compile_as};
use residue_contracts::{CONTRACTS, find};
use residue_engine::{Engine, EngineConfig, Fork, Halt};
use residue_ir::{Feature, Machine, Outcome, Piece, Program, WordOp, evaluate, record, text};
use residue_isa::precompile::{BN254_MUL, SHA256, since};
use residue_isa::{GasSchedule, Revision};

const GAS: u64 = 1_000_000_000;

#[test]
fn a_contract_in_place_of_a_precompile_is_a_call_of_it() {
    let mut called = 0;
    for contract in CONTRACTS {
        let Some(address) = contract.precompile else { continue };
        let program = contract.program();
        let example = (contract.example)();
        let mut damaged = example.clone();
        *damaged.last_mut().unwrap() ^= 1;
        let shorter = example[..example.len() - 1].to_vec();
        for fork in [Fork::Cancun, Fork::Prague, Fork::Osaka] {
            if since(address).unwrap() > fork {
                // Nothing is there to be called, so it is made of formulas, or refused.
                let refused = by_precompiles(&program, fork).err();
                assert!(refused.is_none_or(|error| error.is_inexpressible()), "{}, {fork}", contract.name);
                continue;
            }
            let (mut thin, bytes) = by_precompiles(&program, fork).unwrap();
            assert!(bytes < 64, "{}, {fork}: {bytes} bytes", contract.name);
            for input in [&example, &damaged, &shorter] {
                let outcome = thin.run_without_memory(input, GAS);
                let what = format!("{}, {fork}, {} bytes", contract.name, input.len());
                match evaluate(&program, input) {
                    Outcome::Returned(output) => {
                        assert_eq!((outcome.halt, outcome.output), (Halt::Return, output), "{what}")
                    }
                    Outcome::Ended => assert!(outcome.halt.is_success() && outcome.output.is_empty(), "{what}"),
                    Outcome::Failed => assert!(outcome.halt.is_exceptional(), "{what}: {}", outcome.halt),
                }
                called += 1;
            }
        }
    }
    assert!(called > 60, "{called}");
}

#[test]
fn a_sum_of_products_is_made_by_those_of_one_point() {
    let contract = find("bn254/msm").unwrap();
    let (program, two) = (contract.program(), (contract.example)());
    let (mut thin, bytes) = by_precompiles(&program, Fork::Osaka).unwrap();
    assert!(bytes < 128, "{bytes} bytes");
    let mut identity = two.clone();
    identity[..64].fill(0);
    let mut off_curve = two.clone();
    off_curve[160] ^= 1;
    let inputs = [vec![], two[..96].to_vec(), two.clone(), two.repeat(4), identity, off_curve, two[1..].to_vec()];
    for input in inputs {
        let outcome = thin.run_without_memory(&input, GAS);
        match evaluate(&program, &input) {
            Outcome::Returned(output) => assert_eq!(outcome.output, output, "{} bytes", input.len()),
            ended => assert!(outcome.halt.is_exceptional(), "{} bytes: {ended:?}", input.len()),
        }
    }
}

/// The hash of two words and 70 bytes of calldata, then of its first 36 bytes and what was there after them: by the precompile in scratch memory where it may be called.
fn hashes() -> Program {
    record("hashes", &97u8.into(), |machine| {
        let at = |offset: u64| machine.small(offset);
        machine.scratch(140);
        machine.branch(
            machine.has(Feature::Precompile(SHA256)),
            |machine| {
                machine.set_scratch(at(3), machine.calldata_size());
                machine.set_scratch(at(35), machine.calldata_word(at(1)));
                machine.copy_calldata(at(67), at(5), at(70));
                // Thirty bytes of the hash over what it is made of.
                let succeeded =
                    machine.precompile(SHA256, (at(3), machine.word_op(WordOp::Add, at(100), at(34))), (at(6), 30));
                machine.require(succeeded);
                machine.return_word(machine.scratch_word(at(5)));
            },
            |machine| {
                let word = |word| Piece::Word { word, size_bytes: at(32) };
                let calldata = Piece::Calldata { offset: at(5), size_bytes: at(70) };
                let hash =
                    machine.sha256(&[word(machine.calldata_size()), word(machine.calldata_word(at(1))), calldata]);
                // The byte before it is one of the size, which is 0, and the one after it the second of the word.
                let second = machine.word_op(WordOp::Byte, machine.calldata_word(at(1)), at(1));
                let kept = machine.word_op(WordOp::Shl, machine.word_op(WordOp::Shr, hash, at(16)), at(8));
                machine.return_word(machine.word_op(WordOp::Or, kept, second));
            },
        );
    })
}

#[test]
fn scratch_memory_holds_what_is_given_and_what_is_returned() {
    let program = hashes();
    assert_eq!(text::parse(&text::print(&program)).unwrap(), program);
    let (mut thin, _) = by_precompiles(&program, Fork::Osaka).unwrap();
    for length in [0, 1, 33, 75, 200] {
        let input: Vec<u8> = (0..length).map(|byte| byte as u8 ^ 0x5a).collect(); // below 256
        let outcome = thin.run_without_memory(&input, GAS);
        assert_eq!(Outcome::Returned(outcome.output), evaluate(&program, &input), "{length} bytes");
    }
}

#[test]
fn code_calls_none_unless_it_may() {
    let always = record("always", &97u8.into(), |machine| machine.return_precompile(BN254_MUL));
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    let compiled = |dialect| compile_as(&always, Revision::Evm, &schedule, SmallMultiples::AsWritten, dialect);
    let may = Dialect { precompiles: true, ..Dialect::default() };
    for dialect in [Dialect::default(), Dialect { fork: Fork::Homestead, ..may }] {
        let error = compiled(dialect).unwrap_err();
        assert_eq!(error, CompileError::Precompile { address: 7, fork: dialect.fork });
    }
    assert!(compiled(may).is_ok());
    assert!(residue_ir::evaluate_within(&always, &[], 1).is_err(), "the evaluator has none");
    let mul = find("bn254/mul").unwrap().program();
    let by_formulas =
        compile_as(&mul, Revision::Evm, &schedule, SmallMultiples::AsWritten, Dialect::default()).unwrap();
    assert!(!by_formulas.code.windows(2).any(|code| code == [0x5a, 0xfa]), "GAS and STATICCALL are not there");
}

#[test]
fn inverses_are_the_precompiles_where_that_is_cheaper() {
    let contract = find("grumpkin/mul").unwrap();
    let (program, example) = (contract.program(), (contract.example)());
    let Outcome::Returned(expected) = evaluate(&program, &example) else { panic!("its example returns") };
    let gas = |fork, may: bool| {
        let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
        let dialect = Dialect { fork, precompiles: may, ..Dialect::default() };
        let compiled = compile_as(&program, Revision::Evm, &schedule, SmallMultiples::AsWritten, dialect).unwrap();
        let config = EngineConfig { fork, ..EngineConfig::default_for(Revision::Evm) };
        let outcome = Engine::new(config).unwrap().run_code(&compiled.code, &example, GAS);
        assert_eq!((outcome.halt, outcome.output), (Halt::Return, expected.clone()), "{fork}");
        outcome.gas_used
    };
    assert!(gas(Fork::Prague, true) + 2_000 < gas(Fork::Prague, false));
    assert_eq!(gas(Fork::Osaka, true), gas(Fork::Osaka, false));
}

#[test]
fn an_inverse_is_that_of_the_evaluator_and_0_has_none() {
    let inverses = |modulus: u32| {
        record("inverses", &modulus.into(), |machine| {
            let values = [0, 32].map(|at| machine.reduce(machine.calldata_word(machine.small(at))));
            let inverted = values.map(|value| machine.invert(value));
            machine.return_elements(inverted, 32);
        })
    };
    let prime = inverses(65_537);
    let (mut thin, _) = by_precompiles(&prime, Fork::Cancun).unwrap();
    for (a, b) in [(0, 1), (2, 65_536), (65_537, 65_539), (12_345, 54_321)] {
        let input = [a, b].map(|value: u32| [vec![0; 28], value.to_be_bytes().to_vec()].concat()).concat();
        let outcome = thin.run_without_memory(&input, GAS);
        assert_eq!(Outcome::Returned(outcome.output), evaluate(&prime, &input), "{a}, {b}");
    }
    // Of a product a power is no inverse; and a chain is cheaper on Osaka.
    for (program, fork) in [(inverses(65_535), Fork::Cancun), (prime, Fork::Osaka)] {
        let refused = by_precompiles(&program, fork).err();
        assert_eq!(refused, Some(CompileError::Inversion { revision: Revision::Evm }), "{fork}");
    }
}
