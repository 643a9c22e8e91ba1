//! Code whose field instructions have a prefix: it costs as much as code without, ends alike, and is longer by a byte
//! for each of them.

use residue_compiler::{Compiled, compile};
use residue_contracts::find;
use residue_engine::{Batching, Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};

const REVISIONS: [Revision; 2] = [Revision::Eip6690_2024, Revision::XExtx];

/// Instructions with an opcode of the revision.
fn own_instructions(compiled: &Compiled) -> usize {
    let (mut found, mut at) = (0, 0);
    while at < compiled.instruction_bytes {
        let code = &compiled.code[at..];
        found += usize::from(compiled.revision.own_row_at(code).is_some());
        at += compiled.revision.bytes_at(code);
    }
    found
}

#[test]
fn a_prefix_costs_bytes_and_no_gas() {
    for name in ["poseidon/t3", "bn254/pairing", "bls12_381/g1_add", "bls12_381/g1_msm"] {
        let contract = find(name).unwrap();
        let (program, example) = (contract.program(), (contract.example)());
        let mut wrong = example.clone();
        wrong.iter_mut().take(64).for_each(|byte| *byte = 0xff);
        let [plain, prefixed] = REVISIONS
            .map(|revision| compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap());
        let (instructions, longer) = (own_instructions(&plain), prefixed.code.len() - plain.code.len());
        assert_eq!(own_instructions(&prefixed), instructions, "{name}");
        // Addresses may be pushed with a byte more too.
        assert!((instructions..instructions + 200).contains(&longer), "{name}: {instructions} {longer}");
        for (input, is_right) in [(&example, true), (&wrong, false), (&example[..example.len() - 1].to_vec(), false)] {
            for batching in [Batching::Off, Batching::Always, Batching::Traces] {
                let [plain, prefixed] = [&plain, &prefixed].map(|compiled| {
                    let config = EngineConfig { batching, ..EngineConfig::default_for(compiled.revision) };
                    let outcome = Engine::new(config).unwrap().run_code(&compiled.code, input, 10_000_000);
                    (outcome.halt, outcome.output, outcome.gas_used)
                });
                assert_eq!(plain, prefixed, "{name}");
                assert_eq!(plain.0 == Halt::Return, is_right, "{name}");
            }
        }
    }
}
