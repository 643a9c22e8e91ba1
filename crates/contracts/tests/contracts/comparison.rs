//! Code that compares slots: it ends as code without does, for less gas, on points of either sign and on invalid
//! points.

use residue_compiler::{Compiled, compile};
use residue_contracts::find;
use residue_engine::{Batching, Engine, EngineConfig, Halt};
use residue_isa::form::{EQX, LTX};
use residue_isa::{GasSchedule, Revision};

/// True if the code has an instruction of this opcode.
fn has(compiled: &Compiled, opcode: u8) -> bool {
    let mut at = 0;
    while at < compiled.instruction_bytes && compiled.code[at] != opcode {
        at += compiled.revision.bytes_at(&compiled.code[at..]);
    }
    at < compiled.instruction_bytes
}

#[test]
fn comparisons_of_slots_answer_what_bytes_did() {
    let opcodes_of = [
        ("bls12_381/decompress_g1", &[EQX, LTX][..]),
        ("bls12_381/decompress_g2", &[EQX, LTX]),
        ("bls12_381/g1_add", &[EQX]),
        ("bn254/add", &[EQX]),
    ];
    for (name, opcodes) in opcodes_of {
        let contract = find(name).unwrap();
        let (program, example) = (contract.program(), (contract.example)());
        let [without, with] = [Revision::Eip6690_2024, Revision::XCmpx]
            .map(|revision| compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap());
        assert!(opcodes.iter().all(|&opcode| has(&with, opcode)), "{name}");
        // The other sign of a compressed point, the same coordinate twice, small ones, zeros, and one byte less.
        let mut inputs = vec![example.clone(), example[1..].to_vec(), vec![0; example.len()]];
        inputs.push([&[example[0] ^ 0x20], &example[1..]].concat());
        inputs.push(example[..example.len() / 2].repeat(2));
        for small in 0..8 {
            let mut input = vec![0; example.len()];
            (input[0], input[example.len() - 1]) = (0x80 | (small & 1) << 5, small);
            inputs.push(input);
        }
        let mut returned = 0;
        for input in &inputs {
            for batching in [Batching::Off, Batching::Always, Batching::Traces] {
                let [before, after] = [&without, &with].map(|compiled| {
                    let config = EngineConfig { batching, ..EngineConfig::default_for(compiled.revision) };
                    let outcome = Engine::new(config).unwrap().run_code(&compiled.code, input, 10_000_000);
                    (outcome.halt, outcome.output, outcome.gas_used)
                });
                assert_eq!((&after.0, &after.1), (&before.0, &before.1), "{name} {input:02x?}");
                if after.0 == Halt::Return {
                    returned += 1;
                    assert!(after.2 < before.2, "{name}: {} of {}", after.2, before.2);
                }
            }
        }
        assert!(returned >= 6, "{name}: {returned}");
    }
}
