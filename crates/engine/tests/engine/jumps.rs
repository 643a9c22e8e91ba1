//! Jump targets: immediates of field instructions neither hold nor hide them.

use crate::code::{Code, eip6690, engine, evm384};
use residue_engine::{Halt, World};
use residue_isa::Revision;
use residue_isa::revision::eip6690_2024::MULMODX;
use residue_isa::revision::experiments::EXTENSION;

/// Jumps over `hidden`, a field instruction with its immediate, to `target`, where a JUMPDEST and RETURN stand.
fn jump(target: u64, hidden: &[u8]) -> Code {
    let code = Code::new().push(target).op(0x56).bytes(hidden);
    code.op(0x5b).mstore(0, 1).ret(0, 32)
}

#[test]
fn a_jumpdest_inside_an_immediate_is_no_target() {
    let hidden = [MULMODX, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b];
    for target in 4..11 {
        let outcome = eip6690().run_code(&jump(target, &hidden).0, &[], 10_000);
        assert_eq!(outcome.halt, Halt::InvalidJump, "{target}");
    }
    assert_eq!(eip6690().run_code(&jump(11, &hidden).0, &[], 10_000).halt, Halt::Return);
}

#[test]
fn nothing_after_a_prefix_is_a_target() {
    let engine = engine(Revision::XExtx);
    let hidden = [EXTENSION, MULMODX, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b];
    for target in 4..12 {
        let outcome = engine.run_code(&jump(target, &hidden).0, &[], 10_000);
        assert_eq!(outcome.halt, Halt::InvalidJump, "{target}");
    }
    assert_eq!(engine.run_code(&jump(12, &hidden).0, &[], 10_000).halt, Halt::Return);
    // The byte after the prefix is skipped, whatever it is; an opcode without the prefix skips nothing.
    let ends = |target: u64, hidden: &[u8]| engine.run_code(&jump(target, hidden).0, &[], 10_000).halt;
    assert_eq!(ends(4, &[EXTENSION, 0x5b]), Halt::InvalidJump);
    assert_eq!(ends(5, &[EXTENSION, 0x60]), Halt::Return);
    assert_eq!(ends(4, &[MULMODX, 0x5b]), Halt::Return);
}

#[test]
fn a_push_inside_an_immediate_hides_no_target() {
    let hidden = [MULMODX, 0, 0, 0, 0, 0, 0, 0x7f];
    assert_eq!(eip6690().run_code(&jump(11, &hidden).0, &[], 10_000).halt, Halt::Return);
}

#[test]
fn a_jumpdest_after_an_opcode_without_immediate_is_a_target() {
    assert_eq!(evm384().run_code(&jump(4, &[0xc2, 0x5b]).0, &[], 10_000).halt, Halt::Return);
    assert_eq!(eip6690().run_code(&jump(4, &[0xc2, 0x5b]).0, &[], 10_000).halt, Halt::Return);
}

#[test]
fn a_field_opcode_inside_a_push_has_no_immediate() {
    for revision in Revision::ALL {
        let code = Code::new().push(u64::from(MULMODX)).op(0x50).push(5).op(0x56).op(0x5b).ret(0, 0);
        assert_eq!(code.0[5], 0x56);
        let code = Code::new().push(u64::from(MULMODX)).push(5).op(0x56).op(0x5b).ret(0, 0);
        assert_eq!(engine(*revision).run_code(&code.0, &[], 10_000).halt, Halt::Return);
    }
}

#[test]
fn loaded_and_created_code_is_analysed_for_the_revision_too() {
    let hidden = [MULMODX, 0x5b, 0, 0, 0, 0, 0, 0x7f];
    let [good, bad] = [jump(11, &hidden), jump(4, &hidden)];
    for (callee, success) in [(good, 1), (bad, 0)] {
        let mut world = World::new(&eip6690());
        world.install([2; 20], &callee.0, 0);
        let called = Code::new().call(0xf1, 100_000, [2; 20], 0);
        // Init code that is the callee itself: it ends well, with one word of code, or not at all.
        let size = callee.0.len() as u64;
        let created = Code::new().store(0, &callee.0).stack(&[0, 0, size]).op(0xf0).op(0x15).op(0x15);
        for caller in [called, created] {
            world.install([1; 20], &caller.push(0).op(0x52).ret(0, 32).0, 0);
            let outcome = world.call([1; 20], &[], 1_000_000);
            assert_eq!(outcome.halt, Halt::Return);
            assert_eq!(outcome.output[31], success);
        }
    }
}
