//! Random blocks over long and short moduli, executed instruction by instruction, and compared with their operations: a
//! test that does not know the bounds, but checks that numbers keep to them. Blocks without a plan go through memory,
//! operation by operation.

use super::backward::{Effort, Plans};
use super::block::pieces;
use super::emit::{Emitted, Instruction, Operation, number};
use super::field::{Field, word_max};
use super::places::{Ends, Form, Place};
use super::prices::Prices;
use super::schedule::schedule;
use super::terms::{KnownSigns, Terms, terms, terms_known, turned};
use foldhash::HashMap;
use num_bigint::BigUint;
use num_traits::{One, Zero};
use residue_ir::{FieldOp, text};
use residue_isa::{GasSchedule, Revision};
use residue_passes::{Slot, SlotOp};
use std::collections::BTreeSet;

/// Slots in all, constants after them.
const SLOTS: Slot = 48;
/// Slots that a block may use for spills.
const EXTRA: Slot = 64;

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % limit
    }
}

fn moduli() -> Vec<BigUint> {
    let power = |bits: u32| BigUint::one() << bits;
    vec![
        BigUint::from(97u8),
        power(31) - power(27) + 1u8,
        power(64) - power(32) + 1u8,
        power(127) - 1u8,
        power(254) - 127u8,
        power(256) - 189u8,
    ]
}

/// A block of `count` operations, with slots that are written again, and constants.
fn block(numbers: &mut Numbers, count: usize) -> Vec<SlotOp> {
    let read = |numbers: &mut Numbers| {
        let all = u64::from(SLOTS) + 3;
        let slot = numbers.below(all);
        Slot::try_from(if slot < u64::from(SLOTS) { slot } else { slot + u64::from(EXTRA) }).unwrap()
    };
    let op = |numbers: &mut Numbers| SlotOp {
        operation: [FieldOp::Mul, FieldOp::Mul, FieldOp::Add, FieldOp::Add, FieldOp::Sub][numbers.below(5) as usize],
        x: read(numbers),
        y: read(numbers),
        out: Slot::try_from(numbers.below(SLOTS.into())).unwrap(),
    };
    std::iter::repeat_with(|| numbers.below(u64::MAX)).take(count).map(|seed| op(&mut Numbers(seed | 1))).collect()
}

/// Executes the instructions as a machine would, and checks every number. Returns the stack after them.
fn carry_out(
    terms: &Terms,
    instructions: &[Instruction],
    p: &BigUint,
    memory: &mut HashMap<Slot, BigUint>,
    mut stack: Vec<BigUint>,
) -> Vec<BigUint> {
    for instruction in instructions {
        let height = stack.len();
        match *instruction {
            Instruction::Push(id) => stack.push(number(terms, id).clone()),
            Instruction::PushModulus => stack.push(p.clone()),
            Instruction::Dup(depth) => stack.push(stack[height - usize::from(depth)].clone()),
            Instruction::Swap(below) => stack.swap(height - 1, height - 1 - usize::from(below)),
            Instruction::Pop => drop(stack.pop().unwrap()),
            Instruction::Load(slot) => stack.push(memory[&slot].clone()),
            Instruction::Store(slot) => drop(memory.insert(slot, stack.pop().unwrap())),
            Instruction::Operation(operation) => {
                let (a, b) = (stack.pop().unwrap(), stack.pop().unwrap());
                let result = match operation {
                    Operation::Add => a + b,
                    Operation::Sub => {
                        assert!(a >= b, "a difference is below zero");
                        a - b
                    }
                    Operation::Mul => a * b,
                    Operation::AddMod => (a + b) % stack.pop().unwrap(),
                    Operation::MulMod => a * b % stack.pop().unwrap(),
                    Operation::Mod => a % b,
                };
                assert!(result <= word_max(), "a result is no word");
                stack.push(result);
            }
        }
    }
    stack
}

/// Orders of a state are left out whose parts weigh too much at least.
fn weighs_no_less_than_least(terms: &Terms, emitted: &Emitted, prices: &Prices) {
    let (weight, least) = (prices.weight((emitted.gas, emitted.bytes)), terms.least(prices));
    assert!(weight >= least, "{weight} is below {least}: {terms:?}");
    // Nothing is to be said of the rest, but that it is no large part.
    assert!(2 * least >= weight, "{weight} is far above {least}: {terms:?}");
}

#[test]
fn random_blocks_are_their_operations() {
    let mut blocks = 0;
    let mut plans = Plans::default();
    for (seed, p) in (0..10u64).flat_map(|seed| moduli().into_iter().map(move |p| (seed, p))) {
        let mut numbers = Numbers((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let ops = block(&mut numbers, 10 + 12 * seed as usize);
        let constants = [BigUint::zero(), BigUint::from(3u8) % &p, &p - 1u8];
        let kept: BTreeSet<Slot> = ops.iter().map(|op| op.out).filter(|_| numbers.below(3) > 0).collect();
        let first_constant = SLOTS + EXTRA;
        let own: BTreeSet<Slot> = ops.iter().map(|op| op.out).chain(SLOTS..SLOTS + EXTRA).collect();
        let bytes_a_gas = [Prices::GAS_ALONE, 4][seed as usize % 2];
        let prices = Prices { bytes_a_gas, ..Prices::default() };
        let field = Field::Known(p.clone());
        // As they are found to be best, and as chance has it.
        let best = terms(&ops, &kept, &field, (first_constant, &constants), None);
        let turned = turned(&ops, &kept, &field, (first_constant, &constants), None, || numbers.below(2) > 0);
        for (terms, looks_back) in [(best, 2), (turned, 0)] {
            let found = schedule(&terms, &own, &prices, &mut Plans::default(), Effort::Whole);
            // What is remembered of other blocks, and of this one, changes nothing.
            for _ in 0..looks_back {
                let again = schedule(&terms, &own, &prices, &mut plans, Effort::Whole);
                let instructions =
                    |emitted: &Option<Emitted>| emitted.as_ref().map(|emitted| emitted.instructions.clone());
                assert_eq!(instructions(&again), instructions(&found), "seed {seed}, p = {p}");
            }
            let Some(emitted) = found else { continue };
            weighs_no_less_than_least(&terms, &emitted, &prices);
            // The largest numbers come nearest to the bounds.
            for largest in [true, false] {
                let value = |numbers: &mut Numbers| {
                    if largest { &p - 1u8 } else { BigUint::from(numbers.below(u64::MAX)) % &p }
                };
                let before: HashMap<Slot, BigUint> = (0..SLOTS).map(|slot| (slot, value(&mut numbers))).collect();
                let mut memory = before.clone();
                let expected = after(&ops, before, first_constant, &constants, &p);
                let left = carry_out(&terms, &emitted.instructions, &p, &mut memory, Vec::new());
                assert!(left.is_empty());
                for slot in 0..SLOTS {
                    let is_free = own.contains(&slot) && !kept.contains(&slot);
                    assert!(is_free || memory[&slot] == expected[&slot], "seed {seed}, p = {p}, slot {slot}");
                }
            }
            blocks += 1;
        }
    }
    println!("{blocks} of 120 blocks have a plan");
    assert!(blocks > 110, "{blocks}");
}

/// Words with no bound but a modulus that is given, which may be hardly above the constants.
#[test]
fn blocks_over_given_moduli_are_their_operations() {
    let constants = [0u8, 1, 2].map(BigUint::from);
    let first_constant = SLOTS + EXTRA;
    let mut blocks = 0;
    for seed in 0..200u64 {
        let mut numbers = Numbers((seed + 71).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut ops = block(&mut numbers, 12);
        for operand in ops.iter_mut().flat_map(|op| [&mut op.x, &mut op.y]) {
            if numbers.below(2) > 0 {
                *operand = first_constant + Slot::try_from(numbers.below(3)).unwrap();
            } else if numbers.below(2) > 0 {
                // Few slots, so that operations read what others wrote.
                *operand %= 4;
            }
        }
        ops.iter_mut().for_each(|op| op.out %= 4);
        // Differences of constants add up where nothing is multiplied, and where few of them are kept.
        let is_linear = seed % 2 > 0;
        ops.iter_mut()
            .filter(|op| is_linear && op.operation == FieldOp::Mul)
            .for_each(|op| op.operation = FieldOp::Sub);
        let kept: BTreeSet<Slot> = ops[if is_linear { 11 } else { 0 }..].iter().map(|op| op.out).collect();
        let own: BTreeSet<Slot> = ops.iter().map(|op| op.out).chain(SLOTS..SLOTS + EXTRA).collect();
        let prices = Prices { loads_modulus: true, ..Prices::default() };
        let best = terms(&ops, &kept, &Field::Given, (first_constant, &constants), None);
        let turned = turned(&ops, &kept, &Field::Given, (first_constant, &constants), None, || numbers.below(2) > 0);
        for terms in [best, turned] {
            let Some(emitted) = schedule(&terms, &own, &prices, &mut Plans::default(), Effort::Whole) else { continue };
            for p in [BigUint::from(3u8), BigUint::from(5u8), BigUint::from(97u8), word_max()] {
                let before: HashMap<Slot, BigUint> =
                    (0..SLOTS).map(|slot| (slot, &p - 1u8 - BigUint::from(numbers.below(3)))).collect();
                let mut memory = before.clone();
                let expected = after(&ops, before, first_constant, &constants, &p);
                assert!(carry_out(&terms, &emitted.instructions, &p, &mut memory, Vec::new()).is_empty());
                for slot in &kept {
                    assert_eq!(memory[slot], expected[slot], "seed {seed}, p = {p}, slot {slot}");
                }
            }
            blocks += 1;
        }
    }
    assert!(blocks > 350, "{blocks} of 400 blocks have a plan");
}

/// A constant that a slot keeps is a word, and twice 2 is above the least modulus that may be given: p less it would be below 0.
#[test]
fn sums_of_kept_constants_are_no_more_than_a_given_modulus() {
    let kept = r#"
program "kept" modulus 0x1000000000000000000000000000000000000000000000061
subprogram p0 "inner" modulus given limbs 4 {
  constant c0 = 0x1
  constant c1 = 0x2
  function f0 "start" () -> () values 4 {
    word w0 = calldata_size
    block {
      v0 = add c0 c0
      v1 = add v0 v0
      v2 = sub c0 v1
    }
    branch w0 { give (c1) } else { give (v0) } -> (v3)
    return_elements (v3 v2) bytes 32
  }
}
function f0 "start" () -> () values 0 {
  word w0 = 0x3
  enter p0 (w0)
}
"#;
    let program = text::parse(kept).unwrap();
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    crate::compile(&program, Revision::Evm, &schedule).unwrap();
}

/// A block of any length is cut for plans: the slots after a piece are those before the next one.
#[test]
fn pieces_of_a_block_are_the_block() {
    let mut pieces_planned = 0;
    for (seed, p) in (0..6u64).flat_map(|seed| moduli().into_iter().map(move |p| (seed, p))) {
        let mut numbers = Numbers((seed + 31).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let ops = block(&mut numbers, 20 + 9 * seed as usize);
        let constants = [BigUint::zero(), BigUint::from(3u8) % &p, &p - 1u8];
        let kept: BTreeSet<Slot> = ops.iter().map(|op| op.out).filter(|_| numbers.below(3) > 0).collect();
        let first_constant = SLOTS + EXTRA;
        let prices = Prices::default();
        let before: HashMap<Slot, BigUint> =
            (0..SLOTS).map(|slot| (slot, BigUint::from(numbers.below(u64::MAX)) % &p)).collect();
        let mut memory = before.clone();
        let mut cut = Vec::new();
        for (piece, kept) in pieces(&ops, &kept, 7) {
            cut.extend_from_slice(piece);
            let own = piece.iter().map(|op| op.out).chain(SLOTS..SLOTS + EXTRA).collect();
            let terms = terms(piece, &kept, &Field::Known(p.clone()), (first_constant, &constants), None);
            let emitted = schedule(&terms, &own, &prices, &mut Plans::default(), Effort::Whole).unwrap();
            assert!(carry_out(&terms, &emitted.instructions, &p, &mut memory, Vec::new()).is_empty());
            pieces_planned += 1;
        }
        assert_eq!(cut, ops);
        let expected = after(&ops, before, first_constant, &constants, &p);
        for slot in &kept {
            assert_eq!(memory[slot], expected[slot], "seed {seed}, p = {p}, slot {slot}");
        }
    }
    assert!(pieces_planned > 150, "{pieces_planned}");
}

/// Slots after the operations.
fn after(
    ops: &[SlotOp],
    mut slots: HashMap<Slot, BigUint>,
    first_constant: Slot,
    constants: &[BigUint],
    p: &BigUint,
) -> HashMap<Slot, BigUint> {
    slots.extend((first_constant..).zip(constants.iter().cloned()));
    for op in ops {
        let (x, y) = (&slots[&op.x], &slots[&op.y]);
        let result = match op.operation {
            FieldOp::Add => x + y,
            FieldOp::Sub => x + p - y,
            FieldOp::Mul => x * y,
        };
        slots.insert(op.out, result % p);
    }
    slots
}

/// Ends of a block by chance: values of slots in any form and order, numbers below them or not, and where control goes next.
fn ends(numbers: &mut Numbers, ops: &[SlotOp], p: &BigUint) -> Ends {
    let largest = (1..=4u32).rev().find(|&multiples| p * multiples <= word_max()).unwrap_or(1);
    let mut form = || Form {
        multiples: 1 + u32::try_from(numbers.below(largest.into())).unwrap(),
        is_negative: numbers.below(2) > 0,
    };
    let forms: Vec<Form> = (0..6).map(|_| form()).collect();
    let mut below: Vec<Place> =
        [Place::Number(p * 2u8), Place::Modulus].into_iter().filter(|_| numbers.below(2) > 0).collect();
    below.retain(|place| !matches!(place, Place::Number(number) if *number > word_max()));
    let mut state = |slots: Vec<Slot>, forms: &[Form]| -> Vec<Place> {
        let mut slots: Vec<Slot> = slots.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        (1..slots.len()).for_each(|at| slots.swap(at, usize::try_from(numbers.below(at as u64 + 1)).unwrap()));
        let values = slots.into_iter().zip(forms).map(|(slot, &form)| Place::Value(slot, form));
        below.iter().cloned().chain(values).collect()
    };
    let last = |count: usize| ops.iter().rev().map(|op| op.out).take(count).collect::<Vec<_>>();
    // Some are read, some are left as they were, some are dropped.
    let before: Vec<Slot> = ops.iter().map(|op| op.x).filter(|&slot| slot < SLOTS).take(3).collect();
    let entry = state(before.clone(), &forms);
    let exit = state([last(2), before[..1].to_vec()].concat(), &forms[3..]);
    Ends { entry: [vec![Place::Next], entry].concat(), exit: [exit, vec![Place::Next]].concat() }
}

/// A word for a value: the largest that its form allows, or the smallest.
fn held(value: &BigUint, form: Form, p: &BigUint, is_largest: bool) -> BigUint {
    let least = if form.is_negative { (p - value) % p } else { value.clone() };
    let room = (form.most(p) - &least) / p;
    if is_largest { least + room * p } else { least }
}

#[test]
fn random_blocks_with_words_on_the_stack_are_their_operations() {
    let mut blocks = 0;
    for (seed, p) in (0..12u64).flat_map(|seed| moduli().into_iter().map(move |p| (seed, p))) {
        let mut numbers = Numbers((seed + 77).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let ops = block(&mut numbers, 6 + 4 * seed as usize);
        let constants = [BigUint::zero(), BigUint::from(3u8) % &p, &p - 1u8];
        let kept = BTreeSet::new();
        let first_constant = SLOTS + EXTRA;
        let own: BTreeSet<Slot> = ops.iter().map(|op| op.out).chain(SLOTS..SLOTS + EXTRA).collect();
        let prices = Prices { bytes_a_gas: [Prices::GAS_ALONE, 16][seed as usize % 2], ..Prices::default() };
        let field = Field::Known(p.clone());
        let ends = ends(&mut numbers, &ops, &p);
        let best = terms(&ops, &kept, &field, (first_constant, &constants), Some(&ends));
        let turned = turned(&ops, &kept, &field, (first_constant, &constants), Some(&ends), || numbers.below(2) > 0);
        for terms in [best, turned] {
            let Some(emitted) = Plans::default().plan(&terms, &own, &prices, Effort::Whole) else { continue };
            weighs_no_less_than_least(&terms, &emitted, &prices);
            for largest in [true, false] {
                let before: HashMap<Slot, BigUint> = (0..SLOTS)
                    .map(|slot| (slot, if largest { &p - 1u8 } else { BigUint::from(numbers.below(u64::MAX)) % &p }))
                    .collect();
                let next = BigUint::from(0x1234u32);
                let word = |place: &Place, slots: &HashMap<Slot, BigUint>| match place {
                    Place::Next => next.clone(),
                    Place::Modulus => p.clone(),
                    Place::Number(number) => number.clone(),
                    Place::Value(slot, form) => held(&slots[slot], *form, &p, largest),
                };
                let stack = ends.entry.iter().map(|place| word(place, &before)).collect();
                // Slots whose values lie on the stack hold nothing.
                let mut memory = before.clone();
                memory.retain(|&slot, _| ends.before(slot).is_none());
                let left = carry_out(&terms, &emitted.instructions, &p, &mut memory, stack);
                let expected = after(&ops, before, first_constant, &constants, &p);
                assert_eq!(left.len(), ends.exit.len(), "seed {seed}, p = {p}");
                for (found, place) in left.iter().zip(&ends.exit) {
                    let Place::Value(slot, form) = place else {
                        assert_eq!(*found, word(place, &expected), "seed {seed}, p = {p}");
                        continue;
                    };
                    assert!(*found <= form.most(&p), "seed {seed}, p = {p}, slot {slot}");
                    assert_eq!(
                        found % &p,
                        held(&expected[slot], *form, &p, false),
                        "seed {seed}, p = {p}, slot {slot}"
                    );
                }
            }
            blocks += 1;
        }
    }
    println!("{blocks} of 144 blocks have a plan");
    assert!(blocks > 120, "{blocks}");
}

/// Signs that were found for words below other bounds, on other sides of p or in another order change no words.
#[test]
fn signs_that_are_remembered_change_no_words() {
    let mut blocks = 0;
    for p in moduli() {
        let mut known = KnownSigns::default();
        for seed in 0..8u64 {
            let mut numbers = Numbers((seed + 177).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let ops = block(&mut numbers, 6 + 4 * seed as usize);
            let constants = [BigUint::zero(), BigUint::from(3u8) % &p, &p - 1u8];
            let constants = (SLOTS + EXTRA, &constants[..]);
            let (kept, field) = (BTreeSet::new(), Field::Known(p.clone()));
            let first = ends(&mut numbers, &ops, &p);
            for way in 0..12u32 {
                let turned = |place: &Place| match *place {
                    Place::Value(slot, form) => {
                        let multiples = if way % 3 == 0 { 1 } else { form.multiples };
                        let is_negative = form.is_negative ^ (slot >> (way % 4) & 1 == 1);
                        Place::Value(slot, Form { multiples, is_negative })
                    }
                    ref place => place.clone(),
                };
                let mut ends = Ends {
                    entry: first.entry.iter().map(turned).collect(),
                    exit: first.exit.iter().map(turned).collect(),
                };
                if way % 2 == 1 {
                    ends.entry.reverse();
                }
                let made = |known: &mut KnownSigns| {
                    let Terms { nodes, outputs, entry, exit } =
                        terms_known(&ops, &kept, &field, constants, Some(&ends), known);
                    (nodes, outputs, entry, exit)
                };
                assert_eq!(made(&mut known), made(&mut KnownSigns::default()), "seed {seed}, p = {p}, {ends:?}");
                blocks += 1;
            }
        }
    }
    assert_eq!(blocks, 576);
}
