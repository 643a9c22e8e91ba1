//! Is (x, y) a point of secp256k1? Written once, compiled for every interface, run, and compared with the evaluator.

use std::error::Error;

use num_bigint::BigUint;
use residue_compiler::compile;
use residue_engine::{Engine, EngineConfig};
use residue_ir::{Machine, Outcome, WordOp, evaluate, record};
use residue_isa::{GasSchedule, Revision};

/// y² = x³ + 7 over coordinates of 32 bytes each: returns a word, 1 or 0.
fn is_on_curve<M: Machine>(machine: &M) {
    let size = machine.calldata_size();
    machine.require(machine.word_op(WordOp::Eq, size, machine.small(64)));
    let x = machine.parse(machine.small(0), 32);
    let y = machine.parse(machine.small(32), 32);
    let seven = machine.constant(&BigUint::from(7u8));
    machine.return_word(machine.equal(y * y, x * x * x + seven));
}

fn main() -> Result<(), Box<dyn Error>> {
    let p = (BigUint::from(1u8) << 256) - (BigUint::from(1u8) << 32) - 977u32;
    let program = record("is_on_curve", &p, |machine| is_on_curve(machine));
    let generator = hex::decode(
        "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798\
         483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8",
    )?;
    for &revision in Revision::ALL {
        let schedule = GasSchedule::default_for(revision)?;
        let compiled = match compile(&program, revision, &schedule) {
            Ok(compiled) => compiled,
            Err(error) => {
                println!("{revision:16} {error}");
                continue;
            }
        };
        let engine = Engine::new(EngineConfig::new(revision, schedule))?;
        let outcome = engine.run_code(&compiled.code, &generator, 1_000_000);
        assert_eq!(Outcome::Returned(outcome.output), evaluate(&program, &generator));
        println!("{revision:16} {:4} bytes {:6} gas", compiled.code.len(), outcome.gas_used);
    }
    Ok(())
}
