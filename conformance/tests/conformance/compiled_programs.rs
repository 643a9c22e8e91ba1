//! Whole compiled programs on the engine end as the evaluator says: copies between blocks, calls and loops are judged here,
//! which the compiler's own checker does not see.
//!
//! `RESIDUE_CASES=10000 cargo test --release -p residue-conformance compiled_programs` is a longer campaign.

use num_bigint::BigUint;
use residue_compiler::{CompileError, Compiled, Deployment, Dialect, SmallMultiples, TooFewSlots, compile, compile_as};
use residue_conformance::campaign::Campaign;
use residue_conformance::programs::{
    calldata, high_program, program, program_of_scratch, program_of_sequences, program_with, wild_program,
};
use residue_engine::{Engine, EngineConfig, Fork, Halt, Step, Tracer, View};
use residue_ir::program::Rewritten;
use residue_ir::{
    Effect, LaneStep, Length, Machine, Modulus, NoOutcome, Outcome, Program, Statement, WordOp, evaluate,
    evaluate_within, mont, record, text, verify,
};
use residue_isa::assembly::AssembleError;
use residue_isa::form::{EQX, LTX, SELECTX};
use residue_isa::{Family, GasSchedule, Revision};
use ruint::aliases::U256;
use std::num::NonZeroU64;

/// The forks that programs are compiled for, one after the other: most are for the latest.
const FORKS: [Fork; 7] =
    [Fork::Osaka, Fork::Osaka, Fork::Byzantium, Fork::Osaka, Fork::London, Fork::Osaka, Fork::Shanghai];
/// More than any of these programs takes.
const GAS: u64 = 1_000_000_000;

fn hex(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).unwrap()
}

/// BLS12-381's base field.
fn bls12_381() -> BigUint {
    hex("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab")
}

/// BN254's base field.
fn bn254() -> BigUint {
    hex("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47")
}

fn two_to(bits: u32) -> BigUint {
    BigUint::from(1u8) << bits
}

fn compiled(program: &Program, revision: Revision) -> Result<Compiled, CompileError> {
    compile(program, revision, &GasSchedule::default_for(revision).unwrap())
}

/// True if a revision has a few hundred slots only.
fn is_narrow(revision: Revision) -> bool {
    revision.evm384().is_none_or(|evm384| evm384.operand_max == 255)
}

/// Counts for a revision: programs compiled, programs refused, and runs by their end.
#[derive(Debug, Default)]
struct Tally {
    compiled: u64,
    refused: u64,
    returned: u64,
    failed: u64,
    ended: u64,
    /// Runs without an outcome, which are not made.
    none: u64,
}

/// The most words that a run has on the stack.
#[derive(Debug, Default)]
struct Height {
    words: usize,
}

impl Tracer for Height {
    fn after(&mut self, _: &Step, view: &View<'_>) {
        self.words = self.words.max(view.stack_height());
    }
}

/// Compiles and runs `program` on several inputs. What the compiler says of the stack is held to one run.
fn check(program: &Program, revision: Revision, seed: u64, tally: &mut Tally) {
    let fork = FORKS[usize::try_from(seed % FORKS.len() as u64).unwrap()]; // usize to u64 widens
    let schedule = GasSchedule::default_for(revision).unwrap();
    let compiled = match compile_as(program, revision, &schedule, SmallMultiples::AsWritten, dialect(fork, seed)) {
        Ok(compiled) => compiled,
        // Parts of a sequence can be chosen in the first 64 KiB.
        Err(
            CompileError::Stack { .. }
            | CompileError::Height { .. }
            | CompileError::Far { .. }
            | CompileError::Assemble(AssembleError::Distance { .. }),
        ) => {
            tally.refused += 1;
            return;
        }
        Err(CompileError::Fork { opcode: "CLZ", .. }) if fork < Fork::Osaka => return,
        Err(error) => panic!("seed {seed}, {revision}: {error}\n{}", text::print(program)),
    };
    let config = EngineConfig { fork, ..EngineConfig::default_for(revision) };
    let engine = Engine::new(config).unwrap();
    let mut prepared = engine.prepare(&compiled.code);
    tally.compiled += 1;
    for input in (0..4).map(|number| calldata(4 * seed + number)) {
        let Ok(expected) = evaluate_within(program, &input, u64::MAX) else {
            tally.none += 1;
            continue;
        };
        if input == calldata(4 * seed) {
            let mut height = Height::default();
            engine.run_traced(&compiled.code, &input, GAS, &mut height);
            let (words, known) = (height.words, compiled.stack_words);
            assert!(words <= known, "seed {seed}, {revision}: {words} words, {known} known\n{}", text::print(program));
        }
        let found = prepared.run(&input, GAS);
        assert_ne!(found.halt, Halt::OutOfGas, "seed {seed}, {revision}");
        let agrees = match &expected {
            Outcome::Returned(bytes) => found.halt == Halt::Return && found.output == *bytes,
            Outcome::Failed => found.halt.is_exceptional(),
            Outcome::Ended => found.halt == Halt::Stop && found.output.is_empty(),
        };
        assert!(
            agrees,
            "seed {seed}, {revision}, {fork}, input {input:02x?}: evaluator {expected:02x?}, engine {:?} {:02x?}\n{}",
            found.halt,
            found.output,
            text::print(program)
        );
        *match expected {
            Outcome::Returned(_) => &mut tally.returned,
            Outcome::Failed => &mut tally.failed,
            Outcome::Ended => &mut tally.ended,
        } += 1;
    }
}

/// Portable code for every third seed, and short code for every fourth: a byte is worth as much gas as it takes to deploy it.
fn dialect(fork: Fork, seed: u64) -> Dialect {
    let is_short = seed % 4 == 1;
    let deployment = is_short.then_some(Deployment { gas_a_byte: 1_530, calls: NonZeroU64::MIN });
    let length = if is_short { Length::Short } else { Length::Full };
    Dialect { fork, portable: seed.is_multiple_of(3), precompiles: false, deployment, length }
}

/// The revisions that have a modulus.
fn having(modulus: &BigUint) -> Vec<Revision> {
    let program = program(modulus, 0);
    let has = |&revision: &Revision| !compiled(&program, revision).is_err_and(|error| error.is_inexpressible());
    Revision::every().filter(has).collect()
}

/// A campaign over one modulus, for the revisions that have it.
#[track_caller]
fn campaign(modulus: &BigUint) {
    let Campaign { cases, seed } = Campaign::part(10);
    let mut tally = Tally::default();
    let revisions = having(modulus);
    for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
        let program = program(modulus, seed);
        verify(&program).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", text::print(&program)));
        assert_eq!(text::parse(&text::print(&program)).unwrap(), program, "seed {seed}");
        for &revision in Campaign::some_of(&revisions, seed) {
            check(&program, revision, seed, &mut tally);
        }
    }
    println!("{modulus:#x}: {tally:?}");
    assert_eq!(tally.none, 0, "{tally:?}");
    assert!(tally.returned > cases && tally.failed > 0 && tally.ended > 0, "{tally:?}");
    // Counts that are kept make some functions keep more words than DUP reaches.
    assert!(tally.refused * 8 < tally.compiled, "{tally:?}");
}

/// That the campaigns judge choices without a jump, and comparisons of slots: programs have some, in code that is run there.
#[test]
fn random_programs_choose_between_slots_and_compare_them() {
    let has = |revision: Revision, opcode: u8, seed: u64| {
        // One that is too long is refused.
        let Ok(Compiled { code, .. }) = compiled(&program(&bls12_381(), seed), revision) else {
            return false;
        };
        let mut pc = 0;
        while pc < code.len() && revision.opcode_at(&code[pc..]) != opcode {
            pc += revision.bytes_at(&code[pc..]);
        }
        pc < code.len()
    };
    for (revision, opcode) in [(Revision::XSelectx, SELECTX), (Revision::XCmpx, EQX), (Revision::XCmpx, LTX)] {
        let count = (0..100).filter(|&seed| has(revision, opcode, seed)).count();
        assert!(count >= 10, "{revision} {opcode:#x}: {count} of 100");
    }
}

/// Permutations of a state of Keccak and words of lanes, in loops, arms and functions, among hashes of scratch memory and copies within it.
#[test]
fn programs_of_permutations_and_words_of_lanes() {
    let Campaign { cases, seed } = Campaign::part(8);
    let moduli = [bls12_381(), BigUint::from(97u8)];
    let revisions = moduli.each_ref().map(having);
    let mut tally = Tally::default();
    for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
        let field = usize::try_from(seed % moduli.len() as u64).unwrap(); // usize to u64 widens
        let program = program_of_scratch(&moduli[field], seed);
        verify(&program).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", text::print(&program)));
        assert_eq!(text::parse(&text::print(&program)).unwrap(), program, "seed {seed}");
        check(&program, Revision::Evm, seed, &mut tally);
        for &revision in Campaign::some_of(&revisions[field], seed / 4).take(2) {
            check(&program, revision, seed, &mut tally);
        }
    }
    println!("permutations and words of lanes: {tally:?}");
    assert!(tally.returned > cases && tally.failed > 0 && tally.compiled > 8 * tally.refused, "{tally:?}");
}

/// A change of effects: true if it is one that is changed.
type Change = fn(&mut Effect) -> bool;

/// Changes the number of a step of lanes that `at` finds.
fn of_lanes(effect: &mut Effect, at: fn(&mut LaneStep, u32) -> bool) -> bool {
    let Effect::Lanes { lanes } = effect else { return false };
    let modulus = lanes.modulus;
    lanes.steps.iter_mut().filter_map(|step| at(step, modulus).then_some(())).count() > 0
}

/// Changes to all permutations, or to all steps of a kind, by which a program is another one.
const CHANGES: [(&str, Change); 7] = [
    ("keccak_f", |effect| {
        let is_one = matches!(effect, Effect::KeccakF { .. });
        if is_one {
            *effect = Effect::CopyScratch { offset: 0, from: 0, size_bytes: 0 };
        }
        is_one
    }),
    ("take", |effect| {
        of_lanes(effect, |step, _| {
            let LaneStep::Take { from, .. } = step else { return false };
            from.iter_mut().for_each(|from| *from ^= 8);
            true
        })
    }),
    ("read", |effect| {
        of_lanes(effect, |step, _| {
            let LaneStep::Read { bits, .. } = step else { return false };
            *bits = bits.div_ceil(2);
            true
        })
    }),
    ("butterfly", |effect| {
        of_lanes(effect, |step, modulus| {
            let LaneStep::Butterfly { by, .. } = step else { return false };
            *by = (*by + 1) % modulus;
            true
        })
    }),
    ("back", |effect| {
        of_lanes(effect, |step, modulus| {
            let LaneStep::Back { by, .. } = step else { return false };
            *by = (*by + 1) % modulus;
            true
        })
    }),
    ("multiply", |effect| {
        of_lanes(effect, |step, modulus| {
            let LaneStep::Multiply { root, .. } = step else { return false };
            *root = (*root + 1) % modulus;
            true
        })
    }),
    ("put", |effect| {
        of_lanes(effect, |step, modulus| {
            let LaneStep::Put { rows, .. } = step else { return false };
            rows[0][0] = (rows[0][0] + 1) % modulus;
            true
        })
    }),
];

/// The program with its effects changed; none if no effect is.
fn changed(program: &Program, change: impl Fn(&mut Effect) -> bool) -> Option<Program> {
    let mut changed = program.clone();
    let mut is_changed = false;
    for function in &mut changed.functions {
        function.body.rewrite(&mut |statement| {
            if let Statement::Effect(effect) = statement {
                is_changed |= change(effect);
            }
            Rewritten::Kept
        });
    }
    is_changed.then_some(changed)
}

/// That the campaigns judge permutations and words of lanes: outcomes of programs depend on each kind of step, and not on the numbers that a
/// transform may leave in any of several forms.
#[test]
fn outcomes_depend_on_permutations_and_words_of_lanes() {
    let modulus = bls12_381();
    let mut seen = [(0, 0); CHANGES.len()];
    let mut unsettled = 0;
    for seed in 0..200 {
        let program = program_of_scratch(&modulus, seed);
        let inputs: Vec<Vec<u8>> = (0..4).map(|number| calldata(4 * seed + number)).collect();
        let outcomes = |program: &Program| -> Vec<_> {
            inputs.iter().map(|input| evaluate_within(program, input, u64::MAX).unwrap()).collect()
        };
        let expected = outcomes(&program);
        for ((_, change), (count, found)) in CHANGES.iter().zip(&mut seen) {
            let Some(other) = changed(&program, change) else { continue };
            *count += 1;
            *found += usize::from(outcomes(&other) != expected);
        }
        let reduced = changed(&program, |effect| {
            of_lanes(effect, |step, _| match step {
                LaneStep::Leave { times, .. } if *times > 1 => {
                    *times -= 1;
                    true
                }
                _ => false,
            })
        });
        if let Some(reduced) = reduced {
            unsettled += 1;
            assert!(outcomes(&reduced) == expected, "seed {seed}\n{}", text::print(&program));
        }
    }
    for ((name, _), (count, found)) in CHANGES.iter().zip(seen) {
        assert!(found >= 8, "{name}: {found} of {count} programs");
    }
    assert!(unsettled >= 50, "{unsettled} programs leave numbers open");
}

/// A campaign over several moduli, one of them given at run time, for the revisions that have them.
#[test]
fn programs_with_subprograms() {
    let Campaign { cases, seed } = Campaign::part(10);
    let known = |modulus: BigUint| Modulus::Known(modulus);
    let given = |limbs| Modulus::Given { limbs };
    let cases_of = [
        (bn254(), vec![known(hex("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"))]),
        (bls12_381(), vec![known(two_to(61) - 1u8), given(4)]),
        (bn254(), vec![given(1), known(bls12_381()), given(6)]),
    ];
    let mut tally = Tally::default();
    for (modulus, inner) in cases_of {
        let has = |&revision: &Revision| compiled(&program_with(&modulus, &inner, 0), revision).is_ok();
        let revisions: Vec<Revision> = having(&modulus).into_iter().filter(has).collect();
        assert!(revisions.len() >= 3, "{revisions:?}");
        for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
            let program = program_with(&modulus, &inner, seed);
            verify(&program).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", text::print(&program)));
            assert_eq!(text::parse(&text::print(&program)).unwrap(), program, "seed {seed}");
            for &revision in Campaign::some_of(&revisions, seed) {
                check(&program, revision, seed, &mut tally);
            }
        }
    }
    println!("with subprograms: {tally:?}");
    assert!(tally.returned > cases && tally.failed > 0 && tally.ended > 0, "{tally:?}");
}

/// Sequences of arithmetic, whose state may stay on the stack on the EVM by itself.
#[test]
fn sequences_of_arithmetic() {
    let Campaign { cases, seed } = Campaign::whole();
    let short = [3u32, 97, 65_537].map(BigUint::from);
    let wide = [two_to(127) - 1u8, bn254(), two_to(255) - 19u8, two_to(256) - 189u8];
    let moduli = [&short[..], &wide].concat();
    let mut tally = Tally::default();
    for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
        let modulus = &moduli[usize::try_from(seed % moduli.len() as u64).unwrap()]; // usize to u64 widens
        let program = program_of_sequences(modulus, seed);
        verify(&program).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", text::print(&program)));
        for revision in [Revision::Evm, Revision::Eip6690_2024] {
            check(&program, revision, seed, &mut tally);
        }
    }
    println!("sequences: {tally:?}");
    assert!(tally.returned > cases && tally.compiled > tally.refused, "{tally:?}");
}

/// Fields whose values are several words on the EVM by itself: the least and the greatest width of each residue system, fields in use and composites, with
/// and without a subprogram over a field of another kind.
#[test]
fn programs_over_wide_fields() {
    let Campaign { cases, seed } = Campaign::part(6);
    let p384 = two_to(384) - two_to(128) - two_to(96) + two_to(32) - 1u8;
    let ends = [two_to(256) + 1u8, two_to(390) - 105u8, two_to(390) + 7u8, two_to(430) - 105u8];
    let moduli = [&[bls12_381(), p384][..], &ends].concat();
    let mut tally = Tally::default();
    for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
        let modulus = &moduli[usize::try_from(seed % moduli.len() as u64).unwrap()]; // usize to u64 widens
        let program = match seed % 5 {
            0 => program_with(modulus, &[Modulus::Known(bn254()), Modulus::Given { limbs: 4 }], seed),
            1 => program_with(&bn254(), &[Modulus::Known(modulus.clone())], seed),
            2 => program_of_sequences(modulus, seed),
            _ => program(modulus, seed),
        };
        verify(&program).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", text::print(&program)));
        check(&program, [Revision::Evm, Revision::EvmCallsub][usize::from(seed % 3 == 0)], seed, &mut tally);
    }
    println!("wide fields: {tally:?}");
    assert!(tally.returned > cases && tally.compiled > 4 * tally.refused, "{tally:?}");
}

/// Stacks near their end: code that ends as it should, or a refusal with the number of words.
#[test]
fn programs_with_high_stacks() {
    let Campaign { cases, seed } = Campaign::part(30);
    let mut tally = Tally::default();
    for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
        let modulus = if seed.is_multiple_of(8) { BigUint::from(97u8) } else { bn254() };
        let program = high_program(&modulus, seed);
        verify(&program).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", text::print(&program)));
        for revision in [Revision::Evm, Revision::EvmCallsub, Revision::Eip6690_2024] {
            check(&program, revision, seed, &mut tally);
        }
    }
    println!("high stacks: {tally:?}");
    assert!(tally.returned > cases && tally.compiled > tally.refused, "{tally:?}");
}

/// Programs that may have no outcome, as an index may be past an end: where they have one, code ends so.
#[test]
fn programs_with_an_outcome_or_none() {
    let Campaign { cases, seed } = Campaign::part(4);
    let modulus = two_to(64) - 59u8;
    let revisions = having(&modulus);
    let mut tally = Tally::default();
    for seed in (0..cases).map(|case| seed.wrapping_add(case)) {
        let program = wild_program(&modulus, seed);
        verify(&program).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", text::print(&program)));
        for &revision in Campaign::some_of(&revisions, seed) {
            check(&program, revision, seed, &mut tally);
        }
    }
    println!("wild: {tally:?}");
    assert!(tally.returned > cases && tally.none > cases, "{tally:?}");
}

/// A count that is a defined word is that word in the loop and after it, whatever stands for the turns that are left.
#[test]
fn counts_of_loops_are_words_of_their_bodies() {
    // Each turn adds the count, in a loop of its own, a call, a branch and a countdown.
    let text = |words: &str, body: &str| {
        format!(
            "program \"counts\" modulus 0x61 variable x0 \"sum\" variable x1 \"count\"
             function f0 \"start\" () -> () values 0 {{
             word w0 = defined word w1 = defined word w2 = defined word w3 = defined word w4 = add w2 w0 word w5 = calldata_size
             word w6 = 0x0 word w7 = 0x64 {words}
             set x1 w5 get x1 -> w0 {body} get x0 -> w3 return_word w3 }}"
        )
    };
    let add = "get x0 -> w2 set x0 w4";
    let around = |inside: &str| format!("repeat w0 index w1 () = () {{ {inside} give () }} -> ()");
    let inner = "word w8 = defined word w9 = defined word w10 = add w9 w8";
    for (words, body) in [
        ("", around(add)),
        ("", format!("{} get x0 -> w2 set x0 w4", around("set x0 w0"))),
        (inner, around("repeat w0 index w8 () = () { get x0 -> w2 set x0 w4 give () } -> ()")),
        (inner, around("repeat w0 index w8 () = () { get x0 -> w9 set x0 w10 give () } -> ()")),
        ("", around(&format!("branch w0 {{ {add} give () }} else {{ give () }} -> ()"))),
        (
            "",
            around(&format!(
                "countdown w0 () {{ turn () {{ {add} give () }} turn () {{ {add} give () }} turn () {{ {add} give () }} }} -> ()"
            )),
        ),
        (
            "",
            around(&format!("sequence (0 0) first w0 () {{ part () {{ give () }} }} -> () {add}"))
                .replace("first w0 ()", "first w6 ()"),
        ),
        (
            "word w8 = defined word w9 = mul w0 w8 word w10 = add w9 w2",
            "repeat w0 index w8 () = () { get x0 -> w2 set x0 w10 give () } -> ()".to_owned(),
        ),
    ] {
        for calldata in [&[][..], &[1], &[1, 2, 3]] {
            check_on(&text(words, &body), calldata);
        }
    }
}

/// A program too high for the stack under every cut is refused, with the number.
#[test]
fn a_stack_that_is_too_high_is_refused() {
    let mut text = "program \"deep\" modulus 0x61 variable x0 \"x\" ".to_owned();
    for number in 0..900 {
        let call = if number > 0 { format!("call f{} () -> ()", number - 1) } else { String::new() };
        text += &format!(
            "function f{number} \"f{number}\" () -> () values 0 {{ word w0 = defined word w1 = defined word w2 = add w0 w1
             get x0 -> w0 {call} get x0 -> w1 set x0 w2 }} "
        );
    }
    text += "function f900 \"start\" () -> () values 0 { call f899 () -> () }";
    let program = text::parse(&text).unwrap();
    for revision in having(program.modulus.known().unwrap()) {
        match compiled(&program, revision) {
            Err(error @ CompileError::Height { .. }) => {
                let CompileError::Height { words, limit, .. } = error else { unreachable!() };
                assert!(words > limit && limit == 1024 && error.is_inexpressible(), "{revision}: {error}");
            }
            other => panic!("{revision}: {:?}", other.map(|compiled| compiled.stack_words)),
        }
    }
}

/// Blocks and sequences are cut where the stack would be too high.
#[test]
fn long_blocks_and_nested_sequences_are_cut() {
    let products: String = (1..1_100).map(|value| format!("v{value} = mul v{} c0 ", value - 1)).collect();
    let steps = |at: usize, of: usize| (0..of).map(|step| if step == at { "1 " } else { "0 " }).collect::<String>();
    let part = |inside: &str| format!("{{ part () {{ give () }} part () {{ {inside} give () }} }} -> ()");
    for (values, body) in [
        (1_100, format!("reduce w1 -> v0 block {{ {products} }} word_of v1099 from 0 -> w2")),
        (
            0,
            format!(
                "set x0 w1 sequence ({}) () {} get x0 -> w2",
                steps(0, 530),
                part(&format!("sequence ({}) () {}", steps(499, 500), part("get x0 -> w3 set x0 w4")))
            ),
        ),
    ] {
        let text = format!(
            "program \"high\" modulus 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001
             variable x0 \"x\" constant c0 = 0x1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcd
             function f0 \"start\" () -> () values {values} {{ word w0 = 0x0 word w1 = calldata_word w0 word w2 = defined
             word w3 = defined word w4 = add w3 w1 {body} return_word w2 }}"
        );
        check_on(&text, &[7; 32]);
    }
}

#[test]
fn programs_over_the_base_field_of_bls12_381() {
    campaign(&bls12_381());
}

#[test]
fn programs_over_the_base_field_of_bn254() {
    campaign(&bn254());
}

#[test]
fn programs_over_a_prime_of_64_bits() {
    campaign(&(two_to(64) - 59u8));
}

#[test]
fn programs_over_a_composite_modulus_of_255_bits() {
    // (2¹²⁷ − 1)·(2¹²⁸ − 159).
    campaign(&((two_to(127) - 1u8) * (two_to(128) - 159u8)));
}

#[test]
fn programs_over_the_widest_modulus_of_evm384() {
    campaign(&(two_to(384) - 317u16));
}

#[test]
fn programs_over_the_widest_modulus_of_x_383() {
    campaign(&(two_to(383) - 31u8));
}

#[test]
fn programs_over_the_smallest_moduli() {
    campaign(&BigUint::from(3u8));
    campaign(&BigUint::from(9u8));
}

#[test]
fn programs_over_powers_of_two() {
    for bits in [2, 64, 256] {
        campaign(&two_to(bits));
    }
}

#[test]
fn programs_over_an_odd_modulus_of_768_bits() {
    campaign(&(two_to(768) - 825u16));
}

/// Reads as many values in Montgomery form as there are, and returns their sums with the first.
fn mont_sums(modulus: &BigUint, values: u64) -> Program {
    let value_bytes = u64::try_from(mont::size_bytes(modulus)).unwrap();
    record("mont sums", modulus, |machine| {
        let first = machine.parse_mont_le(machine.small(0));
        let rest = (1..values).map(|number| machine.parse_mont_le(machine.small(value_bytes * number)) + first);
        machine.return_mont_le::<[_; 3]>(rest.collect::<Vec<_>>().try_into().ok().unwrap());
    })
}

#[test]
fn montgomery_forms_are_read_and_written_in_every_width() {
    let odd = [3u128, 9, (1 << 64) - 59, (1 << 64) - 1, (1 << 64) + 13, u128::MAX - 158].map(BigUint::from);
    let wide = [two_to(192) - 237u8, bn254(), two_to(320) - 197u8, bls12_381(), two_to(384) - 317u16];
    for modulus in odd.into_iter().chain(wide) {
        let program = mont_sums(&modulus, 4);
        let value = |number: &BigUint| {
            let mut bytes = number.to_bytes_le();
            bytes.resize(mont::size_bytes(&modulus), 0);
            bytes
        };
        let numbers = [&modulus - 1u8, BigUint::from(1u8), BigUint::from(2u8), BigUint::ZERO];
        let expected: Vec<u8> =
            numbers[1..].iter().flat_map(|number| value(&((&numbers[0] + number) % &modulus))).collect();
        let input: Vec<u8> = numbers.iter().flat_map(value).collect();
        assert_eq!(evaluate(&program, &input), Outcome::Returned(expected.clone()), "{modulus:#x}");
        let unreduced = [value(&modulus), input[mont::size_bytes(&modulus)..].to_vec()].concat();
        let none = NoOutcome::NotBelow { number: modulus.clone(), modulus: modulus.clone() };
        assert_eq!(evaluate_within(&program, &unreduced, u64::MAX), Err(none));
        for revision in having(&modulus) {
            let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
            let code = compiled(&program, revision).unwrap().code;
            let found = engine.run_code(&code, &input, GAS);
            assert_eq!((found.halt, found.output), (Halt::Return, expected.clone()), "{revision}, {modulus:#x}");
            // The documented difference: EVM384 does not look.
            let found = engine.run_code(&code, &unreduced, GAS).halt;
            assert_eq!(found.is_exceptional(), revision.family() != Family::Memory384, "{revision}, {modulus:#x}");
        }
    }
}

#[test]
fn compiling_twice_gives_the_same_bytes() {
    for seed in 0..12 {
        let program = program(&bn254(), seed);
        for revision in having(&bn254()) {
            assert_eq!(compiled(&program, revision), compiled(&program, revision), "seed {seed}, {revision}");
        }
    }
}

/// Parses `values` bytes from calldata in a function, then adds them up from the last to the first: all live at once.
fn wide(values: u64) -> Program {
    record("wide", &bls12_381(), |machine| {
        let first = machine.parse(machine.small(0), 1);
        let sum = machine.function("gathers", first, |machine, first| {
            let bytes: Vec<_> = (1..values).map(|at| machine.parse(machine.small(at), 1)).collect();
            bytes.into_iter().rev().reduce(|sum, byte| sum + sum + byte).map_or(first, |sum| sum * first)
        });
        machine.return_elements(sum, 48);
    })
}

#[test]
fn many_live_values_fit_in_slots_or_memory() {
    let input: Vec<u8> = (1..=255).chain(1..=255).collect();
    for values in [200, 250, 300, 400] {
        let program = wide(values);
        let expected = evaluate(&program, &input);
        for &revision in Revision::ALL {
            let compiled = compiled(&program, revision).unwrap_or_else(|error| panic!("{values}, {revision}: {error}"));
            let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
            let found = engine.run_code(&compiled.code, &input, GAS);
            assert_eq!(Outcome::Returned(found.output), expected, "{values}, {revision}");
        }
    }
}

/// Constants that the compiler adds: zero is always there, and two lead into Montgomery form and out of it.
fn own_constants(revision: Revision) -> u32 {
    if revision.family() == Family::Slots { 1 } else { 3 }
}

/// A sum of calldata's first byte and `count` constants, each its own.
fn with_constants(count: u32) -> Program {
    record("constants", &bls12_381(), |machine| {
        let byte = machine.parse(machine.small(0), 1);
        let sum = (2..2 + count).fold(byte, |sum, constant| sum * machine.constant(&BigUint::from(constant)) + byte);
        machine.return_elements(sum, 48);
    })
}

#[test]
fn many_constants_fit_or_are_an_error() {
    for count in [250, 253, 254, 256, 1000] {
        let program = with_constants(count);
        let expected = evaluate(&program, &[3]);
        for &revision in Revision::ALL {
            match compiled(&program, revision) {
                Ok(compiled) => {
                    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
                    let found = engine.run_code(&compiled.code, &[3], GAS);
                    assert_eq!(Outcome::Returned(found.output), expected, "{count}, {revision}");
                    assert!(count <= 253 || !is_narrow(revision));
                }
                Err(CompileError::Constants { count: found, limit }) => {
                    // Version 6 has two slots of scratch.
                    let slots = if revision.evm384().is_some() { 254 } else { 256 };
                    let found_constants = (count + own_constants(revision)) as usize;
                    assert_eq!((found, limit), (found_constants, slots), "{revision}");
                    assert!(count + 1 >= slots - 3, "{revision}");
                }
                Err(CompileError::Slots { few: TooFewSlots { function, limit, .. }, .. }) => {
                    assert_eq!((function.as_str(), limit), ("start", 256 - (count + own_constants(revision)) - 1));
                }
                Err(error) => panic!("{count}, {revision}: {error}"),
            }
        }
    }
}

#[test]
fn moduli_that_a_revision_does_not_have_are_refused() {
    let refusal = |modulus: &BigUint, revision| compiled(&program(modulus, 0), revision).unwrap_err();
    let (evm384, eip6690) = (Revision::Evm384V7, Revision::Eip6690_2024);
    let even = |revision, modulus| CompileError::EvenModulus { revision, modulus };
    assert_eq!(refusal(&two_to(255), evm384), even(evm384, two_to(255)));
    assert_eq!(refusal(&(two_to(255) - 2u8), evm384), even(evm384, two_to(255) - 2u8));
    assert_eq!(refusal(&(two_to(255) - 2u8), eip6690), even(eip6690, two_to(255) - 2u8));
    let width = |revision, bits, limit_bits| CompileError::Width { revision, bits, limit_bits };
    assert_eq!(refusal(&(two_to(384) + 1u8), evm384), width(evm384, 385, 384));
    assert_eq!(refusal(&(two_to(768) + 1u8), eip6690), width(eip6690, 769, 768));
    let short = Revision::X383;
    assert_eq!(refusal(&(two_to(384) - 317u16), short), width(short, 384, 383));
    assert_eq!(refusal(&(two_to(383) + 1u8), short), width(short, 384, 383));
    assert!(compiled(&program(&(two_to(383) - 1u8), 0), short).is_ok());
    let fixed = Revision::Evm384V4;
    assert_eq!(refusal(&bn254(), fixed), CompileError::FixedField { revision: fixed });
    assert!(compiled(&program(&bls12_381(), 0), fixed).is_ok());
    let geth = Revision::Geth6601;
    assert_eq!(refusal(&bn254(), geth), CompileError::OnlyWidth { revision: geth, bits: 254, limbs: 6 });
    assert_eq!(refusal(&(two_to(512) + 1u8), Revision::Evmone2025), width(Revision::Evmone2025, 513, 512));
    for revision in [Revision::Eip5843, Revision::Eip7747, Revision::EvmoneBits, Revision::Eip6690_2023] {
        assert_eq!(refusal(&two_to(255), revision), even(revision, two_to(255)));
    }
    assert!(compiled(&program(&(two_to(384) - 1u8), 0), evm384).is_ok());
    assert!(compiled(&program(&(two_to(768) - 1u8), 0), eip6690).is_ok());
}

#[test]
fn words_too_deep_in_the_stack_are_an_error_that_names_the_function() {
    let program = record("deep", &bls12_381(), |machine| {
        let words: Vec<_> = (0..20u64).map(|at| machine.bind(machine.calldata_word(machine.small(at)))).collect();
        let sum = words.into_iter().reduce(|sum, word| machine.word_op(WordOp::Add, sum, word)).unwrap();
        machine.return_word(sum);
    });
    for &revision in Revision::ALL {
        assert_eq!(compiled(&program, revision), Err(CompileError::Stack { function: "start".to_owned() }));
    }
}

#[test]
fn arrays_beyond_all_memory_are_an_error() {
    for (values, capacity) in [(4294967295u64, 4294967295u64), (1, 4294967295), (4294967295, 1), (1 << 20, 1 << 20)] {
        let text = format!(
            "program \"p\" modulus 0x61 array a0 \"a\" values {values} capacity {capacity}
             array a1 \"b\" values {values} capacity unbounded function f0 \"start\" () -> () values 0 {{ }}"
        );
        let program = text::parse(&text).unwrap();
        for revision in having(program.modulus.known().unwrap()) {
            assert!(matches!(compiled(&program, revision), Err(CompileError::Memory { .. })), "{values} · {capacity}");
        }
    }
}

/// Operations after a branch whose arms both end are never reached, and not missed.
#[test]
fn what_stands_after_two_endings_is_left_out() {
    let text = "program \"p\" modulus 0x61 function f0 \"start\" () -> () values 2 { word w0 = calldata_size
        parse w0 bytes 0 -> v0
        branch w0 { return_word w0 give () } else { return_elements (v0) bytes 2 give () } -> ()
        block { v1 = add v0 v0 } return_elements (v1) bytes 1 }";
    let program = text::parse(text).unwrap();
    let mut tally = Tally::default();
    let revisions = having(program.modulus.known().unwrap());
    for &revision in &revisions {
        check(&program, revision, 5, &mut tally);
    }
    assert_eq!(tally.returned, 4 * revisions.len() as u64);
}

/// The bottom of memory holds the constants at first; a variable is zero all the same.
#[test]
fn a_variable_that_nobody_set_is_zero() {
    let mut text = "program \"p\" modulus 0xffffffffffffffffffffffffffffff61 ".to_owned();
    for constant in 0..40 {
        text += &format!("constant c{constant} = 0xffffffffffffff{constant:02} ");
    }
    text += "variable x0 \"x\" variable x1 \"y\" function f0 \"start\" () -> () values 0 { word w0 = defined word w1 = defined
        word w2 = or w0 w1 get x0 -> w0 get x1 -> w1 return_word w2 }";
    let program = text::parse(&text).unwrap();
    assert_eq!(evaluate(&program, &[]), Outcome::Returned(vec![0; 32]));
    let mut tally = Tally::default();
    let revisions = having(program.modulus.known().unwrap());
    for &revision in &revisions {
        check(&program, revision, 0, &mut tally);
    }
    assert_eq!(tally.returned, 4 * revisions.len() as u64);
}

/// Compiles a program for every revision that has it, of which there is one at least, and runs it on this calldata.
#[track_caller]
fn check_on(text: &str, calldata: &[u8]) {
    let program = text::parse(text).unwrap();
    verify(&program).unwrap();
    let expected = evaluate(&program, calldata);
    let mut count = 0;
    for revision in Revision::every() {
        let code = match compiled(&program, revision) {
            Err(error) if error.is_inexpressible() => continue,
            compiled => compiled.unwrap_or_else(|error| panic!("{revision}: {error}")).code,
        };
        let outcome = Engine::new(EngineConfig::default_for(revision)).unwrap().run_code(&code, calldata, GAS);
        assert_eq!(outcome.halt, Halt::Return, "{revision}");
        assert_eq!(Outcome::Returned(outcome.output), expected, "{revision}");
        count += 1;
    }
    assert!(count > 0);
}

/// If slots are words at the bottom of memory, output does not go there.
#[test]
fn elements_of_a_subprogram_are_returned_whole() {
    let of = |values, body: &str| {
        format!(
            "program \"low\" modulus 0x61 subprogram p0 \"sub\" modulus 0x65 {{ function f0 \"start\" () -> () values {values} {{
             word w0 = 0x0 word w1 = 0x20 parse w0 bytes 32 -> v0 {body} }} }}
             function f0 \"start\" () -> () values 0 {{ enter p0 () }}"
        )
    };
    let calldata = [vec![0; 31], vec![1], vec![0; 31], vec![2]].concat();
    check_on(&of(2, "parse w1 bytes 32 -> v1 return_elements (v1 v0) bytes 32"), &calldata);
    check_on(&of(1, "return_elements (v0) bytes 64"), &calldata);
}

/// Over a composite modulus an element may be its own negative, or a multiple of it 0, whatever it is made of, and so may its products.
#[test]
fn products_of_zero_divisors_are_known_by_what_they_may_be() {
    for modulus in [4u32, 6, 8, 9, 12, 16, 35] {
        for factor in (2..modulus).filter(|factor| modulus % factor == 0) {
            for (first, second) in [("sub", "sub"), ("sub", "add"), ("add", "sub"), ("add", "add")] {
                let text = format!(
                    "program \"divisors\" modulus {modulus:#x} constant c0 = {factor:#x} constant c1 = {:#x}
                     function f0 \"start\" () -> () values 8 {{ word w0 = 0x0 word w1 = 0x1 word w2 = 0x2
                     parse w0 bytes 1 -> v0 parse w1 bytes 1 -> v1 parse w2 bytes 1 -> v2
                     block {{ v3 = mul v0 c0 v4 = {first} v1 v2 v5 = mul v3 v4 v6 = {second} v5 v3 v7 = mul v5 c1 }}
                     return_elements (v6 v7) bytes 1 }}",
                    modulus / factor
                );
                check_on(&text, &[3, 1, 2]);
            }
        }
    }
}

/// Two equal products are one that is doubled, or a sum that an interface makes at one go.
#[test]
fn equal_products_may_be_a_sum() {
    let text = "program \"equal\" modulus 0x61 function f0 \"start\" () -> () values 13 { word w0 = 0x0
        parse w0 bytes 1 -> v0 parse w0 bytes 1 -> v1 block { v2 = add v0 v1 v3 = sub v0 v1 } parse w0 bytes 1 -> v4
        block { v5 = add v0 v1 v6 = sub v0 v1 v7 = mul v2 v5 v8 = mul v3 v6 v9 = sub v7 v8
        v10 = mul v2 v6 v11 = mul v3 v5 v12 = add v10 v11 } return_elements (v9 v12) bytes 1 }";
    check_on(text, &[7]);
}

/// Code that is longer than an account may have is shortened by numbers that memory holds, but not where a program has no memory for elements.
#[test]
fn long_programs_of_words_alone_are_as_short_ones() {
    let modulus = bn254();
    let p = U256::from_be_slice(&modulus.to_bytes_be());
    for numbers in [4u64, 700] {
        let program = record("words", &modulus, |machine| {
            let at = |number: u64| machine.calldata_word(machine.small(32 * number));
            let is_below = |number| machine.word_op(WordOp::Lt, at(number), machine.word(p));
            let all = (1..numbers).fold(machine.bind(is_below(0)), |all, number| {
                machine.bind(machine.word_op(WordOp::Add, all, is_below(number)))
            });
            machine.return_word(all);
        });
        let calldata = [vec![0; 64], vec![255; 32]].concat();
        let expected = evaluate(&program, &calldata);
        assert_eq!(expected, Outcome::Returned(U256::from(numbers - 1).to_be_bytes_vec()));
        for revision in having(&modulus) {
            let code = compiled(&program, revision).unwrap().code;
            assert_eq!(code.len() > 24_576, numbers == 700, "{revision}: {} bytes", code.len());
            let outcome = Engine::new(EngineConfig::default_for(revision)).unwrap().run_code(&code, &calldata, GAS);
            assert_eq!(outcome.halt, Halt::Return, "{revision}, {numbers} numbers");
            assert_eq!(Outcome::Returned(outcome.output), expected, "{revision}, {numbers} numbers");
        }
    }
}

/// Room that is asked for in a row is one, and so are elements of neighbouring arrays with the same index.
#[test]
fn elements_of_neighbouring_arrays_go_together() {
    let text = "program \"p\" modulus 0xffffffffffffffffffffffffffffff61 constant c0 = 0x7
        array a0 \"a\" values 2 capacity unbounded array a1 \"b\" values 1 capacity unbounded
        array a2 \"c\" values 3 capacity unbounded function f0 \"start\" () -> () values 11 {
        word w0 = 0x0 word w1 = 0x1 word w2 = 0x2 word w3 = 0x3 word w4 = calldata_size word w5 = and w4 w1
        word w6 = defined word w7 = defined word w8 = add w4 w3
        parse w0 bytes 1 -> v0 parse w1 bytes 1 -> v1 parse w2 bytes 1 -> v2
        bind w8 -> w7 reserve a0 w7 reserve a1 w7 reserve a2 w7 bind w5 -> w6
        store a0 w6 (v0 v1) store a1 w6 (v2) block { v3 = mul v0 v1 }
        store a1 w2 (v3) store a2 w2 (v2 v1 v0) store a0 w2 (v1 c0)
        load a1 w2 -> (v4) load a2 w2 -> (v5 v6 v7) load a0 w6 -> (v8 v9) load a1 w6 -> (v10)
        return_elements (v4 v5 v6 v7 v8 v9 v10) bytes 16 }";
    let program = text::parse(text).unwrap();
    verify(&program).unwrap();
    let mut tally = Tally::default();
    let revisions = having(program.modulus.known().unwrap());
    for &revision in &revisions {
        check(&program, revision, 3, &mut tally);
    }
    assert_eq!(tally.returned, 4 * revisions.len() as u64);
}

/// Inverses by an instruction where there is one, else by a power: of what has one and of 0.
#[test]
fn inverses_are_what_the_evaluator_says() {
    let modulus = BigUint::from(10_007u32);
    let program = record("inverses", &modulus, |machine| {
        let [a, b] = [0, 2].map(|offset| machine.parse(machine.small(offset), 2));
        let inverse = machine.inverse(a - b, |_, a| residue_curves::chain::pow_constant(a, &(&modulus - 2u32)));
        let again = machine.inverse(inverse, |_, a| residue_curves::chain::pow_constant(a, &(&modulus - 2u32)));
        machine.return_elements([inverse * a + b, again], 2);
    });
    let mut by_instruction = 0;
    for &revision in Revision::ALL.iter().filter(|revision| revision.slot_rules().is_some()) {
        // Some have moduli of some widths only.
        let Ok(Compiled { code, .. }) = compiled(&program, revision) else { continue };
        let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
        by_instruction += usize::from(revision.slot_rules().is_some_and(|rules| rules.inverts()) && code.len() < 200);
        for (a, b) in [(7u16, 7u16), (7, 6), (0, 1), (10_006, 0), (5, 9_000)] {
            let input = [a.to_be_bytes(), b.to_be_bytes()].concat();
            let expected = evaluate(&program, &input);
            let outcome = engine.run_code(&code, &input, GAS);
            assert_eq!((outcome.halt, Outcome::Returned(outcome.output)), (Halt::Return, expected), "{revision}");
        }
    }
    assert!(by_instruction >= 2, "{by_instruction}");
}

/// A program that inverts without asking has no code where no instruction inverts.
#[test]
fn inversions_are_refused_where_no_instruction_inverts() {
    let program = record("inverse", &BigUint::from(101u8), |machine| {
        let a = machine.parse(machine.small(0), 1);
        machine.return_elements(machine.invert(a), 1);
    });
    for &revision in Revision::ALL {
        let inverts = revision.slot_rules().is_some_and(|rules| rules.inverts());
        match compiled(&program, revision) {
            Ok(_) => assert!(inverts, "{revision}"),
            Err(error) => assert!(!inverts && error.is_inexpressible(), "{revision}: {error}"),
        }
    }
}
