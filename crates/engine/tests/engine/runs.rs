//! Instructions that execute as a run end as they do one after the other: with any gas, and where one in the middle halts.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::{Batching, Engine, EngineConfig, Halt};
use residue_isa::Revision;

use crate::code::Code;

const SLOTS: u8 = 12;
/// Offset of the values in memory.
const VALUES: u64 = 256;

/// An instruction of arithmetic; one of some thirty halts for its operands.
fn arithmetic(random: &mut impl Rng, revision: Revision) -> [u8; 8] {
    let opcodes = revision.interface().arithmetic.0;
    let count = [1, 1, 1, 2, 2, 3][random.random_range(0..6)];
    let mut operand = || {
        let stride = random.random_range(0..3);
        [random.random_range(0..SLOTS - stride * (count - 1)), stride]
    };
    let [[out, out_stride], x, y] = [operand(), operand(), operand()];
    let [x, y] = if random.random_range(0..4) == 0 { [[out, 1], [out, 1]] } else { [x, y] };
    let opcode = opcodes[random.random_range(0..3)];
    let mut instruction = [opcode, out, out_stride.max(1), x[0], x[1], y[0], y[1], count];
    match random.random_range(0..100) {
        0 => instruction[7] = 0,
        1 => instruction[2] = 0,
        2 => instruction[1 + 2 * random.random_range(0..3)] = SLOTS,
        _ => {}
    }
    instruction
}

/// A modulus, values, and three hundred instructions at most, some repeated, with something else between them here and there; all slots are returned.
fn code(random: &mut impl Rng, revision: Revision, modulus: &[u8]) -> Vec<u8> {
    let opcodes = revision.slot_rules().unwrap();
    let size = u64::try_from(modulus.len()).unwrap();
    let mut code = Code::new().store(0, modulus).stack(&[0, 0, size, SLOTS.into()]).op(opcodes.set_modulus);
    // Values of one byte each, the last of which grows memory for all.
    let element = size.div_ceil(8) * 8;
    for slot in 0..u64::from(SLOTS) {
        code = code.push(random.random_range(0..100)).push(VALUES + element * (slot + 1) - 1).op(0x53);
    }
    code = code.stack(&[0, VALUES, SLOTS.into()]).op(opcodes.store);
    for _ in 0..random.random_range(1..200) {
        let instruction = arithmetic(random, revision);
        let times = if random.random_range(0..16) == 0 { random.random_range(2..8) } else { 1 };
        code = code.bytes(&instruction.repeat(times));
        if random.random_range(0..20) == 0 {
            code = code.push(1).op(0x50);
        }
    }
    if random.random_range(0..8) == 0 {
        let cut = random.random_range(1..8);
        return code.bytes(&arithmetic(random, revision)[..cut]).0;
    }
    code.stack(&[VALUES, 0, SLOTS.into()]).op(opcodes.load).ret(VALUES, element * u64::from(SLOTS)).0
}

#[test]
fn a_run_ends_as_its_instructions_do_one_after_the_other() {
    let mut random = ChaCha8Rng::seed_from_u64(0x7265_7369_6475_6572);
    let mut halts = std::collections::BTreeMap::new();
    for revision in [Revision::Eip6690_2024, Revision::XSquarex] {
        for round in 0..240 {
            let mut modulus = vec![0; [8, 16, 32, 40, 48, 64][round % 6]];
            random.fill(&mut modulus[..]);
            modulus[0] |= 0x80 >> random.random_range(0..4);
            *modulus.last_mut().unwrap() |= 1;
            let code = code(&mut random, revision, &modulus);
            let batching = [Batching::Off, Batching::Warm, Batching::Always][round % 3];
            let engine = Engine::new(EngineConfig { batching, ..EngineConfig::default_for(revision) }).unwrap();
            let run = |gas| {
                let outcome = engine.run_code(&code, &[], gas);
                assert_eq!(
                    outcome,
                    engine.run_counted(&code, &[], gas).outcome,
                    "{revision}, round {round}, {gas} gas"
                );
                outcome
            };
            let all = run(1_000_000);
            *halts.entry(all.halt.name()).or_insert(0) += 1;
            for _ in 0..12 {
                let outcome = run(random.random_range(0..=all.gas_used.min(900_000)));
                *halts.entry(outcome.halt.name()).or_insert(0) += 1;
            }
        }
    }
    for halt in [Halt::Return, Halt::OutOfGas, Halt::SlotOutOfRange, Halt::InvalidStride] {
        assert!(halts.get(halt.name()).is_some_and(|&count| count > 20), "{halts:?}");
    }
}
