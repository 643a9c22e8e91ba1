//! One text, two interpretations: on numbers it gives the results of its recorded program in the evaluator.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::{Plan, Seeded};
use num_bigint::BigUint;
use residue_formula::Number;
use residue_ir::{
    LaneStep, Lanes, Machine, ModOp, NoOutcome, Numbers, Outcome, Piece, WordOp, evaluate, evaluate_within, record,
    text, verify,
};
use residue_modular::fields::{Bls12_381Fp, Bls12_381Fr, Bn254Fp};
use ruint::aliases::U256;

/// Runs `cases` plans over one field; says how many returned, failed and ended.
fn agree<F: Number>(cases: u64) -> [u64; 3] {
    let mut tally = [0; 3];
    for seed in 0..cases {
        let plan = Plan::new(seed);
        let program = record("plan", &F::modulus(), |machine| plan.run(machine));
        verify(&program).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", text::print(&program)));
        let mut seeded = Seeded(!seed);
        for _ in 0..4 {
            let calldata = seeded.calldata();
            let numbers = Numbers::<F>::new(calldata.clone());
            plan.run(&numbers);
            let outcome = numbers.outcome();
            match evaluate_within(&program, &calldata, u64::MAX) {
                // The one thing that numbers have an outcome for.
                Err(NoOutcome::NotBelow { .. }) => assert_eq!(outcome, Outcome::Failed, "seed {seed}"),
                found => assert_eq!(found.as_ref(), Ok(&outcome), "seed {seed}, calldata {calldata:02x?}"),
            }
            tally[match outcome {
                Outcome::Returned(_) => 0,
                Outcome::Failed => 1,
                Outcome::Ended => 2,
            }] += 1;
        }
    }
    tally
}

#[test]
fn numbers_and_recorded_programs_agree() {
    for tally in [agree::<Bls12_381Fp>(300), agree::<Bls12_381Fr>(300), agree::<Bn254Fp>(300)] {
        assert!(tally[0] > 300 && tally[1] > 30 && tally[2] > 100, "{tally:?}");
    }
}

/// Both interpretations of a short text.
#[track_caller]
fn check(calldata: &[u8], expected: Outcome, text: impl Fn(&dyn Fn(Outcome)), evaluated: Outcome) {
    text(&|found| assert_eq!(found, expected));
    assert_eq!(evaluated, expected, "calldata {calldata:02x?}");
}

macro_rules! both {
    ($calldata:expr, $text:expr, $expected:expr) => {{
        fn text<M: Machine>(machine: &M) {
            let text: fn(&M) = $text;
            text(machine);
        }
        let calldata: &[u8] = $calldata;
        let program = record("both", &Bls12_381Fp::modulus(), |machine| text(machine));
        verify(&program).unwrap();
        let run = |found: &dyn Fn(Outcome)| {
            let numbers = Numbers::<Bls12_381Fp>::new(calldata.to_vec());
            text(&numbers);
            found(numbers.outcome());
        };
        check(calldata, $expected, run, evaluate(&program, calldata));
    }};
}

fn word(value: u8) -> Outcome {
    Outcome::Returned([vec![0; 31], vec![value]].concat())
}

#[test]
fn the_first_ending_counts() {
    both!(
        &[1],
        |machine| {
            machine.return_word(machine.small(5));
            machine.return_word(machine.small(6));
            machine.require(machine.small(0));
        },
        word(5)
    );
    both!(
        &[1],
        |machine| {
            machine.require(machine.small(0));
            machine.return_word(machine.small(6));
        },
        Outcome::Failed
    );
    both!(&[], |machine| machine.require(machine.small(2)), Outcome::Ended);
}

#[test]
fn what_a_requirement_forbids_is_not_done_after_it() {
    // Without the requirement: 2²⁵⁵ turns, and an element that nobody stored.
    both!(
        &[0x80],
        |machine| {
            let count = machine.calldata_word(machine.small(0));
            machine.require(machine.word_op(WordOp::Lt, count, machine.small(4)));
            let array = machine.array::<M::Fe>("array", residue_ir::Capacity::Unbounded);
            machine.reserve(array, count);
            machine.repeat(count, (), |machine, turn, ()| machine.store(array, turn, machine.one()));
            let element = machine.load(array, machine.small(7));
            machine.return_word(machine.is_zero(element));
        },
        Outcome::Failed
    );
}

#[test]
fn a_variable_keeps_what_a_loop_sets() {
    both!(
        &[],
        |machine| {
            let sum = machine.variable("sum", machine.small(0));
            machine.repeat(machine.small(5), (), |machine, turn, ()| {
                let before = machine.get(sum);
                machine.set(sum, machine.word_op(WordOp::Add, before, turn));
            });
            machine.return_word(machine.get(sum));
        },
        word(10)
    );
}

#[test]
fn every_element_that_is_filled_has_the_value() {
    both!(
        &[2, 3],
        |machine| {
            let [a, b] = [0, 1].map(|offset| machine.parse(machine.small(offset), 1));
            let pairs = machine.array::<(M::Fe, M::Fe)>("pairs", residue_ir::Capacity::Unbounded);
            machine.reserve(pairs, machine.small(6));
            machine.store(pairs, machine.small(5), (b, b));
            machine.fill(pairs, 5, (a, b));
            let values = [0, 3, 4, 5].map(|index| machine.load(pairs, machine.small(index)));
            machine.return_elements(values, 48);
        },
        Outcome::Returned(
            [2, 3, 2, 3, 2, 3, 3, 3].into_iter().flat_map(|value| [vec![0; 47], vec![value]].concat()).collect()
        )
    );
}

#[test]
fn indices_stand_in_cells() {
    both!(
        &[2, 3, 5],
        |machine| {
            let singles = machine.array::<M::Fe>("singles", residue_ir::Capacity::Fixed(3));
            for index in 0..3 {
                machine.store(singles, machine.small(index), machine.parse(machine.small(index), 1));
            }
            let cells = residue_ir::Cells { bits: 16, index_bits: 2 };
            let indices = machine.variable("indices", machine.small(0));
            machine.set_indices(indices, singles, machine.small(0x0002_0000_0001), cells);
            let [b, a] = [0, 16].map(|bit| machine.load(singles, machine.index(indices, singles, bit, cells)));
            machine.set(indices, machine.word_op(WordOp::Shr, machine.get(indices), machine.small(32)));
            let c = machine.load(singles, machine.index(indices, singles, 0, cells));
            machine.return_elements([a, b, c], 48);
        },
        Outcome::Returned([2, 3, 5].into_iter().flat_map(|value| [vec![0; 47], vec![value]].concat()).collect())
    );
}

#[test]
fn words_are_those_of_the_evm() {
    use ruint::aliases::U256;
    let (zero, one, max) = (U256::ZERO, U256::ONE, U256::MAX);
    let two = U256::from(2);
    for (op, a, b, expected) in [
        (WordOp::Add, max, one, zero),
        (WordOp::Sub, zero, one, max),
        (WordOp::Mul, max, two, max - one),
        (WordOp::Div, max, zero, zero),
        (WordOp::Div, max, two, max >> 1),
        (WordOp::Mod, max, zero, zero),
        (WordOp::Mod, max, two, one),
        (WordOp::Lt, one, two, one),
        (WordOp::Lt, two, two, zero),
        (WordOp::Eq, two, two, one),
        (WordOp::And, max, two, two),
        (WordOp::Or, one, two, U256::from(3)),
        (WordOp::Xor, max, max, zero),
        (WordOp::Shl, one, U256::from(255), one << 255),
        (WordOp::Shl, max, U256::from(256), zero),
        (WordOp::Shr, max, U256::from(255), one),
        (WordOp::Shr, max, max, zero),
        (WordOp::Byte, U256::from(0x0203), U256::from(31), U256::from(3)),
        (WordOp::Byte, U256::from(0x0203), U256::from(30), two),
        (WordOp::Byte, one << 255, zero, U256::from(128)),
        (WordOp::Byte, max, U256::from(32), zero),
        (WordOp::Byte, max, max, zero),
    ] {
        assert_eq!(op.apply(a, b), expected, "{op:?} {a:#x} {b:#x}");
    }
}

#[test]
fn words_modulo_a_word_are_those_of_the_evm() {
    use ruint::aliases::U256;
    let (zero, one, max) = (U256::ZERO, U256::ONE, U256::MAX);
    let seven = U256::from(7);
    for (op, a, b, m, expected) in [
        (ModOp::Add, max, max, zero, zero),
        (ModOp::Add, max, max, one, zero),
        (ModOp::Add, max, one, max, one),
        (ModOp::Add, max, max, seven, U256::from(2)),
        (ModOp::Mul, max, max, zero, zero),
        (ModOp::Mul, max, max, one, zero),
        (ModOp::Mul, max, max, max, zero),
        (ModOp::Mul, max, max, max - one, one),
        (ModOp::Mul, max, max, seven, one),
        (ModOp::Mul, one << 255, U256::from(2), max, one),
    ] {
        assert_eq!(op.apply(a, b, m), expected, "{op:?} {a:#x} {b:#x} {m:#x}");
    }
    // Recorded, evaluated and as numbers; one word as both factors is computed once, so a power grows by one part a squaring.
    let power = |bits: usize| {
        record("power", &BigUint::from(97u8), move |machine| {
            let m = machine.bind(machine.calldata_word(machine.small(32)));
            let x = machine.calldata_word(machine.small(0));
            let power = (0..bits).fold(x, |x, _| machine.mod_op(ModOp::Mul, x, x, m));
            machine.return_word(machine.mod_op(ModOp::Add, power, m, m));
        })
    };
    let mut calldata = [0; 64];
    (calldata[31], calldata[63]) = (3, 101);
    let expected = (0..300).fold(U256::from(3), |x, _| x.mul_mod(x, U256::from(101)));
    let program = power(300);
    verify(&program).unwrap();
    assert_eq!(text::read(&text::print(&program)).unwrap(), program);
    assert_eq!(evaluate(&program, &calldata), Outcome::Returned(expected.to_be_bytes::<32>().to_vec()));
}

#[test]
fn scratch_memory_is_bytes() {
    use ruint::aliases::U256;
    both!(
        &[5, 6],
        |machine| {
            machine.scratch(70);
            let at = |offset: u64| machine.small(offset);
            machine.set_scratch(at(0), machine.word(U256::MAX));
            machine.copy_calldata(at(31), at(1), at(3));
            // From byte 2 on: 29 bytes of ones, 6, and two zeros.
            let word = machine.bind(machine.scratch_word(at(2)));
            machine.set_scratch(at(38), word);
            machine.return_scratch(at(30), at(40));
        },
        Outcome::Returned([&[255, 6][..], &[0; 6], &[255; 29], &[6, 0, 0]].concat())
    );
    // Copies overlap, as if by way of a buffer.
    both!(
        &[1, 2, 3, 4, 5],
        |machine| {
            machine.scratch(8);
            let at = |offset: u64| machine.small(offset);
            machine.copy_calldata(at(0), at(0), at(5));
            machine.copy_scratch(2, 0, 4);
            machine.copy_scratch(0, 1, 3);
            machine.copy_scratch(8, 8, 0);
            machine.return_scratch(at(0), at(8));
        },
        Outcome::Returned(vec![2, 1, 2, 2, 3, 4, 0, 0])
    );
}

#[test]
fn bytes_are_copied_within_scratch_memory_alone() {
    for (offset, from, beyond) in [(0, 5, 5), (5, 0, 5), (9, 0, 9), (0, 9, 9)] {
        let program = record("beyond", &BigUint::from(97u8), |machine| {
            machine.scratch(8);
            machine.copy_scratch(offset, from, 4);
            machine.return_word(machine.small(1));
        });
        assert_eq!(evaluate_within(&program, &[], 9), Err(NoOutcome::Scratch(U256::from(beyond))));
    }
    for (offset, size, fits) in [((1 << 24) - 4, 4, true), ((1 << 24) - 4, 5, false), (0, u32::MAX, false)] {
        let program = record("end", &BigUint::from(97u8), |machine| {
            machine.copy_scratch(offset, 0, size);
            machine.return_word(machine.small(1));
        });
        assert_eq!(verify(&program).is_ok(), fits, "{size} to {offset}");
    }
}

#[test]
fn elements_are_taken_of_scratch_memory_and_put_there() {
    use residue_modular::fields::KoalaBear;
    fn text<M: Machine>(machine: &M) {
        let at = |offset: u64| machine.small(offset);
        machine.scratch(40);
        machine.set_scratch(at(0), machine.word(ruint::aliases::U256::MAX));
        machine.copy_calldata(at(1), at(0), at(8));
        let values = machine.take_scratch(1, 2, 4);
        machine.line_up(&values);
        machine.put_scratch(3, 5, &[values[0] + values[1], values[1] * values[1]]);
        machine.return_scratch(at(0), at(14));
    }
    let program = record("elements", &KoalaBear::modulus(), |machine| text(machine));
    verify(&program).unwrap();
    assert_eq!(text::read(&text::print(&program)).unwrap(), program);
    let p = u32::try_from(KoalaBear::modulus()).unwrap();
    let put = [&[255, 0, 0][..], &[0, 0, 0, 1, 1], &[0, 0, 0, 0, 4], &[255]].concat();
    for (inputs, expected) in [
        ([255, 2], Outcome::Returned(put)),
        ([p, 2], Outcome::Failed),
        ([2, p], Outcome::Failed),
        ([u32::MAX; 2], Outcome::Failed),
    ] {
        let calldata = inputs.map(u32::to_be_bytes).concat();
        let run = |found: &dyn Fn(Outcome)| {
            let numbers = Numbers::<KoalaBear>::new(calldata.clone());
            text(&numbers);
            found(numbers.outcome());
        };
        check(&calldata, expected, run, evaluate(&program, &calldata));
    }
}

/// One butterfly of words of four lanes, and what rows make of them.
fn one_butterfly() -> Lanes {
    let take = |word: u32| LaneStep::Take { word, from: vec![32 * word] };
    let put =
        |word: u32, rows: [[u32; 4]; 4]| LaneStep::Put { word, to: 32 * word, rows: rows.map(Vec::from).to_vec() };
    let unit = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
    let butterfly = LaneStep::Butterfly { low: 0, high: 1, by: 5 };
    let steps = vec![take(0), take(1), butterfly, put(0, unit), put(1, [[1; 4], [2, 0, 0, 0], [0; 4], [0, 0, 96, 0]])];
    Lanes { bits: 64, modulus: 97, words: 2, home: 0, steps }
}

#[test]
fn words_of_lanes_are_transformed_modulo_their_own_modulus() {
    use residue_modular::fields::KoalaBear;
    fn text<M: Machine>(machine: &M) {
        machine.scratch(64);
        machine.lanes(&one_butterfly());
        machine.return_scratch(machine.small(0), machine.small(64));
    }
    let program = record("lanes", &KoalaBear::modulus(), |machine| text(machine));
    verify(&program).unwrap();
    assert_eq!(text::read(&text::print(&program)).unwrap(), program);
    let encoded = |numbers: [u64; 8]| numbers.map(u64::to_be_bytes).concat();
    // 1 + 5·20 = 101 and 1 − 100; …
    let put = encoded([4, 12, 18, 96, 74, 93, 0, 12]);
    let given = [1, 2, 3, 96, 20, 2, 3, 0];
    let with = |place: usize, number: u64| {
        let mut numbers = given;
        numbers[place] = number;
        encoded(numbers)
    };
    for (calldata, expected) in [
        (encoded(given), Outcome::Returned(put)),
        (Vec::new(), Outcome::Returned(vec![0; 64])),
        (with(0, 97), Outcome::Failed),
        (with(7, u64::MAX), Outcome::Failed),
    ] {
        let run = |found: &dyn Fn(Outcome)| {
            let numbers = Numbers::<KoalaBear>::new(calldata.clone());
            text(&numbers);
            found(numbers.outcome());
        };
        check(&calldata, expected, run, evaluate(&program, &calldata));
    }
    let short = record("short", &KoalaBear::modulus(), |machine| {
        machine.scratch(63);
        machine.lanes(&one_butterfly());
    });
    assert!(residue_ir::evaluate_within(&short, &[], 9).is_err());
}

#[test]
fn transforms_that_have_no_meaning_are_refused() {
    type Change = fn(&mut Lanes);
    let cases: [(Change, &str); 25] = [
        (|lanes| lanes.bits = 24, "lanes of 24 bits"),
        (|lanes| lanes.modulus = 1, "1 is no modulus"),
        (|lanes| lanes.modulus = 1 << 31, "2147483648 is no modulus"),
        (|lanes| lanes.words = 1025, "1025 words"),
        (|lanes| lanes.home = 16, "byte 16"),
        (|lanes| lanes.home = 1 << 24, "end at byte"),
        (|lanes| lanes.words = 1, "no word 1, of 1"),
        (|lanes| drop(lanes.steps.remove(0)), "word 0 is read before it is set"),
        (|lanes| lanes.steps.swap(2, 3), "step 3 of `lanes`: word 0 is used after"),
        (|lanes| drop(lanes.steps.pop()), "leaves word 1"),
        (|lanes| lanes.steps[2] = LaneStep::Butterfly { low: 0, high: 0, by: 1 }, "word 0 with itself"),
        (|lanes| lanes.steps[2] = LaneStep::Butterfly { low: 0, high: 1, by: 97 }, "97 is not below 97"),
        (|lanes| lanes.steps[2] = LaneStep::Back { low: 1, high: 1, by: 1 }, "word 1 with itself"),
        (|lanes| lanes.steps[2] = LaneStep::Multiply { word: 0, by: 1, root: 98 }, "98 is not below 97"),
        (|lanes| lanes.steps[0] = LaneStep::Read { word: 0, from: 8, bits: 9 }, "byte 8"),
        (|lanes| lanes.steps[0] = LaneStep::Read { word: 0, from: 64, bits: 62 }, "numbers of 62 bits"),
        (|lanes| lanes.steps[1] = LaneStep::Read { word: 1, from: lanes.home, bits: 9 }, "the place of word 0"),
        (|lanes| lanes.steps[2] = LaneStep::Leave { word: 0, times: 1 }, "step 3 of `lanes`: word 0 is used after"),
        (|lanes| lanes.steps[3] = LaneStep::Leave { word: 0, times: 0 }, "below 0 times 97"),
        (
            |lanes| {
                lanes.bits = 32;
                lanes.steps[2] = LaneStep::Leave { word: 0, times: 1 << 26 };
            },
            "below 67108864 times 97",
        ),
        (|lanes| lanes.steps[0] = LaneStep::Take { word: 0, from: vec![0; 3] }, "3 sources of 4 lanes"),
        (|lanes| lanes.steps[0] = LaneStep::Take { word: 0, from: vec![0; 8] }, "8 sources of 4 lanes"),
        (|lanes| lanes.steps[3] = LaneStep::Put { word: 0, to: 0, rows: vec![vec![0; 4]; 3] }, "3 rows"),
        (|lanes| lanes.steps[3] = LaneStep::Put { word: 0, to: 0, rows: vec![vec![0; 5]; 4] }, "5 numbers for 4 lanes"),
        (|lanes| lanes.steps[3] = LaneStep::Put { word: 0, to: 0, rows: vec![vec![97; 4]; 4] }, "97 is not below 97"),
    ];
    for (change, message) in cases {
        let mut lanes = one_butterfly();
        change(&mut lanes);
        let program = record("refused", &BigUint::from(97u8), |machine| machine.lanes(&lanes));
        let error = verify(&program).unwrap_err().to_string();
        assert!(error.contains(message), "{error}, not {message}");
    }
}

#[test]
fn a_state_in_scratch_memory_is_permuted() {
    use residue_modular::fields::KoalaBear;
    /// The state of zeros from byte 8 with anything before its lanes, permuted twice; the first two lanes are returned.
    fn text<M: Machine>(machine: &M) {
        machine.scratch(232);
        machine.set_scratch(machine.small(0), machine.word(U256::MAX));
        machine.keccak_f(8);
        machine.keccak_f(8);
        machine.return_scratch(machine.small(32), machine.small(16));
    }
    let program = record("permuted", &KoalaBear::modulus(), |machine| text(machine));
    verify(&program).unwrap();
    assert_eq!(text::read(&text::print(&program)).unwrap(), program);
    // The Keccak team's KeccakF-1600-IntermediateValues.txt, the second of its permutations.
    let lanes = [0x2d5c_954d_f96e_cb3c, 0x6a33_2cd0_7057_b56d];
    let expected = lanes.iter().flat_map(|&lane: &u64| lane.to_be_bytes()).collect();
    let run = |found: &dyn Fn(Outcome)| {
        let numbers = Numbers::<KoalaBear>::new(Vec::new());
        text(&numbers);
        found(numbers.outcome());
    };
    check(&[], Outcome::Returned(expected), run, evaluate(&program, &[]));
    let short = record("short", &KoalaBear::modulus(), |machine| {
        machine.scratch(223);
        machine.keccak_f(0);
        machine.return_word(machine.small(1));
    });
    assert_eq!(evaluate_within(&short, &[], 9), Err(NoOutcome::Scratch(U256::ZERO)));
    for (offset, fits) in [((1 << 24) - 224, true), ((1 << 24) - 223, false), (u32::MAX, false)] {
        let program = record("end", &KoalaBear::modulus(), |machine| {
            machine.keccak_f(offset);
            machine.return_word(machine.small(1));
        });
        match verify(&program) {
            Ok(()) => assert!(fits, "{offset}"),
            Err(error) => assert!(!fits && error.to_string().contains(&format!("byte {offset}")), "{error}"),
        }
    }
}

#[test]
fn elements_have_an_end_as_scratch_memory_has() {
    for (offset, fits) in [(28, true), (29, false), ((1 << 24) - 4, false)] {
        let record = |text: fn(&residue_ir::Recording<'_>, u32)| {
            record("end", &BigUint::from(97u8), move |machine| {
                machine.scratch(32);
                text(machine, offset);
                machine.return_word(machine.small(1));
            })
        };
        for program in [
            record(|machine, offset| drop(machine.take_scratch(offset, 2, 2))),
            record(|machine, offset| machine.put_scratch(offset, 2, &[machine.one(); 2])),
        ] {
            verify(&program).unwrap();
            assert_eq!(residue_ir::evaluate_within(&program, &[], 9).is_ok(), fits, "{offset}");
        }
    }
    for (offset, size_bytes, what) in [(0, 0, "0 bytes"), (0, 33, "33 bytes"), (1 << 24, 1, "end at byte")] {
        let program = record("size", &BigUint::from(97u8), |machine| {
            drop(machine.take_scratch(offset, 1, size_bytes));
        });
        assert!(verify(&program).unwrap_err().to_string().contains(what));
    }
    let program = record("size", &BigUint::from(257u16), |machine| machine.put_scratch(0, 1, &[machine.one()]));
    assert!(verify(&program).unwrap_err().to_string().contains("cannot hold"));
}

#[test]
#[should_panic(expected = "bind it")]
fn a_word_of_scratch_memory_is_not_used_after_a_change() {
    record("old", &BigUint::from(97u8), |machine| {
        machine.scratch(64);
        let old = machine.word_op(WordOp::Add, machine.scratch_word(machine.small(0)), machine.small(1));
        machine.set_scratch(machine.small(32), machine.small(7));
        machine.return_word(old);
    });
}

#[test]
fn scratch_memory_has_an_end() {
    let at = |offset: u64| {
        record("end", &BigUint::from(97u8), move |machine| {
            machine.scratch(64);
            machine.return_word(machine.scratch_word(machine.small(offset)));
        })
    };
    assert_eq!(evaluate(&at(32), &[]), Outcome::Returned(vec![0; 32]));
    assert!(residue_ir::evaluate_within(&at(33), &[], 9).unwrap_err().to_string().contains("at byte 33"));
}

#[test]
fn calldata_ends_with_zeros() {
    both!(&[1, 2], |machine| machine.return_word(machine.calldata_word(machine.small(1))), {
        Outcome::Returned([vec![2], vec![0; 31]].concat())
    });
    both!(&[1, 2], |machine| machine.return_elements(machine.parse(machine.small(1), 2), 48), {
        Outcome::Returned([vec![0; 46], vec![2, 0]].concat())
    });
    both!(&[7], |machine| machine.return_elements(machine.parse(machine.small(9), 64), 48), {
        Outcome::Returned(vec![0; 48])
    });
}

#[test]
fn montgomery_form_is_little_endian_and_reduced() {
    // 2³⁸⁴ mod p is the form of 1; calldata ends with zeros.
    let one: BigUint = (BigUint::from(1u8) << 384u32) % Bls12_381Fp::modulus();
    let two: BigUint = (&one + &one) % Bls12_381Fp::modulus();
    let [one, two] = [one, two].map(|number| number.to_bytes_le());
    assert_eq!((one.len(), two.len()), (48, 48));
    both!(
        &one,
        |machine| {
            let (value, zero) = (machine.parse_mont_le(machine.small(0)), machine.parse_mont_le(machine.small(48)));
            machine.return_mont_le([value + value, zero]);
        },
        Outcome::Returned([two, vec![0; 48]].concat())
    );
    both!(&one, |machine| machine.return_elements(machine.parse_mont_le(machine.small(0)), 48), {
        Outcome::Returned([vec![0; 47], vec![1]].concat())
    });
    let modulus = Bls12_381Fp::modulus().to_bytes_le();
    // Numbers look, and so do most revisions; EVM384 does not, so that it has no outcome.
    let program = record("unreduced", &Bls12_381Fp::modulus(), |machine| {
        machine.return_mont_le(machine.parse_mont_le(machine.small(0)));
    });
    let none = evaluate_within(&program, &modulus, u64::MAX).unwrap_err();
    assert!(matches!(none, NoOutcome::NotBelow { .. }), "{none}");
    let numbers = Numbers::<Bls12_381Fp>::new(modulus);
    numbers.return_mont_le(numbers.parse_mont_le(numbers.small(0)));
    assert_eq!(numbers.outcome(), Outcome::Failed);
}

#[test]
fn words_are_reduced() {
    // Every word is below this modulus; 97 is another matter.
    let bytes = [vec![0; 16], vec![0xff; 32]].concat();
    both!(
        &[0xff; 32],
        |machine| machine.return_elements(machine.reduce(machine.calldata_word(machine.small(0))), 48),
        Outcome::Returned(bytes)
    );
    let program = record("small", &BigUint::from(97u8), |machine| {
        machine.return_elements(machine.reduce(machine.small(1000)), 1);
    });
    assert_eq!(evaluate(&program, &[]), Outcome::Returned(vec![30]));
}

#[test]
fn hashes_are_words_and_too_long_ones_fail() {
    // FIPS 180-4: “abc”.
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let abc = (0..64).step_by(2).map(|at| u8::from_str_radix(&abc[at..at + 2], 16).unwrap()).collect();
    both!(
        b"xbc",
        |machine| {
            let a = machine.word_op(WordOp::Shl, machine.small(u64::from(b'a')), machine.small(248));
            let pieces = [
                Piece::Word { word: a, size_bytes: machine.small(1) },
                Piece::Calldata { offset: machine.small(1), size_bytes: machine.small(2) },
            ];
            machine.return_word(machine.sha256(&pieces));
        },
        Outcome::Returned(abc)
    );
    both!(
        &[],
        |machine| {
            let piece = Piece::Calldata { offset: machine.small(0), size_bytes: machine.small(1 << 27) };
            machine.return_word(machine.sha256(&[piece]));
        },
        Outcome::Failed
    );
}

#[test]
fn operations_on_constants_are_folded() {
    let program = record("folded", &BigUint::from(97u8), |machine| {
        let parsed = machine.parse(machine.small(0), 0);
        let five = machine.constant(&BigUint::from(5u8));
        let folded = (five * five - machine.one()) * machine.one() + machine.zero();
        machine.return_elements(parsed * machine.zero() + folded, 1);
    });
    assert_eq!(evaluate(&program, &[]), Outcome::Returned(vec![24]));
    let mut operations = 0;
    program.entry().body.for_each_block(&mut |block| operations += block.ops.len());
    assert_eq!(operations, 0);
}
