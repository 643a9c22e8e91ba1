//! Random blocks over wide fields, carried out on extreme words and compared with their operations; and mistakes put into code, which the judge finds.

use super::calls::{Calls, Counts};
use super::emission::Emission;
use super::emit::{self, Memory, Way};
use super::read::{self, Text, targets};
use super::sums::Source;
use super::system::{Constant, POWER, Residue, System};
use crate::carry_out::carry_out_to;
use crate::words::read::Elements;
use num_bigint::BigUint;
use num_integer::Integer as _;
use num_traits::{One, Zero};
use residue_ir::FieldOp;
use residue_isa::assembly::Assembly;
use residue_isa::opcode::evm;
use residue_isa::{Fork, Revision};
use residue_passes::{Slot, SlotOp};
use std::collections::{BTreeMap, BTreeSet};

/// Slots in all.
const SLOTS: Slot = 12;
/// Slots after them that a block may use.
const SPARE: Slot = 16;
/// The address of slot 0.
const BASE: u32 = 64;

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % limit
    }

    fn number(&mut self, below: &BigUint) -> BigUint {
        let digits: Vec<u32> = (0..26).map(|_| self.below(1 << 32) as u32).collect();
        BigUint::new(digits) % below
    }
}

fn power(bits: u32) -> BigUint {
    BigUint::one() << bits
}

fn p384() -> BigUint {
    power(384) - power(128) - power(96) + power(32) - 1u8
}

fn p521() -> BigUint {
    power(521) - 1u8
}

/// The least and the greatest width of each system, fields in use, and composites.
fn moduli() -> Vec<BigUint> {
    let bls = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
    let bls = BigUint::parse_bytes(bls.as_bytes(), 16).unwrap();
    // Multiples that constants make keep their inverses: the judge may refuse right code where they have none.
    let is_good = |p: &BigUint| System::new(p).is_ok() && p.gcd(&15u8.into()).is_one();
    let odd = |least: BigUint| (0..).map(|step: u32| &least + 2 * step).find(is_good).unwrap();
    let widths = [(256, 390), (390, 430), (430, 521), (521, 768)];
    let ends = widths.iter().flat_map(|&(least, most)| [power(least) + 1u8, power(most) - 99u8]);
    [bls, p384(), p521()].into_iter().chain(ends.map(odd)).collect()
}

/// A field of each number of moduli in a base.
fn each_count() -> [BigUint; 3] {
    let last = (0u32..)
        .map(|step| power(761) - 99u8 - 2 * step)
        .find(|p| System::new(p).is_ok() && p.gcd(&15u8.into()).is_one());
    [p384(), p521(), last.expect("most numbers are such")]
}

/// A block with its surroundings.
struct Case {
    system: System,
    constants: Vec<BigUint>,
    ops: Vec<SlotOp>,
    kept: BTreeSet<Slot>,
    memory: Memory,
    /// True if constants lie on the stack and subroutines make results.
    is_short: bool,
}

impl Case {
    fn new(p: &BigUint, ops: Vec<SlotOp>, kept: BTreeSet<Slot>, is_short: bool) -> Self {
        let constants = vec![BigUint::ZERO, 1u8.into(), 3u8.into(), p - 1u8, p - 5u8, p / 7u8];
        let system = System::new(p).unwrap();
        let memory = Memory { base: BASE, value_bytes: system.value_bytes(), spare: SLOTS..SLOTS + SPARE };
        Self { system, constants, ops, kept, memory, is_short }
    }

    fn source(&self) -> Source<'_> {
        Source {
            ops: &self.ops,
            kept: &self.kept,
            first_constant: SLOTS + SPARE,
            constants: &self.constants,
            system: &self.system,
        }
    }

    /// The code, and where the block in it ends.
    fn code(&self) -> (Vec<u8>, usize) {
        let p = &self.system.p;
        let mut counts = Counts::new();
        let written = |counts: &mut Counts, is_called| {
            let mut code = Assembly::for_fork(Fork::Osaka);
            let calls = Calls::new(&self.system, &self.memory, counts, &mut code);
            let way = Way {
                holds_constants: self.is_short,
                calls: Some(&calls),
                is_called,
                is_regular: is_called,
                is_rare: is_called && self.ops.len().is_multiple_of(8),
            };
            emit::block(&mut code, &self.source(), &self.memory, way);
            let end = code.new_label();
            code.label(end);
            calls.write(&mut code);
            calls.report(p, counts);
            let code = code.assemble(Revision::Evm).unwrap();
            (code.bytes, code.labels[&end])
        };
        let long = written(&mut counts, false);
        if !self.is_short {
            return long;
        }
        // Each shape is worth a subroutine.
        counts.values_mut().for_each(|uses| *uses += 100);
        written(&mut counts, true)
    }

    fn constant(&self, slot: Slot) -> Option<&BigUint> {
        self.constants.get(slot.checked_sub(SLOTS + SPARE)? as usize)
    }

    fn judge(&self, (code, end): (&[u8], usize)) -> Result<(), String> {
        let mut elements = Elements::bare(&self.system.p);
        let mut of: Vec<_> = (0..SLOTS).map(|_| elements.fresh()).collect();
        let address = |slot| self.memory.address(slot);
        let before = (0..SLOTS).map(|slot| (address(slot), of[slot as usize])).collect();
        for op in &self.ops {
            let [x, y] = [op.x, op.y].map(|slot| match self.constant(slot) {
                Some(constant) => elements.constant(constant),
                None => of[slot as usize],
            });
            of[op.out as usize] = elements.operation(op.operation, x, y);
        }
        let written: BTreeSet<Slot> = self.ops.iter().map(|op| op.out).collect();
        let through = (0..SLOTS).filter(|slot| !written.contains(slot));
        let after = self.kept.iter().copied().chain(through).map(|slot| (address(slot), of[slot as usize])).collect();
        let own = written.iter().copied().chain(SLOTS..SLOTS + SPARE).map(address).collect();
        let places = read::Places { base: BASE, before, own, after };
        let text = Text { code, targets: &targets(code), block: 0..end };
        read::check(&self.system, &mut elements, &places, &text).map(drop)
    }

    /// Slots that hold integers up to the greatest, with words up to the greatest: all of them, or by chance.
    fn memory(&self, numbers: &mut Numbers, is_extreme: bool) -> BTreeMap<BigUint, BigUint> {
        let mut memory = BTreeMap::new();
        let most = self.system.integer_max();
        for slot in 0..SLOTS {
            let integer = match numbers.below(4) {
                _ if is_extreme => most.clone(),
                0 => &self.system.p * numbers.below(65),
                1 => BigUint::from(numbers.below(2)),
                _ => numbers.number(&most),
            };
            for (place, &residue) in self.system.residues().iter().enumerate() {
                let (modulus, limit) = (self.system.modulus(residue), self.system.word_max(residue));
                let least = &integer % &modulus;
                let times = (&limit - &least) / &modulus;
                let times = if is_extreme { times } else { numbers.number(&(times + 1u8)) };
                memory.insert(self.memory.word(slot, place).into(), least + times * modulus);
            }
        }
        memory
    }

    /// The integer of a slot, if its words are those of one up to the greatest.
    fn integer(&self, memory: &BTreeMap<BigUint, BigUint>, slot: Slot) -> Option<BigUint> {
        let (mut integer, mut product) = (BigUint::ZERO, BigUint::one());
        for (place, &residue) in self.system.residues().iter().enumerate() {
            let word = &memory[&BigUint::from(self.memory.word(slot, place))];
            let modulus = self.system.factor(residue);
            if *word > self.system.word_max(residue) {
                return None;
            }
            let step = (word + modulus - &integer % modulus) * product.modinv(modulus)? % modulus;
            integer += step * &product;
            product *= modulus;
        }
        Some(integer).filter(|integer| *integer <= self.system.integer_max())
    }

    /// True if code leaves the operations' results in every kept slot, and other slots as they were.
    fn is_right(&self, (code, end): (&[u8], usize), memory: &BTreeMap<BigUint, BigUint>) -> bool {
        let p = &self.system.p;
        let over = self.system.a.modinv(p).unwrap();
        let element = |memory: &BTreeMap<_, _>, slot| Some(self.integer(memory, slot)? * &over % p);
        let mut values: Vec<BigUint> = (0..SLOTS).map(|slot| element(memory, slot).unwrap()).collect();
        for op in &self.ops {
            let [x, y] = [op.x, op.y].map(|slot| self.constant(slot).unwrap_or_else(|| &values[slot as usize]));
            let result = match op.operation {
                FieldOp::Add => x + y,
                FieldOp::Sub => x + p - y,
                FieldOp::Mul => x * y,
            };
            values[op.out as usize] = result % p;
        }
        let written: BTreeSet<Slot> = self.ops.iter().map(|op| op.out).collect();
        let Some((after, stack)) = carry_out_to(code, end, memory.clone(), Vec::new()) else { return false };
        let checked = (0..SLOTS).filter(|slot| self.kept.contains(slot) || !written.contains(slot));
        let is_as_wanted = |slot: Slot| element(&after, slot).as_ref() == Some(&values[slot as usize]);
        stack.is_empty() && checked.into_iter().all(is_as_wanted)
    }
}

/// `count` random operations; some read constants.
fn operations(numbers: &mut Numbers, count: usize) -> Vec<SlotOp> {
    let read = |numbers: &mut Numbers| match numbers.below(8) {
        0 => SLOTS + SPARE + numbers.below(6) as Slot,
        _ => numbers.below(SLOTS.into()) as Slot,
    };
    let mut op = || SlotOp {
        operation: [FieldOp::Mul, FieldOp::Mul, FieldOp::Add, FieldOp::Add, FieldOp::Sub][numbers.below(5) as usize],
        x: read(numbers),
        y: read(numbers),
        out: numbers.below(SLOTS.into()) as Slot,
    };
    (0..count).map(|_| op()).collect()
}

#[test]
fn random_blocks_are_their_operations() {
    for (seed, p) in (0..24u64).flat_map(|seed| moduli().into_iter().map(move |p| (seed, p))) {
        let mut numbers = Numbers((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let ops = operations(&mut numbers, 1 + 3 * seed as usize);
        let kept = ops.iter().map(|op| op.out).filter(|_| numbers.below(3) > 0).collect();
        let case = Case::new(&p, ops, kept, seed % 2 == 1);
        let (code, end) = case.code();
        let code = (&code[..], end);
        assert_eq!(case.judge(code), Ok(()), "seed {seed}, p = {p:#x}, {:?}", case.ops);
        for is_extreme in [true, false, false] {
            let memory = case.memory(&mut numbers, is_extreme);
            assert!(case.is_right(code, &memory), "seed {seed}, p = {p:#x}, extreme {is_extreme}");
        }
    }
}

/// (a₀ + a₁)·(b₀ + b₁) − a₀·b₀ − a₁·b₁: terms cancel after expansion, so no multiple of p·A has to be added.
#[test]
fn products_that_cancel_are_not_below_zero() {
    let ops = vec![
        op(FieldOp::Mul, 0, 2, 4),
        op(FieldOp::Mul, 1, 3, 5),
        op(FieldOp::Add, 0, 1, 6),
        op(FieldOp::Add, 2, 3, 7),
        op(FieldOp::Mul, 6, 7, 8),
        op(FieldOp::Sub, 8, 4, 8),
        op(FieldOp::Sub, 8, 5, 8),
    ];
    let case = Case::new(&p384(), ops, BTreeSet::from([8]), false);
    let (code, end) = case.code();
    assert_eq!(case.judge((&code, end)), Ok(()));
    assert!(case.is_right((&code, end), &case.memory(&mut Numbers(9), true)));
}

/// Five times a sum is a factor, over a modulus that five divides.
#[test]
fn multiples_without_an_inverse_are_read_back() {
    let p = (0u32..)
        .map(|step| power(390) - 99u8 - 2 * step)
        .find(|p| (p % 5u8).is_zero() && System::new(p).is_ok())
        .unwrap();
    let ops = vec![
        op(FieldOp::Add, 0, 1, 3),
        op(FieldOp::Mul, 3, SLOTS + SPARE + 4, 3),
        op(FieldOp::Mul, 3, 2, 4),
        op(FieldOp::Mul, 4, 4, 5),
    ];
    let case = Case::new(&p, ops, BTreeSet::from([4, 5]), false);
    let (code, end) = case.code();
    assert_eq!(case.judge((&code, end)), Ok(()));
}

/// An operation on slots.
fn op(operation: FieldOp, x: Slot, y: Slot, out: Slot) -> SlotOp {
    SlotOp { operation, x, y, out }
}

/// (x − y)·z + 3·x·y − z, and a difference that is kept.
fn small_case(p: &BigUint, is_short: bool) -> Case {
    let three = SLOTS + SPARE + 2;
    let ops = vec![
        op(FieldOp::Sub, 0, 1, 3),
        op(FieldOp::Mul, 3, 2, 4),
        op(FieldOp::Mul, 0, 1, 5),
        op(FieldOp::Mul, 5, three, 5),
        op(FieldOp::Add, 4, 5, 6),
        op(FieldOp::Sub, 6, 2, 6),
        op(FieldOp::Sub, 7, 6, 8),
    ];
    Case::new(p, ops, BTreeSet::from([6, 8]), is_short)
}

/// Every turned bit that makes another value, or one beyond the bounds between blocks, is found: opcodes, constants of
/// the reduction, addresses.
#[test]
fn every_turned_bit_that_matters_is_found() {
    for (p, is_short) in each_count().into_iter().flat_map(|p| [(p.clone(), false), (p, true)]) {
        let case = small_case(&p, is_short);
        let (code, end) = case.code();
        assert_eq!(case.judge((&code, end)), Ok(()));
        let mut numbers = Numbers(7);
        let memories = [true, false].map(|is_extreme| case.memory(&mut numbers, is_extreme));
        let (mut found, mut harmless) = (0, 0);
        // Each bit where all stands in place, each fifth where there are subroutines or the code is long.
        let every = if is_short || case.system.count() > 2 { 5 } else { 1 };
        for (at, bit) in (0..code.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))).step_by(every) {
            let mut changed = code.clone();
            changed[at] ^= 1 << bit;
            let is_right = memories.iter().all(|memory| case.is_right((&changed, end), memory));
            match case.judge((&changed, end)) {
                Err(_) => found += 1,
                Ok(()) if is_right => harmless += 1,
                Ok(()) => panic!("bit {bit} of byte {at} is not found"),
            }
        }
        assert!(found > 2000 / every && harmless < found / 50, "{found} found, {harmless} harmless");
    }
}

/// Code that is a block.
fn whole(code: &[u8]) -> (&[u8], usize) {
    (code, code.len())
}

/// Code with another number where it pushes this one.
fn with_other(code: &[u8], number: &BigUint, other: &BigUint) -> Vec<u8> {
    let [digits, changed] = [number, other].map(|number| number.to_bytes_be());
    assert!(digits.len() >= changed.len(), "{other:#x} has room where {number:#x} is");
    let changed = [vec![0; digits.len() - changed.len()], changed].concat();
    let places: Vec<usize> = (0..code.len() - digits.len()).filter(|&at| code[at..].starts_with(&digits)).collect();
    assert!(!places.is_empty(), "{number:#x} is in the code");
    let mut code = code.to_vec();
    for at in places {
        code[at..at + changed.len()].copy_from_slice(&changed);
    }
    code
}

/// Calls: the address where one returns, one of another subroutine, operands in another order, and an end of a subroutine that goes elsewhere are all found.
#[test]
fn mistakes_in_calls_are_found() {
    // x·y and (x − y)·z.
    let mut ops = Vec::new();
    for out in 4..8 {
        ops.extend([
            op(FieldOp::Mul, 0, 1, out),
            op(FieldOp::Sub, 8, 9, out + 4),
            op(FieldOp::Mul, out + 4, 2, out + 4),
        ]);
    }
    let case = Case::new(&p384(), ops, (4..12).collect(), true);
    let (code, end) = case.code();
    assert_eq!(case.judge((&code, end)), Ok(()));
    let targets: Vec<usize> = targets(&code).into_iter().collect();
    let (returns, subroutines) = targets.split_at(targets.partition_point(|&at| at < end));
    assert!(returns.len() >= 8 && subroutines.len() >= 2, "{targets:?}");
    let memory = case.memory(&mut Numbers(11), false);
    assert!(case.is_right((&code, end), &memory));
    let mut found = 0;
    for at in 0..code.len() - 3 {
        let pushed = usize::from(code[at + 1]) << 8 | usize::from(code[at + 2]);
        if code[at] != evm::PUSH1 + 1 || !targets.contains(&pushed) {
            continue;
        }
        for other in targets.iter().copied().filter(|&other| other != pushed).chain([end - 1, pushed + 1]) {
            let mut changed = code.clone();
            changed[at + 1..at + 3].copy_from_slice(&(other as u16).to_be_bytes());
            match case.judge((&changed, end)) {
                Ok(()) => assert!(case.is_right((&changed, end), &memory), "{pushed} at {at} made {other}"),
                Err(_) => found += 1,
            }
        }
    }
    assert!(found > 40, "{found}");
    // Operands: two addresses that are pushed one after the other, exchanged.
    let mut found = 0;
    for at in (0..end - 6).filter(|&at| code[at] == evm::PUSH1 + 1 && code[at + 3] == evm::PUSH1 + 1) {
        let mut changed = code.clone();
        changed[at + 1..at + 3].copy_from_slice(&code[at + 4..at + 6]);
        changed[at + 4..at + 6].copy_from_slice(&code[at + 1..at + 3]);
        match case.judge((&changed, end)) {
            Ok(()) => assert!(case.is_right((&changed, end), &memory), "exchanged at {at}"),
            Err(_) => found += 1,
        }
    }
    assert!(found >= 4, "{found}");
}

/// Each constant of a reduction, made one greater, is found.
#[test]
fn another_constant_is_found() {
    for p in each_count() {
        // Without a difference, with whose constant C would be one.
        let case = Case::new(&p, vec![op(FieldOp::Mul, 0, 1, 4)], BTreeSet::from([4]), false);
        let (code, end) = case.code();
        for (constant, number) in case.system.constants() {
            let changed = with_other(&code, number, &(number + 1u8));
            assert!(case.judge((&changed, end)).is_err(), "{constant:?}");
        }
    }
}

/// The greatest words and integers: a multiple of the modulus less in front of a difference, and a multiple of p·A less under a sum that may be below zero, make wrong
/// results of them, and are found.
#[test]
fn bounds_hold_to_their_edges() {
    let found: usize = each_count().iter().map(bounds_hold).sum();
    assert!(found >= 3, "{found} digits that may be more than what they are taken from");
}

/// The same for a modulus; the number of digits that may be more than what they are taken from.
fn bounds_hold(p: &BigUint) -> usize {
    let case = Case::new(p, vec![op(FieldOp::Sub, 0, 1, 2), op(FieldOp::Mul, 2, 3, 4)], BTreeSet::from([4]), false);
    let (code, end) = case.code();
    assert_eq!(case.judge((&code, end)), Ok(()));
    // A slot with the words of an integer, of which one is as large as may be.
    let with = |slot: Slot, integer: &BigUint, largest: Option<Residue>, memory: &mut BTreeMap<BigUint, BigUint>| {
        for (place, &residue) in case.system.residues().iter().enumerate() {
            let word = match largest {
                Some(largest) if largest == residue => case.system.word_max(residue),
                _ => integer % case.system.modulus(residue),
            };
            memory.insert(case.memory.word(slot, place).into(), word);
        }
    };
    let mut memory = case.memory(&mut Numbers(3), true);
    with(0, &BigUint::ZERO, None, &mut memory);
    assert!(case.is_right((&code, end), &memory));
    for &residue in case.system.residues().iter().filter(|&&residue| residue != POWER) {
        let (modulus, limit) = (case.system.modulus(residue), case.system.word_max(residue));
        let mut memory = memory.clone();
        with(1, &(&limit % &modulus), Some(residue), &mut memory);
        assert!(case.is_right((&code, end), &memory));
        let above = limit.div_ceil(&modulus) * &modulus;
        let changed = with_other(&code, &above, &(&above - modulus));
        assert!(!case.is_right((&changed, end), &memory), "{residue:?}");
        assert!(case.judge((&changed, end)).is_err(), "{residue:?}");
    }
    let mut found = 0;
    for number in 0..case.system.count() {
        // Without the multiple of p that keeps r from being below zero; what keeps r − u₀ from it is added with it.
        let modulus = case.system.modulus(Residue::B(number));
        let above = if number > 0 { case.system.constant(Constant::Above(number)).clone() } else { BigUint::ZERO };
        let offset = &case.system.p % &modulus + &above;
        let changed = with_other(&code, &offset, &(&offset - 1u8));
        assert!(!case.is_right((&changed, end), &memory) && case.judge((&changed, end)).is_err(), "{number}");
        // So many multiples of the modulus less that u₀ may be more than r, unless the multiple of p is beyond it alone.
        let rest = &offset - &above;
        if number > 0 && rest < case.system.modulus(Residue::B(0)) {
            let changed = with_other(&code, &offset, &rest);
            assert!(case.judge((&changed, end)).is_err(), "{number}");
            found += 1;
        }
    }
    found
}

/// Sums of the last length that a word holds, and that leave a result which a slot holds, are right on the greatest words; those of the next length are refused.
#[test]
fn sums_of_the_last_length_are_the_last() {
    each_count().iter().for_each(last_sums);
}

fn last_sums(p: &BigUint) {
    let case_of = |times: u64| {
        let constant = SLOTS + SPARE + 6;
        let ops = vec![op(FieldOp::Mul, 0, 1, 2), op(FieldOp::Mul, 2, constant, 2)];
        let mut case = Case::new(p, ops, BTreeSet::from([2]), false);
        case.constants.push(times.into());
        case
    };
    // (inner·x)·y, reduced modulo each modulus, and that `outer` times.
    let code = |case: &Case, inner: u64, outer: u64| {
        let (mut code, memory) = (Assembly::for_fork(Fork::Osaka), &case.memory);
        let mut e = Emission::new(&case.system, &mut code);
        let total = |e: &mut Emission<'_>, residue| {
            e.push(outer);
            e.modulus(residue);
            e.push(inner);
            e.load(memory.word(0, case.system.place(residue)));
            e.op(evm::MUL, 2);
            e.load(memory.word(1, case.system.place(residue)));
            match residue {
                POWER => e.op(evm::MUL, 2),
                _ => e.op(evm::MULMOD, 3),
            }
            e.op(evm::MUL, 2);
            e.raise(residue);
        };
        e.reduced(1, total, |e, residue| e.store(memory.word(2, case.system.place(residue))));
        code.assemble(Revision::Evm).unwrap().bytes
    };
    let system = System::new(p).unwrap();
    let largest = |case: &Case, residue: Residue| {
        let mut memory = case.memory(&mut Numbers(5), true);
        let integer = system.word_max(residue) % system.modulus(residue);
        for (place, &other) in system.residues().iter().enumerate() {
            let word = if other == residue { system.word_max(residue) } else { &integer % system.modulus(other) };
            memory.insert(case.memory.word(0, place).into(), word);
        }
        memory
    };
    // A word of 247 bits, 2⁹ times.
    let (case, longer) = (case_of(512), case_of(513));
    assert_eq!(case.judge(whole(&code(&case, 512, 1))), Ok(()));
    assert!(longer.judge(whole(&code(&longer, 513, 1))).is_err());
    for &residue in system.residues().iter().filter(|&&residue| residue != POWER) {
        assert!(case.is_right(whole(&code(&case, 512, 1)), &largest(&case, residue)), "{residue:?}");
        assert!(!longer.is_right(whole(&code(&longer, 513, 1)), &largest(&longer, residue)), "{residue:?}");
    }
    // r < T/A + n·p is at most 64p.
    let most = system.integer_max();
    let times = u64::try_from((&most - &system.p * system.count()) * &system.a / (&most * &most)).unwrap();
    let outer = times / 512;
    let (case, longer) = (case_of(512 * outer), case_of(512 * (outer + 1)));
    let made = code(&case, 512, outer);
    assert_eq!(case.judge(whole(&made)), Ok(()));
    assert!(case.is_right(whole(&made), &case.memory(&mut Numbers(5), true)));
    let refused = longer.judge(whole(&code(&longer, 512, outer + 1))).unwrap_err();
    assert!(refused.contains("may be too large"), "{refused}");
}
