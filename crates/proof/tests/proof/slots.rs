//! The field contexts of `eip6690-2024` and `evmmax-next` in Coq, computed, beside the engine: random codes at the gas that they take, one less and
//! plenty.

use crate::semantics::{compiled, end, library, numbers};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_extent::{cases, seed};
use residue_isa::form::{ISZEROX, LOADPX, SETMODCX, STORECX, STOREPX};
use residue_isa::opcode::evm as op;
use residue_isa::revision::eip6690_2024::{LOADX, SETMODX, STOREX};
use residue_proof::{Semantics, coq};

/// More than any of the codes takes.
const GAS: u64 = 1_000_000;
const LANES: [u8; 3] = [0xc3, 0xc4, 0xc5];
/// Words of memory that each code begins with.
const WORDS: u8 = 12;
/// Bytes of the modulus at address 0.
const SIZES: [u8; 9] = [1, 3, 8, 9, 16, 24, 32, 48, 96];

fn push(code: &mut Vec<u8>, number: u16) {
    code.push(op::PUSH2);
    code.extend(number.to_be_bytes());
}

/// Now and then a number that may be out of range, else the number.
fn bent(rng: &mut ChaCha8Rng, number: u16) -> u16 {
    if rng.random_ratio(1, 40) { rng.random_range(0..400) } else { number }
}

/// Activates a context whose modulus stands at address 0, or from byte 1 of the code on.
fn context(rng: &mut ChaCha8Rng, semantics: Semantics, code: &mut Vec<u8>, size: u8, slots: u8) {
    let id = *[0, 1, 256].choose(rng).unwrap();
    let is_in_code = semantics == Semantics::Next && rng.random_ratio(1, 2);
    for number in [slots.into(), size.into(), is_in_code.into(), id] {
        let number = bent(rng, number);
        push(code, number);
    }
    code.push(if is_in_code { SETMODCX } else { SETMODX });
}

/// A transfer of up to three slots with memory or from code.
fn transfer(rng: &mut ChaCha8Rng, semantics: Semantics, code: &mut Vec<u8>, bytes: u16, slots: u8) {
    let is_next = semantics == Semantics::Next;
    let count = rng.random_range(0..=slots.min(3));
    let first = rng.random_range(0..=slots - count);
    // More bytes than a value has, as many, or now and then fewer.
    let padded = (is_next && rng.random_ratio(1, 3)).then(|| bytes - 1 + *[0, 1, 1, 9, 9, 17].choose(rng).unwrap());
    // Values to store are zeros from the upper half of memory on, or what has been loaded there.
    let address = 192 + padded.unwrap_or(bytes) * rng.random_range(0..2);
    if is_next && rng.random_ratio(1, 4) {
        // A row of memory as it stands in code, after PUSH32.
        // Or what lies outside of it.
        let from = if rng.random_ratio(1, 6) { 0xfff0 } else { 1 + 37 * rng.random_range(6..u16::from(WORDS)) };
        for number in [count.into(), from, first.into()] {
            push(code, number);
        }
        return code.push(STORECX);
    }
    let is_load = rng.random_ratio(1, 2);
    let operands =
        [count.into(), if is_load { first.into() } else { address }, if is_load { address } else { first.into() }];
    for number in operands {
        let number = bent(rng, number);
        push(code, number);
    }
    match padded {
        None => code.push(if is_load { LOADX } else { STOREX }),
        Some(padded) => code.extend([if is_load { LOADPX } else { STOREPX }, u8::try_from(padded).unwrap()]),
    }
}

/// One field instruction, or a few instructions of today's EVM.
fn instruction(rng: &mut ChaCha8Rng, semantics: Semantics, code: &mut Vec<u8>, size: u8, slots: u8) {
    let bytes = u16::from(size.div_ceil(8)) * 8;
    match rng.random_range(0..14) {
        13 if semantics == Semantics::Next => {
            let slot = rng.random_range(0..u16::from(slots));
            code.extend([ISZEROX, u8::try_from(bent(rng, slot).min(255)).unwrap()]);
            push(code, 32 * rng.random_range(6..u16::from(WORDS)));
            code.push(op::MSTORE);
        }
        0 => context(rng, semantics, code, size, slots),
        1..=4 => transfer(rng, semantics, code, bytes, slots),
        5 => {
            let address = rng.random_range(0..1200);
            push(code, address);
            code.extend([op::MLOAD, op::POP]);
        }
        6 => {
            // Bytes of code or calldata, and zeros past their ends; memory grows, beside slots.
            let [size, from, address] = [0..70, 0..200, 0..700].map(|range| rng.random_range(range));
            for number in [size, from, address] {
                push(code, number);
            }
            code.push(*[op::CODECOPY, op::CALLDATACOPY].choose(rng).unwrap());
        }
        7 => {
            // The JUMPDEST is the first immediate byte, or the instruction after all of them.
            let rows = semantics.revision().opcodes().iter().filter(|row| row.immediate_bytes > 0);
            let row = rows.collect::<Vec<_>>().choose(rng).copied().unwrap();
            let mut immediate = vec![0; usize::from(row.immediate_bytes)];
            // Where fewer bytes are skipped the last one is a PUSH1, which has the JUMPDEST after it.
            *immediate.last_mut().unwrap() = op::PUSH1;
            immediate[0] = if immediate.len() > 1 || rng.random_ratio(1, 2) { op::JUMPDEST } else { op::PUSH1 };
            let after = 5 + u16::from(row.immediate_bytes);
            let target = u16::try_from(code.len()).unwrap() + if rng.random_ratio(1, 6) { 5 } else { after };
            push(code, target);
            code.extend([&[op::JUMP, row.byte][..], &immediate, &[op::JUMPDEST]].concat());
        }
        _ => {
            code.push(*LANES.choose(rng).unwrap());
            let count = rng.random_range(1..=slots.min(3));
            for place in 0..3 {
                let stride = rng.random_range(u8::from(place == 0)..=slots / count);
                let room = u16::from(slots).saturating_sub(u16::from(stride) * u16::from(count - 1)).max(1);
                let first = rng.random_range(0..room);
                code.extend(
                    [bent(rng, first), bent(rng, stride.into())].map(|number| u8::try_from(number.min(255)).unwrap()),
                );
            }
            code.push(u8::try_from(bent(rng, count.into()).min(255)).unwrap());
        }
    }
}

/// Random code: memory with a modulus and values, a context, instructions, all slots loaded, and a return of memory.
fn code(rng: &mut ChaCha8Rng, semantics: Semantics) -> Vec<u8> {
    let (mut code, size, slots) = (Vec::new(), *SIZES.choose(rng).unwrap(), rng.random_range(1..9));
    let mut modulus: Vec<u8> = (0..size).map(|_| rng.random()).collect();
    match rng.random_range(0..8) {
        0 => {
            modulus.fill(0);
            modulus[rng.random_range(0..usize::from(size))] = 1 << rng.random_range(0..8);
        }
        1 => {}
        _ => {
            modulus[usize::from(size) - 1] |= 1;
            modulus[0] |= 0x80;
        }
    }
    modulus.resize(usize::from(WORDS) * 32, 0);
    // Numbers below 2⁶³ at the lower end of values.
    let bytes = usize::from(size.div_ceil(8)) * 8;
    for value in 0..(modulus.len() - 192) / bytes {
        let low = 192 + (value + 1) * bytes - usize::from(size).min(7);
        rng.fill(&mut modulus[low..192 + (value + 1) * bytes]);
    }
    for (place, row) in modulus.chunks(32).enumerate() {
        code.push(op::PUSH32);
        code.extend(row);
        push(&mut code, u16::try_from(32 * place).unwrap());
        code.push(op::MSTORE);
    }
    context(rng, semantics, &mut code, size, slots);
    let count = slots.min(u8::try_from((modulus.len() - 192) / bytes).unwrap());
    for number in [count.into(), 192, 0] {
        push(&mut code, number);
    }
    code.push(STOREX);
    for _ in 0..rng.random_range(1..16) {
        instruction(rng, semantics, &mut code, size, slots);
    }
    for number in [count.into(), 0, 192] {
        push(&mut code, number);
    }
    code.push(LOADX);
    push(&mut code, u16::from(WORDS) * 32 + 64 * u16::from(rng.random_ratio(1, 2)));
    code.extend([op::PUSH0, op::RETURN]);
    code
}

/// Codes at edges that random ones seldom meet: for each instruction with immediate bytes a jump to the first of them, which looks like a JUMPDEST,
/// and one to the JUMPDEST after them, which would be the operand of a PUSH1 if the last one were code; values in code that end with it, and
/// a byte later. Each with what is expected: that it returns, or halts.
fn edges(semantics: Semantics) -> Vec<(Vec<u8>, bool)> {
    const RETURN: [u8; 4] = [op::PUSH1, 32, op::PUSH0, op::RETURN];
    let mut codes = Vec::new();
    for row in semantics.revision().opcodes().iter().filter(|row| row.immediate_bytes > 0) {
        let mut immediate = vec![0; usize::from(row.immediate_bytes)];
        immediate[0] = op::JUMPDEST;
        *immediate.last_mut().unwrap() = op::PUSH1;
        for (target, returns) in [(5, false), (5 + immediate.len(), true)] {
            let mut code = vec![];
            push(&mut code, target.try_into().unwrap());
            code.extend([&[op::JUMP, row.byte][..], &immediate, &[op::JUMPDEST], &RETURN].concat());
            codes.push((code, returns));
        }
    }
    let rows = if semantics == Semantics::Next { &[(SETMODCX, 1, 32), (STORECX, 2, 64)][..] } else { &[] };
    for (&(changed, count, bytes), later) in rows.iter().flat_map(|row| [(row, 0), (row, 1)]) {
        // Two values below the modulus before them, and a power of two, which a zero past the end of the code makes a greater one.
        let mut code = vec![op::PUSH0, op::MLOAD, op::POP];
        let mut data = [[0xffu8; 32], [0x11; 32], [0; 32]];
        data[2][5] = 1;
        let instructions = code.len() + (4 * 3 + 1) + 2 * (3 * 3 + 1) + RETURN.len();
        let start = |from: usize| u16::try_from(instructions + 32 * from).unwrap();
        let context_at = if changed == SETMODCX { start(2) + later } else { start(0) };
        [2, 32, context_at, 1].into_iter().for_each(|number| push(&mut code, number));
        code.push(SETMODCX);
        let values_at = if changed == STORECX { start(1) + later } else { start(0) };
        let values = if changed == STORECX { count } else { 0 };
        [values, values_at, 0].into_iter().for_each(|number| push(&mut code, number));
        code.push(STORECX);
        // Slot 1 to memory.
        [1, 1, 0].into_iter().for_each(|number| push(&mut code, number));
        code.push(LOADX);
        code.extend(RETURN);
        assert_eq!(code.len(), instructions);
        code.extend(data.as_flattened());
        assert_eq!(
            usize::from(if changed == SETMODCX { context_at } else { values_at }) + bytes,
            code.len() + usize::from(later)
        );
        codes.push((code, later == 0));
    }
    codes
}

fn engine(semantics: Semantics) -> Engine {
    Engine::new(EngineConfig::default_for(semantics.revision())).unwrap()
}

/// Always the same codes: with few of them, or with other seeds, the share is a matter of chance.
#[test]
fn of_the_random_codes_some_return_and_some_halt() {
    const CODES: usize = 400;
    for semantics in [Semantics::Slots, Semantics::Next] {
        let engine = engine(semantics);
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let returns = |code: Vec<u8>| engine.run_code(&code, &[], GAS).halt == Halt::Return;
        let returned = (0..CODES).filter(|_| returns(code(&mut rng, semantics))).count();
        println!("{}: {returned} of {CODES} codes return", semantics.revision());
        assert!(returned * 4 > CODES && returned * 4 < CODES * 3, "{returned} of {CODES} codes return");
    }
}

/// Cases of runs: code, calldata, the gas that is taken, and the end that the engine says.
fn runs(semantics: Semantics) -> Vec<String> {
    let engine = engine(semantics);
    let mut rng = ChaCha8Rng::seed_from_u64(seed());
    let (mut terms, mut returned) = (Vec::new(), 0);
    let edges = edges(semantics).into_iter().map(|(code, returns)| (code, Some(returns)));
    let random = (0..cases(40)).map(|_| (code(&mut rng, semantics), None)).collect::<Vec<_>>();
    for (code, returns) in edges.chain(random) {
        let mut calldata = vec![0; rng.random_range(0..100)];
        rng.fill(&mut calldata[..]);
        let [plenty, exact, less] = {
            let taken = engine.run_code(&code, &calldata, GAS).gas_used;
            [GAS, taken, taken - 1].map(|gas| (gas, engine.run_code(&code, &calldata, gas)))
        };
        let found = match plenty.1.halt {
            Halt::Return => Some(&plenty.1.output[..]),
            halt if halt.is_exceptional() => None,
            halt => panic!("{halt:?}: {}", hex::encode(&code)),
        };
        // What Coq is to say at the gas that is taken, and at one less.
        assert_eq!((exact.1.halt, less.1.halt.is_exceptional()), (plenty.1.halt, true), "{}", hex::encode(&code));
        assert!(returns.is_none_or(|returns| returns == found.is_some()), "{}", hex::encode(&code));
        returned += usize::from(found.is_some());
        terms.push(format!("({}, {}, {}, {})", coq::bytes(&code), coq::bytes(&calldata), exact.0, end(found)));
    }
    let revision = semantics.revision();
    println!("{revision}: {} codes at three amounts of gas, of which {returned} return", terms.len());
    terms
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn coq_computes_what_the_engine_does_with_slots() {
    let Some(folder) = library("slots", &["Evm", "Program", "Slots"]) else { return };
    for semantics in [Semantics::Slots, Semantics::Next] {
        let source = format!(
            "From Coq Require Import ZArith List.\nFrom Residue Require Import Evm Program Run Slots.\nImport ListNotations.\nOpen Scope Z_scope.\nOpen Scope bool_scope.\n\
             Definition agrees (c : list Z * list Z * Z * option (list Z)) : bool :=\n\
             let '(code, cd, gas, expected) := c in\n\
             let run g := frun_for {} 4096 code cd (start g) none in\n\
             ends (run {GAS}) expected && ends (run gas) expected && ends (run (gas - 1)) None.\n\
             Definition runs : list (list Z * list Z * Z * option (list Z)) :=\n [{}].\n\
             Eval vm_compute in differing agrees 0 runs.\n",
            semantics == Semantics::Next,
            runs(semantics).join(";\n ")
        );
        let file = format!("Cases_{semantics:?}");
        let said = compiled(&folder, &file, &source);
        assert_eq!(numbers(&said), "[]", "cases that differ, by number, in {}/{file}.v", folder.display());
    }
}
