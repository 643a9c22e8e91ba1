//! Calls of every kind: a callee starts without field contexts, a caller finds its own as it left them.

use crate::code::{Code, eip6690, evm384, modulus_101};
use residue_engine::{Engine, Halt, Outcome, World};
use residue_isa::revision::eip6690_2024::{ADDMODX, MULMODX, SETMODX};
use residue_isa::revision::evm384_v7::ADDMOD384;

const OUTER: [u8; 20] = [0x11; 20];
const INNER: [u8; 20] = [0x22; 20];
const GAS: u64 = 5_000_000;
/// CALL, CALLCODE, DELEGATECALL, STATICCALL.
const CALLS: [u8; 4] = [0xf1, 0xf2, 0xf4, 0xfa];

/// Runs `outer` with `inner` installed, untraced and traced.
#[track_caller]
fn run(engine: &Engine, outer: &Code, inner: &Code) -> Outcome {
    let mut world = World::new(engine);
    world.install(OUTER, &outer.0, 1_000_000);
    world.install(INNER, &inner.0, 0);
    let outcome = world.call(OUTER, &[], GAS);
    let mut traced = World::new(engine);
    traced.install(OUTER, &outer.0, 1_000_000);
    traced.install(INNER, &inner.0, 0);
    let mut counts = residue_engine::Counts::new(engine.config().revision);
    assert_eq!(traced.call_traced(OUTER, &[], GAS, &mut counts), outcome);
    outcome
}

fn words(outcome: &Outcome) -> Vec<u64> {
    assert_eq!(outcome.halt, Halt::Return);
    outcome.output.chunks(32).map(|word| u64::from_be_bytes(word[24..].try_into().unwrap())).collect()
}

/// Sets modulus 101 with 77 and 55 in slots 0 and 1, does `between`, which leaves a word on the stack, then returns the
/// word and the product of the slots.
fn caller(between: impl FnOnce(Code) -> Code) -> Code {
    let code = modulus_101(3, 4).mstore(0, 77).storex(0, 24, 1).mstore(0, 55).storex(1, 24, 1);
    let code = between(code).push(32).op(0x52);
    code.one(MULMODX, 2, 0, 1).mstore(64, 0).loadx(88, 2, 1).ret(32, 64)
}

#[test]
fn a_callee_has_no_context_and_the_caller_keeps_its_own() {
    for call in CALLS {
        for (inner, success) in [
            (Code::new().one(ADDMODX, 0, 0, 0), 0),
            (Code::new().loadx(0, 0, 0), 0),
            (Code::new().op(0x00), 1),
            // A context of its own under the same id: 9 · 9 mod 23 at slot 0.
            (
                Code::new()
                    .mstore(0, 23)
                    .setmodx(3, 24, 8, 200)
                    .mstore(0, 9)
                    .storex(0, 24, 1)
                    .one(MULMODX, 0, 0, 0)
                    .loadx(24, 0, 1)
                    .ret(0, 32),
                1,
            ),
            (Code::new().mstore(0, 23).setmodx(3, 24, 8, 200).stack(&[0, 32]).op(0xfd), 0),
            (Code::new().mstore(0, 23).setmodx(3, 24, 8, 200).op(0xfe), 0),
        ] {
            let outer = caller(|code| code.call(call, 100_000, INNER, 0));
            assert_eq!(words(&run(&eip6690(), &outer, &inner)), [success, 77 * 55 % 101], "{call:#04x}");
        }
    }
}

#[test]
fn the_result_of_a_callees_context_arrives() {
    let inner = Code::new().mstore(0, 23).setmodx(3, 24, 8, 2).mstore(0, 9).storex(0, 24, 1).one(MULMODX, 0, 0, 0);
    let inner = inner.loadx(24, 0, 1).ret(0, 32);
    for call in CALLS {
        let outer = caller(|code| code.call(call, 100_000, INNER, 32).op(0x50).push(0).op(0x51));
        assert_eq!(words(&run(&eip6690(), &outer, &inner)), [81 % 23, 77 * 55 % 101]);
    }
}

#[test]
fn a_callee_starts_with_fresh_zero_slots_each_time() {
    // Returns slot 0 as it finds it after setting the modulus, then writes to it.
    let inner =
        Code::new().mstore(0, 23).setmodx(0, 24, 8, 1).mstore(32, 9).loadx(24, 0, 1).storex(0, 56, 1).ret(0, 32);
    let twice = |code: Code| {
        let first = code.call(0xf1, 100_000, INNER, 32).op(0x50).push(0).op(0x51);
        first.call(0xf1, 100_000, INNER, 32).op(0x50).push(0).op(0x51).op(0x01)
    };
    assert_eq!(words(&run(&eip6690(), &caller(twice), &inner)), [0, 77 * 55 % 101]);
}

#[test]
fn creation_has_a_context_of_its_own() {
    // Init code that needs a context it does not have; init code that makes one and deploys a word of code computed with it.
    let fails = Code::new().one(ADDMODX, 0, 0, 0);
    let deploys = Code::new().mstore(0, 23).setmodx(3, 24, 8, 2).mstore(0, 9).storex(0, 24, 1).one(MULMODX, 0, 0, 0);
    let deploys = deploys.loadx(24, 0, 1).ret(31, 1);
    for create in [0xf0, 0xf5] {
        for (init, expected) in [(&fails, 0), (&deploys, 1)] {
            let size = init.0.len() as u64;
            let outer = caller(|code| {
                let code = code.store(128, &init.0).stack(&[0, 128, size, 5]).op(create);
                code.op(0x3b) // The size of the code at the new address; of address 0 if there is none.
            });
            assert_eq!(words(&run(&eip6690(), &outer, &Code::new())), [expected, 77 * 55 % 101], "{create:#04x}");
        }
    }
}

#[test]
fn recursion_keeps_every_level_apart() {
    // f(n): sets modulus 101 in id n, stores n, calls f(n − 1) for n > 0 and returns result + slot, so the sum of 0..=n.
    let set = Code::new().mstore(0, 101).push(2).push(8).push(24).push(0).op(0x35).op(SETMODX);
    let store = set.push(0).op(0x35).push(0).op(0x52).storex(0, 24, 1).mstore(32, 0);
    // Skips the call if n is 0.
    let head = store.push(0).op(0x35).op(0x15);
    let call = Code::new()
        .push(1)
        .push(0)
        .op(0x35)
        .op(0x03)
        .push(64)
        .op(0x52) // memory[64] = n − 1
        .stack(&[64, 32, 32, 32])
        .push(0)
        .op(0x30)
        .op(0x5a)
        .op(0xf1)
        .op(0x50);
    let tail = |code: Code| {
        let sum = code.op(0x5b).mstore(64, 0).storex(1, 56, 1).one(ADDMODX, 1, 0, 1);
        sum.loadx(88, 1, 1).ret(64, 32)
    };
    let target = head.0.len() + 3 + call.0.len();
    let code = head.op(0x60).op(u8::try_from(target).unwrap()).op(0x57).bytes(&call.0);
    assert_eq!(code.0.len(), target);
    let code = tail(code);
    for n in [0_u64, 1, 2, 13] {
        let mut world = World::new(&eip6690());
        world.install(OUTER, &code.0, 0);
        let mut input = [0; 32];
        input[24..].copy_from_slice(&n.to_be_bytes());
        let outcome = world.call(OUTER, &input, GAS);
        assert_eq!(outcome.halt, Halt::Return);
        assert_eq!(outcome.output[31], u8::try_from(n * (n + 1) / 2 % 101).unwrap(), "{n}");
    }
}

#[test]
fn memory_operands_are_those_of_the_frame() {
    // The caller's memory holds ones where the callee's is empty: 0 + 0 mod 0 = 0 in the callee.
    let inner = Code::new().v7(ADDMOD384, 96, 0, 0, 200).ret(96, 32);
    for call in CALLS {
        let outer =
            Code::new().mstore(0, u64::MAX).mstore(32, u64::MAX).call(call, 100_000, INNER, 32).op(0x50).ret(0, 64);
        let outcome = run(&evm384(), &outer, &inner);
        assert_eq!(words(&outcome), [0, u64::MAX]);
    }
}

#[test]
fn precompiles_stay_available() {
    let outer = |address: u8| {
        let mut to = [0; 20];
        to[19] = address;
        Code::new()
            .mstore(0, 7)
            .push(32)
            .push(32)
            .push(32)
            .push(0)
            .op(0x73)
            .bytes(&to)
            .push(1_000_000)
            .op(0xfa)
            .push(64)
    };
    // Identity, and the BLS12-381 pairing check, which refuses 32 bytes.
    for (address, success) in [(4, 1), (0x0f, 0)] {
        let code = outer(address).op(0x52).ret(32, 64);
        let outcome = run(&eip6690(), &code, &Code::new());
        let [copied, called] = words(&outcome)[..] else { panic!("two words") };
        assert_eq!(called, success);
        assert_eq!(copied, 7 * success);
    }
}

#[test]
fn an_error_in_the_middle_does_not_reach_the_next_call() {
    let mut world = World::new(&eip6690());
    let inner = Code::new().mstore(0, 23).setmodx(0, 24, 8, 2).op(0xfe);
    world.install(INNER, &inner.0, 0);
    world.install(OUTER, &modulus_101(0, 2).call(0xf1, 50_000, INNER, 0).op(0xfe).0, 0);
    assert_eq!(world.call(OUTER, &[], GAS).halt, Halt::InvalidInstruction);
    world.install(OUTER, &Code::new().one(ADDMODX, 0, 0, 0).0, 0);
    assert_eq!(world.call(OUTER, &[], GAS).halt, Halt::NoContext);
}

/// A callee runs out of gas at a push; its caller's operand is the 0 that the call left, which no push carries.
#[test]
fn pushes_of_a_callee_that_halted_are_no_operands_of_its_caller() {
    let inner = (0..8).fold(Code::new(), |code, _| code.push(1));
    let outer = Code::new().call(0xf1, 10, INNER, 0).op(ADDMOD384);
    let mut world = World::new(&evm384());
    world.install(OUTER, &outer.0, 0);
    world.install(INNER, &inner.0, 0);
    let mut counts = residue_engine::Counts::new(residue_isa::Revision::Evm384V7);
    let outcome = world.call_traced(OUTER, &[], GAS, &mut counts);
    assert_eq!(outcome.halt, Halt::Stop);
    assert!(counts.of(0x60) > 4, "the callee has pushed");
    let split = counts.gas_split(outcome.gas_used);
    assert_eq!((split.arithmetic, split.total()), (8, outcome.gas_used), "one addition under evmone's prices");
}
