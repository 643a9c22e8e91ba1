//! Every way a frame can end, and the order of the checks that decide it. All but three consume the gas.

use crate::code::{Code, eip6690, engine, evm384, modulus_101};
use residue_engine::{Batching, Engine, EngineConfig, Fork, GasSplit, Halt};
use residue_isa::Revision;
use residue_isa::revision::eip6690_2024::{ADDMODX, LOADX, MULMODX, SETMODX, STOREX, SUBMODX};
use residue_isa::revision::evm384_v7::{ADDMOD384, LOGF, MULMODMONT384, SUBMOD384};
use residue_isa::revision::experiments::EXTENSION;

const GAS: u64 = 30_000_000;

#[track_caller]
fn check_with(engine: &Engine, code: &Code, gas: u64, halt: Halt) {
    let outcome = engine.run_code(&code.0, &[], gas);
    assert_eq!(outcome.halt, halt);
    assert_eq!(outcome.gas_used + outcome.gas_left, gas);
    if halt.is_exceptional() {
        assert_eq!(outcome.gas_used, gas, "an exceptional halt consumes the gas");
        assert!(outcome.output.is_empty());
    }
    let counted = engine.run_counted(&code.0, &[], gas);
    assert_eq!(counted.outcome, outcome, "counting changes nothing");
    let GasSplit { arithmetic, transfer, memory, control } = counted.gas_split;
    assert_eq!(arithmetic + transfer + memory + control, outcome.gas_used);
}

#[track_caller]
fn check(code: Code, halt: Halt) {
    check_with(&eip6690(), &code, GAS, halt);
}

#[track_caller]
fn check_v7(code: Code, halt: Halt) {
    check_with(&evm384(), &code, GAS, halt);
}

/// Memory with modulus 101 in the first word and the numbers 100, 101, … 107 as 8-byte values in the two words after.
fn numbers() -> Code {
    let numbers: Vec<u8> = (100..108_u64).flat_map(u64::to_be_bytes).collect();
    Code::new().mstore(0, 101).store(32, &numbers)
}

#[test]
fn the_evm_itself_halts_under_our_names() {
    for engine in [eip6690(), evm384()] {
        for (code, halt) in [
            (Code::new().op(0x00), Halt::Stop),
            (Code::new().push(1), Halt::Stop),
            (Code::new().ret(0, 0), Halt::Return),
            (Code::new().stack(&[0, 3]).op(0xfd), Halt::Revert),
            (Code::new().push(0).op(0x01), Halt::StackUnderflow),
            (Code::new().op(0x80), Halt::StackUnderflow),
            (Code::new().push(0).op(0x8f), Halt::StackUnderflow),
            (Code::new().push(0).op(0x90), Halt::StackUnderflow),
            (Code(vec![0x5f; 1025]), Halt::StackOverflow),
            (Code([vec![0x5f; 1024], vec![0x80]].concat()), Halt::StackOverflow),
            (Code::new().op(0xfe), Halt::InvalidInstruction),
            (Code::new().op(0x0c), Halt::InvalidInstruction),
            (Code::new().push(3).op(0x56), Halt::InvalidJump),
            (Code::new().stack(&[0, 1, 1]).op(0x3e), Halt::Other("other:OutOfOffset")),
            (Code::new().push_bytes(&[0xff; 32]).op(0x51), Halt::OutOfGas),
            (Code::new().op(0x5b).push(0).op(0x56), Halt::OutOfGas),
        ] {
            check_with(&engine, &code, 100_000, halt);
        }
    }
}

#[test]
fn opcodes_of_later_forks_are_unknown_whatever_the_gas() {
    for revision in Revision::ALL {
        for opcode in [0x4b, 0xe6, 0xe7, 0xe8] {
            for gas in [0, 1, 100] {
                check_with(&engine(*revision), &Code::new().op(opcode), gas, Halt::InvalidInstruction);
            }
        }
        let mut config = EngineConfig::default_for(*revision);
        config.fork = Fork::London;
        let london = Engine::new(config).unwrap();
        check_with(&london, &Code::new().op(0x5f), 0, Halt::InvalidInstruction);
        check_with(&london, &Code::new().push(1).op(0x1e), 3, Halt::InvalidInstruction);
    }
}

#[test]
fn field_opcodes_of_the_other_revision_are_unknown() {
    check_v7(Code::new().op(0xc4), Halt::InvalidInstruction);
    check_v7(Code::new().op(0xc5), Halt::InvalidInstruction);
    check(Code::new().op(0xc6), Halt::InvalidInstruction);
}

#[test]
fn a_write_in_a_static_call_is_a_static_violation() {
    let mut world = residue_engine::World::new(&eip6690());
    let [outer, inner] = [[1; 20], [2; 20]];
    world.install(inner, &Code::new().stack(&[0, 0]).op(0x55).0, 0);
    world.install(outer, &Code::new().call(0xfa, 50_000, inner, 0).mstore(0, 7).push(0).op(0x52).ret(0, 32).0, 0);
    let mut halts = Halts::default();
    world.call_traced(outer, &[], GAS, &mut halts);
    assert_eq!(halts.0, [Halt::StaticViolation, Halt::Return]);
}

#[derive(Default)]
struct Halts(Vec<Halt>);

impl residue_engine::Tracer for Halts {
    fn after(&mut self, step: &residue_engine::Step, _: &residue_engine::View<'_>) {
        self.0.extend(step.halt);
    }
}

#[test]
fn evm384_halts_for_want_of_stack_or_gas_only() {
    for opcode in [ADDMOD384, SUBMOD384, MULMODMONT384] {
        check_v7(Code::new().op(opcode), Halt::StackUnderflow);
        check_v7(Code::new().push_bytes(&[0xff; 32]).op(opcode), Halt::OutOfGas);
        check_v7(Code::new().push(0).op(opcode), Halt::Stop);
        // The upper half of the word is ignored.
        let high = [[0xff; 16], [0; 16]].concat();
        check_v7(Code::new().push_bytes(&high).op(opcode), Halt::Stop);
    }
    check_v7(Code::new().stack(&[1, 2]).op(LOGF), Halt::StackUnderflow);
    let huge = Code::new().push_bytes(&[0xff; 32]).push_bytes(&[0xff; 32]).push_bytes(&[0xff; 32]);
    check_v7(huge.op(LOGF), Halt::Stop);
    // Stack before base gas.
    check_with(&evm384(), &Code::new().op(MULMODMONT384), 0, Halt::StackUnderflow);
    check_with(&evm384(), &Code::new().push(0).op(MULMODMONT384), 2 + 23, Halt::OutOfGas);
}

#[test]
fn memory_may_fill_the_ceiling_but_not_pass_it() {
    const LIMIT: u64 = 64 << 20;
    let gas = 1 << 50;
    for engine in [eip6690(), evm384()] {
        check_with(&engine, &Code::new().mstore(LIMIT - 32, 1), gas, Halt::Stop);
        check_with(&engine, &Code::new().mstore(LIMIT - 31, 1), gas, Halt::OutOfGas);
    }
    let last = u32::try_from(LIMIT).unwrap() - 56;
    check_with(&evm384(), &Code::new().v7(MULMODMONT384, 0, 0, 0, last), gas, Halt::Stop);
    check_with(&evm384(), &Code::new().v7(MULMODMONT384, last + 1, 0, 0, 0), gas, Halt::OutOfGas);
    check_with(&evm384(), &Code::new().v7(ADDMOD384, last + 8, 0, 0, 0), gas, Halt::Stop);
    check_with(&evm384(), &Code::new().v7(ADDMOD384, u32::MAX, 0, 0, 0), gas, Halt::OutOfGas);

    let mut config = EngineConfig::default_for(Revision::Eip6690_2024);
    config.memory_limit_bytes = 96;
    let small = Engine::new(config).unwrap();
    check_with(&small, &modulus_101(0, 256).mstore(64, 1), gas, Halt::Stop);
    check_with(&small, &modulus_101(0, 256).mstore(65, 1), gas, Halt::OutOfGas);
}

#[test]
fn setmodx_checks_id_slots_size_range_and_modulus_in_this_order() {
    let set = |id, offset, size, slots| numbers().setmodx(id, offset, size, slots);
    check(Code::new().stack(&[1, 2, 3]).op(SETMODX), Halt::StackUnderflow);
    check(set(0, 24, 8, 1), Halt::Stop);
    check(set(256, 24, 8, 256), Halt::Stop);
    check(set(257, 24, 8, 0), Halt::NoContext);
    check(set(u64::MAX, 24, 8, 1), Halt::NoContext);
    check(set(0, 24, 97, 0), Halt::SlotOutOfRange);
    check(set(0, 24, 8, 257), Halt::SlotOutOfRange);
    check(set(0, 24, 0, 1), Halt::InvalidModulus);
    check(set(0, 1 << 40, 97, 1), Halt::InvalidModulus);
    check(set(0, 0, 96, 256), Halt::Stop); // 24,576 bytes.
    check(set(0, 24, 8, 1).setmodx(1, 0, 96, 256), Halt::SlotOutOfRange); // 8 bytes too many.
    check(set(0, 89, 8, 1), Halt::MemoryOutOfRange);
    check(set(0, u64::MAX, 8, 1), Halt::MemoryOutOfRange);
    check(set(0, 0, 24, 1), Halt::InvalidModulus); // 0
    for (modulus, halt) in [
        (0, Halt::InvalidModulus),
        (1, Halt::InvalidModulus),
        (2, Halt::InvalidModulus),
        (3, Halt::Stop),
        (4, Halt::Stop),
        (6, Halt::InvalidModulus),
        (1 << 63, Halt::Stop),
        (u64::MAX, Halt::Stop),
        (u64::MAX - 1, Halt::InvalidModulus),
    ] {
        check(Code::new().mstore(0, modulus).setmodx(0, 0, 32, 1), halt);
    }
    // A known id looks at nothing else.
    check(set(7, 24, 8, 1).setmodx(7, u64::MAX, 0, 999), Halt::Stop);
    check_with(&eip6690(), &Code::new().op(SETMODX), 0, Halt::StackUnderflow);
    check_with(&eip6690(), &Code::new().stack(&[999, 0, 0, 0]).op(SETMODX), 2 * 3 + 3, Halt::OutOfGas);
    check_with(&eip6690(), &Code::new().stack(&[999, 0, 0, 0]).op(SETMODX), 2 * 3 + 4, Halt::NoContext);
}

#[test]
fn arithmetic_checks_context_stride_and_slots() {
    for opcode in [ADDMODX, SUBMODX, MULMODX] {
        let with = |out, x, y, count| modulus_101(0, 10).slots(opcode, out, x, y, count);
        check(Code::new().one(opcode, 0, 0, 0), Halt::NoContext);
        check(Code::new().slots(opcode, (0, 0), (0, 0), (0, 0), 0), Halt::NoContext);
        check(with((0, 1), (0, 1), (0, 1), 0), Halt::InvalidStride);
        check(with((0, 0), (0, 1), (0, 1), 1), Halt::InvalidStride);
        check(with((99, 0), (0, 1), (0, 1), 1), Halt::InvalidStride);
        check(with((0, 1), (0, 0), (9, 0), 10), Halt::Stop);
        check(with((0, 3), (0, 3), (0, 3), 4), Halt::Stop);
        check(with((9, 255), (9, 255), (9, 255), 1), Halt::Stop);
        check(with((1, 3), (0, 3), (0, 3), 4), Halt::SlotOutOfRange);
        check(with((0, 3), (1, 3), (0, 3), 4), Halt::SlotOutOfRange);
        check(with((0, 3), (0, 3), (1, 3), 4), Halt::SlotOutOfRange);
        check(with((255, 255), (255, 255), (255, 255), 255), Halt::SlotOutOfRange);
        check(with((0, 1), (10, 0), (0, 1), 1), Halt::SlotOutOfRange);
    }
}

#[test]
fn transfers_check_context_slots_range_and_values() {
    let set = || numbers().setmodx(0, 24, 8, 4);
    let both = |to_memory: fn(Code, u64, u64, u64) -> Code, halt, offset, slot, count| {
        check(to_memory(set(), offset, slot, count), halt);
    };
    for transfer in [
        (|code: Code, offset, slot, count| code.loadx(offset, slot, count)) as fn(Code, u64, u64, u64) -> Code,
        |code, offset, slot, count| code.storex(slot, offset, count),
    ] {
        both(transfer, Halt::Stop, 32, 0, 1);
        both(transfer, Halt::Stop, 88, 3, 0);
        both(transfer, Halt::Stop, u64::MAX, u64::MAX, 0);
        both(transfer, Halt::SlotOutOfRange, 32, 3, 2);
        both(transfer, Halt::SlotOutOfRange, 32, 4, 1);
        both(transfer, Halt::SlotOutOfRange, 32, u64::MAX, 1);
        both(transfer, Halt::SlotOutOfRange, u64::MAX, 0, 5);
        both(transfer, Halt::SlotOutOfRange, 0, 0, u64::MAX);
        both(transfer, Halt::MemoryOutOfRange, 89, 0, 1);
        both(transfer, Halt::MemoryOutOfRange, u64::MAX - 3, 0, 1);
        check(transfer(Code::new(), 0, 0, 0), Halt::NoContext);
    }
    check(Code::new().stack(&[0, 0]).op(LOADX), Halt::StackUnderflow);
    check(Code::new().stack(&[0, 0]).op(STOREX), Halt::StackUnderflow);
    check(set().storex(0, 32, 2), Halt::ValueOutOfRange);
    check(set().storex(0, 40, 1), Halt::ValueOutOfRange);
    let huge = Code::new().push_bytes(&[0xff; 32]);
    check(set().push(1).bytes(&huge.0).push(0).op(LOADX), Halt::SlotOutOfRange);
}

#[test]
fn values_are_checked_before_the_dynamic_gas_of_a_store() {
    let code = numbers().setmodx(0, 24, 8, 4).storex(0, 40, 1);
    let good = numbers().setmodx(0, 24, 8, 4).storex(0, 32, 1);
    let needed = eip6690().run_code(&good.0, &[], GAS).gas_used;
    check_with(&eip6690(), &good, needed - 1, Halt::OutOfGas);
    check_with(&eip6690(), &code, needed - 1, Halt::ValueOutOfRange);
    check_with(&eip6690(), &code, needed - 2, Halt::OutOfGas);
}

#[test]
fn a_truncated_immediate_is_an_invalid_instruction_before_anything_else() {
    for opcode in [ADDMODX, SUBMODX, MULMODX] {
        for immediate_bytes in 0..7 {
            let truncated = Code::new().op(opcode).bytes(&[1; 7][..immediate_bytes]);
            for gas in [0, 1, GAS] {
                check_with(&eip6690(), &truncated, gas, Halt::InvalidInstruction);
            }
            let after = modulus_101(0, 10).bytes(&truncated.0);
            check(after, Halt::InvalidInstruction);
        }
        check(modulus_101(0, 10).op(opcode).bytes(&[1; 7]), Halt::Stop);
    }
}

#[test]
fn prefix_and_opcode_are_an_instruction_together_only() {
    let engine = engine(Revision::XExtx);
    let halts = |bytes: &[u8]| {
        for batching in [Batching::Off, Batching::Always] {
            let config = EngineConfig { batching, ..EngineConfig::default_for(Revision::XExtx) };
            // Enough words for any of them, and a STOP at the end.
            let code = Code::new().stack(&[1; 4]).bytes(bytes);
            let outcome = Engine::new(config).unwrap().run_code(&code.0, &[], GAS);
            assert_eq!((outcome.halt, outcome.gas_used), (Halt::InvalidInstruction, GAS), "{bytes:02x?}");
        }
    };
    for row in Revision::XExtx.opcodes() {
        halts(&[row.byte, 1, 1, 1, 1, 1, 1, 1]);
        let halt = if row.pops == 0 { Halt::NoContext } else { Halt::StackUnderflow };
        check_with(&engine, &Code::new().bytes(&[EXTENSION, row.byte]).bytes(&[1; 7]), GAS, halt);
    }
    halts(&[EXTENSION]);
    halts(&[EXTENSION, EXTENSION, ADDMODX, 0, 1, 0, 1, 0, 1, 1]);
    for byte in (0..=u8::MAX).filter(|byte| !(0xc0..=0xc5).contains(byte)) {
        halts(&[EXTENSION, byte, 1, 1, 1, 1, 1, 1, 1]);
    }
    for immediate_bytes in 0..7 {
        halts(&[&[EXTENSION, MULMODX], &[1; 7][..immediate_bytes]].concat());
    }
}

#[test]
fn truncated_pushes_keep_the_rule_of_the_evm() {
    for engine in [eip6690(), evm384()] {
        check_with(&engine, &Code::new().op(0x7f), GAS, Halt::Stop);
        check_with(&engine, &Code::new().op(0x61).op(0xff), GAS, Halt::Stop);
    }
}
