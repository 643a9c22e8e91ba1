//! Slot blocks: straight-line operations on numbered slots, as they stand in bytecode. Input of the planner.
//!
//! Operations take effect in order and slots may be overwritten. The lanes of one instruction all read before any of them writes.

use alloc::vec::Vec;

use crate::plan_error::PlanError;
pub use residue_formula::FieldOp;

mod fp6;

pub use fp6::Fp6Op;

/// An operation on slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// Operation.
    pub kind: FieldOp,
    /// The slot it writes.
    pub out: u16,
    /// The slot of its first operand.
    pub x: u16,
    /// The slot of its second operand.
    pub y: u16,
}

/// A straight-line block on the slots 0 … `slot_count` − 1.
#[derive(Clone, Debug)]
pub struct SlotBlock {
    slot_count: u16,
    pub(crate) ops: Vec<Op>,
    /// End in `ops` of each instruction of several lanes, by its first operation; single operations are not listed.
    pub(crate) groups: Vec<Group>,
    pub(crate) dead: Vec<u16>,
    /// The sums of products among the operations.
    sums: Vec<SumOp>,
    /// The products in Fp6 among them.
    sixes: Vec<Fp6Op>,
    /// True if there are copies among them, which add the zero temporary.
    has_copies: bool,
}

/// A sum of products of slots, out = ± x₁·y₁ ± x₂·y₂ …, or a product in Fp2, which are two sums of two; it stands in a block as operations that go by
/// temporaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SumOp {
    /// Its first operation in the block.
    first: usize,
    /// The slot it writes.
    pub out: u16,
    /// For a product in Fp2, the slot of the coefficient of u: the sum of the last two products; `out` is that of the
    /// first two.
    pub second: Option<u16>,
    /// Bit i is set if product i is subtracted.
    pub signs: u8,
    slots: [[u16; 2]; SumOp::PRODUCTS_MAX],
    count: usize,
}

impl SumOp {
    /// The most products.
    pub const PRODUCTS_MAX: usize = 6;
    /// Its temporaries: one for each product, one for a sum of some of them, and one for zero.
    pub(crate) const TEMPORARIES: u16 = SumOp::PRODUCTS_MAX as u16 + 2;
    /// First temporary in operations, above all slots. A temporary is written before it is read, and dead after the
    /// sum.
    pub(crate) const TEMPORARY: u16 = u16::MAX - SumOp::TEMPORARIES - Fp6Op::TEMPORARIES;

    /// The sum of 2 to [`SumOp::PRODUCTS_MAX`] products, each with whether it is subtracted.
    ///
    /// # Panics
    ///
    /// Panics if there are fewer or more.
    pub fn new(out: u16, products: impl IntoIterator<Item = (bool, [u16; 2])>) -> Self {
        let mut sum = Self { first: 0, out, second: None, signs: 0, slots: Default::default(), count: 0 };
        for (is_subtracted, slots) in products {
            sum.slots[sum.count] = slots;
            sum.signs |= u8::from(is_subtracted) << sum.count;
            sum.count += 1;
        }
        assert!(sum.count >= 2, "a sum has two products");
        sum
    }

    /// The product x·y in Fp2 with u² = −1, of elements that have each coefficient in a slot: x₀·y₀ − x₁·y₁ and x₀·y₁ + x₁·y₀, all read before any is written.
    pub fn fp2([out, second]: [u16; 2], [x0, x1]: [u16; 2], [y0, y1]: [u16; 2]) -> Self {
        let products = [(false, [x0, y0]), (true, [x1, y1]), (false, [x0, y1]), (false, [x1, y0])];
        Self { second: Some(second), ..Self::new(out, products) }
    }

    /// The same that many slots further on: results, first and second factors.
    #[must_use]
    pub fn moved(mut self, out: u16, x: u16, y: u16) -> Self {
        self.out += out;
        self.second = self.second.map(|second| second + out);
        for [first, second] in &mut self.slots[..self.count] {
            (*first, *second) = (*first + x, *second + y);
        }
        self
    }

    /// The slots that it writes, in order.
    pub fn outs(&self) -> impl Iterator<Item = u16> + use<> {
        [self.out].into_iter().chain(self.second)
    }

    /// Number of operations that it stands for where one of its products is added: a product each, and a sum less for each slot written.
    pub fn operation_count(&self) -> usize {
        2 * self.count - self.outs().count()
    }

    /// The products, each with whether it is subtracted.
    pub fn products(&self) -> impl ExactSizeIterator<Item = (bool, [u16; 2])> + use<> {
        let Self { signs, slots, count, .. } = *self;
        slots.into_iter().take(count).enumerate().map(move |(place, slots)| (signs >> place & 1 == 1, slots))
    }

    /// The slots of the products.
    pub fn slots(&self) -> &[[u16; 2]] {
        &self.slots[..self.count]
    }

    /// The operations that compute it: products, and then sums of them from one that is added on; or from zero.
    pub fn operations(&self) -> impl Iterator<Item = Op> {
        let [sum, zero] = [6, 7].map(|number| Self::TEMPORARY + number);
        let of = |place: usize| Self::TEMPORARY + place as u16; // at most 6
        let products = self.slots().iter().enumerate();
        let products = products.map(move |(place, &[x, y])| Op { kind: FieldOp::Mul, out: of(place), x, y });
        let start = self.products().position(|(is_subtracted, _)| !is_subtracted);
        let nothing = start.is_none().then_some(Op { kind: FieldOp::Sub, out: zero, x: of(0), y: of(0) });
        let first = start.map_or(zero, of);
        let last = if start == Some(self.count - 1) { self.count - 2 } else { self.count - 1 };
        let is_first_sum = move |place| place == if start == Some(0) { 1 } else { 0 };
        let second = self.second;
        let others = (0..self.count).filter(move |&place| second.is_none() && start != Some(place));
        let sums = others.map(move |place| Op {
            kind: if self.signs >> place & 1 == 1 { FieldOp::Sub } else { FieldOp::Add },
            out: if place == last { self.out } else { sum },
            x: if is_first_sum(place) { first } else { sum },
            y: of(place),
        });
        let coefficients = second.into_iter().flat_map(move |second| {
            let first = Op { kind: FieldOp::Sub, out: self.out, x: of(0), y: of(1) };
            [first, Op { kind: FieldOp::Add, out: second, x: of(2), y: of(3) }]
        });
        products.chain(nothing).chain(sums).chain(coefficients)
    }
}

/// Digest of a block: its operations in order, and their grouping into lanes of instructions. Equal blocks have equal
/// digests; different blocks may collide, by accident (one in 2⁶⁴) or on purpose, so the digest may only key data that
/// is derived from one block, not blocks of strangers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Digest(u64);

impl Digest {
    /// An odd number without pattern: the fraction of the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Adds an instruction of any number of lanes.
    #[inline]
    pub fn push(&mut self, kind: FieldOp, lanes: impl IntoIterator<Item = (u16, u16, u16)>) {
        let mut count = 0u64;
        for (out, x, y) in lanes {
            self.mix(u64::from(out) << 32 | u64::from(x) << 16 | u64::from(y) | (kind as u64) << 48);
            count += 1;
        }
        self.mix(1 << 63 | count);
    }

    fn mix(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(Self::FACTOR);
        self.0 = mixed ^ mixed >> 29;
    }
}

/// The operations of one instruction with several lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub first: usize,
    pub end: usize,
}

impl SlotBlock {
    /// An empty block on this many slots.
    pub fn new(slot_count: u16) -> Self {
        Self {
            slot_count,
            ops: Vec::new(),
            groups: Vec::new(),
            dead: Vec::new(),
            sums: Vec::new(),
            sixes: Vec::new(),
            has_copies: false,
        }
    }

    /// Appends an operation.
    #[inline]
    pub fn push(&mut self, op: Op) -> Result<(), PlanError> {
        let slot = op.out.max(op.x).max(op.y);
        if slot >= self.slot_count {
            return Err(PlanError::SlotOutOfRange { slot, slot_count: self.slot_count });
        }
        self.ops.push(op);
        Ok(())
    }

    /// Appends an instruction: one operation a lane, (out, x, y), all read before any is written; of two lanes that write one
    /// slot the later wins. On error the block is as before.
    pub fn push_lanes(
        &mut self,
        kind: FieldOp,
        lanes: impl IntoIterator<Item = (u16, u16, u16)>,
    ) -> Result<(), PlanError> {
        let first = self.ops.len();
        for (out, x, y) in lanes {
            if let Some(slot) = [out, x, y].into_iter().find(|slot| *slot >= self.slot_count) {
                self.ops.truncate(first);
                return Err(PlanError::SlotOutOfRange { slot, slot_count: self.slot_count });
            }
            self.ops.push(Op { kind, out, x, y });
        }
        let end = self.ops.len();
        if end - first > 1 {
            self.groups.push(Group { first, end });
        }
        Ok(())
    }

    /// Appends a sum: its operations, which no other instruction may come between. Slots are below [`SumOp::TEMPORARY`] in
    /// blocks with sums.
    pub fn push_sum(&mut self, sum: SumOp) -> Result<(), PlanError> {
        let named = sum.slots().iter().flatten().copied().chain(sum.outs());
        if let Some(slot) = named.max().filter(|slot| *slot >= self.slot_count.min(SumOp::TEMPORARY)) {
            return Err(PlanError::SlotOutOfRange { slot, slot_count: self.slot_count });
        }
        self.sums.push(SumOp { first: self.ops.len(), ..sum });
        self.ops.extend(sum.operations());
        Ok(())
    }

    /// Appends a product in Fp6: its operations, which no other instruction may come between. Slots are below [`SumOp::TEMPORARY`].
    pub fn push_fp6(&mut self, product: Fp6Op) -> Result<(), PlanError> {
        let limit = self.slot_count.min(SumOp::TEMPORARY);
        if let Some(slot) = product.slots().find(|slot| *slot >= limit) {
            return Err(PlanError::SlotOutOfRange { slot, slot_count: self.slot_count });
        }
        self.sixes.push(Fp6Op { first: self.ops.len(), ..product });
        self.ops.extend(product.operations());
        Ok(())
    }

    /// Appends copies of slots, (out, x), all read before any is written: additions of a temporary that is made zero before. Slots are below
    /// [`SumOp::TEMPORARY`]. On error the block is as before.
    pub fn push_copies(&mut self, lanes: impl IntoIterator<Item = (u16, u16)> + Clone) -> Result<(), PlanError> {
        let limit = self.slot_count.min(SumOp::TEMPORARY);
        if let Some(slot) = lanes.clone().into_iter().flat_map(|(out, x)| [out, x]).find(|slot| *slot >= limit) {
            return Err(PlanError::SlotOutOfRange { slot, slot_count: self.slot_count });
        }
        self.has_copies = true;
        for group in Self::operations_of_copies(lanes) {
            let first = self.ops.len();
            self.ops.extend(group);
            let end = self.ops.len();
            if end - first > 1 {
                self.groups.push(Group { first, end });
            }
        }
        Ok(())
    }

    /// The operations that copies stand for: one that makes the temporary zero, then the lanes of an addition.
    pub fn operations_of_copies(lanes: impl IntoIterator<Item = (u16, u16)>) -> [Vec<Op>; 2] {
        let copies = lanes.into_iter().map(|(out, x)| Op { kind: FieldOp::Add, out, x, y: Self::ZERO });
        let copies: Vec<Op> = copies.collect();
        let zero = copies.first().map(|&Op { x, .. }| Op { kind: FieldOp::Sub, out: Self::ZERO, x, y: x });
        [zero.into_iter().collect(), copies]
    }

    /// Temporary that is zero: adding a value to it copies the value.
    pub const ZERO: u16 = SumOp::TEMPORARY + 7;

    /// True if there are places beside the slots.
    fn has_temporaries(&self) -> bool {
        self.has_copies || !self.sums.is_empty() || !self.sixes.is_empty()
    }

    /// The sums, each with the operations that it stands for, in order.
    pub fn sums(&self) -> impl Iterator<Item = (&SumOp, core::ops::Range<usize>)> {
        self.sums.iter().map(|sum| (sum, sum.first..sum.first + sum.operations().count()))
    }

    /// The products in Fp6, each with the operations that it stands for, in order.
    pub fn products_in_fp6(&self) -> impl Iterator<Item = (&Fp6Op, core::ops::Range<usize>)> {
        self.sixes.iter().map(|product| (product, product.first..product.first + product.operations().len()))
    }

    /// True if a place named by an operation is a temporary of a sum.
    fn is_temporary(&self, slot: u16) -> bool {
        self.has_temporaries() && slot >= SumOp::TEMPORARY
    }

    /// Number of places that operations name: the slots, and the temporaries of sums after them.
    pub(crate) fn place_count(&self) -> usize {
        let of_sums = if self.has_temporaries() { SumOp::TEMPORARIES } else { 0 };
        let of_fp6 = if self.sixes.is_empty() { 0 } else { Fp6Op::TEMPORARIES };
        usize::from(self.slot_count) + usize::from(of_sums + of_fp6)
    }

    /// The number of a place.
    pub(crate) fn place(&self, slot: u16) -> usize {
        match self.is_temporary(slot) {
            true => usize::from(self.slot_count) + usize::from(slot - SumOp::TEMPORARY),
            false => usize::from(slot),
        }
    }

    /// The same operations on another number of slots; an error if one of them names a slot that is not among these.
    pub fn with_slot_count(&self, slot_count: u16) -> Result<Self, PlanError> {
        let named = self.ops.iter().flat_map(|op| [op.out, op.x, op.y]).chain(self.dead.iter().copied());
        match named.filter(|slot| !self.is_temporary(*slot)).max().filter(|slot| *slot >= slot_count) {
            Some(slot) => Err(PlanError::SlotOutOfRange { slot, slot_count }),
            None => Ok(Self { slot_count, ..self.clone() }),
        }
    }

    /// Digest of its operations.
    pub fn digest(&self) -> Digest {
        let mut digest = Digest::default();
        for lanes in self.instructions() {
            digest.push(lanes[0].kind, lanes.iter().map(|op| (op.out, op.x, op.y)));
        }
        digest
    }

    /// Frees unused capacity.
    pub fn shrink(&mut self) {
        self.ops.shrink_to_fit();
        self.groups.shrink_to_fit();
        self.sums.shrink_to_fit();
        self.sixes.shrink_to_fit();
    }

    /// Bytes that it has allocated.
    pub fn bytes(&self) -> usize {
        self.ops.capacity() * size_of::<Op>()
            + self.groups.capacity() * size_of::<Group>()
            + self.dead.capacity() * 2
            + self.sums.capacity() * size_of::<SumOp>()
            + self.sixes.capacity() * size_of::<Fp6Op>()
    }

    /// Its instructions in order, each as its lanes.
    pub fn instructions(&self) -> impl Iterator<Item = &[Op]> {
        let mut groups = self.groups.iter().peekable();
        let mut at = 0;
        core::iter::from_fn(move || {
            let end = groups.next_if(|group| group.first == at).map_or(at + 1, |group| group.end);
            let lanes = self.ops.get(at..end)?;
            at = end;
            Some(lanes)
        })
    }

    /// States that nothing reads `slot` after the block: its row holds any value then. A slot is live by default.
    pub fn mark_dead(&mut self, slot: u16) -> Result<(), PlanError> {
        if slot >= self.slot_count {
            return Err(PlanError::SlotOutOfRange { slot, slot_count: self.slot_count });
        }
        self.dead.push(slot);
        Ok(())
    }

    /// Number of slots.
    pub fn slot_count(&self) -> u16 {
        self.slot_count
    }

    /// The operations, in order.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    type Instruction = (FieldOp, Vec<(u16, u16, u16)>);

    fn block_of(instructions: &[Instruction]) -> SlotBlock {
        let mut block = SlotBlock::new(u16::MAX);
        instructions.iter().for_each(|(kind, lanes)| block.push_lanes(*kind, lanes.iter().copied()).unwrap());
        block
    }

    fn digest_of(instructions: &[Instruction]) -> Digest {
        let mut digest = Digest::default();
        instructions.iter().for_each(|(kind, lanes)| digest.push(*kind, lanes.iter().copied()));
        digest
    }

    /// Three instructions, one of them with two lanes.
    fn sample() -> Vec<Instruction> {
        vec![
            (FieldOp::Mul, vec![(5, 1, 2)]),
            (FieldOp::Sub, vec![(6, 5, 3), (7, 4, 0x1234)]),
            (FieldOp::Add, vec![(0x8001, 6, 7)]),
        ]
    }

    /// Every block that differs from the sample in one place.
    fn neighbours() -> Vec<Vec<Instruction>> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut Vec<Instruction>)| {
            let mut block = sample();
            change(&mut block);
            all.push(block);
        };
        for (at, (kind, lanes)) in sample().into_iter().enumerate() {
            for other in [FieldOp::Add, FieldOp::Sub, FieldOp::Mul].into_iter().filter(|other| *other != kind) {
                add(&|block| block[at].0 = other);
            }
            for (lane, bit) in (0..lanes.len()).flat_map(|lane| (0..16).map(move |bit| (lane, bit))) {
                add(&|block| block[at].1[lane].0 ^= 1 << bit);
                add(&|block| block[at].1[lane].1 ^= 1 << bit);
                add(&|block| block[at].1[lane].2 ^= 1 << bit);
            }
            add(&|block| block[at].1.push(lanes[0]));
            add(&|block| drop(block.remove(at)));
            add(&|block| block.swap(at, (at + 1) % 3));
            add(&|block| block.insert(at, (kind, vec![lanes[0]])));
        }
        add(&|block| block[1].1.swap(0, 1));
        add(&|block| {
            // The same operations, each an instruction.
            let second = block[1].1.pop().unwrap();
            block.insert(2, (FieldOp::Sub, vec![second]));
        });
        all
    }

    #[test]
    fn every_change_of_a_block_changes_its_digest() {
        let mut digests = HashMap::from([(digest_of(&sample()).0, sample())]);
        for block in neighbours() {
            if let Some(other) = digests.insert(digest_of(&block).0, block.clone()) {
                assert_eq!(other, block, "blocks of one digest");
            }
        }
        assert_ne!(block_of(&sample()).digest(), block_of(&[]).digest());
        assert_eq!(block_of(&sample()).digest(), digest_of(&sample()), "however it is made");
        assert_eq!(block_of(&sample()).with_slot_count(0x9000).unwrap().digest(), digest_of(&sample()));
    }

    /// Operations of the smallest numbers, zeros among them, in all groupings: where a sequence could be read in two ways.
    #[test]
    fn all_small_blocks_have_different_digests() {
        let mut digests = HashSet::new();
        let mut blocks: Vec<Vec<Vec<(u16, u16, u16)>>> = vec![vec![]];
        for _ in 0..6 {
            let longer = |block: &Vec<Vec<_>>| {
                let mut all = Vec::new();
                for operand in 0..4 {
                    let mut apart = block.clone();
                    apart.push(vec![(0, 0, operand)]);
                    all.push(apart);
                    if let Some((last, before)) = block.split_last() {
                        all.push([before, &[[&last[..], &[(0, 0, operand)]].concat()]].concat());
                    }
                }
                all
            };
            blocks = blocks.iter().flat_map(longer).collect();
            for block in &blocks {
                let instructions: Vec<_> = block.iter().map(|lanes| (FieldOp::Add, lanes.clone())).collect();
                assert!(digests.insert(digest_of(&instructions).0), "{block:?}");
            }
        }
        assert_eq!(digests.len(), (0..6).map(|n| 4 * 8usize.pow(n)).sum());
        // Each bit is one in about half of them.
        for bit in 0..64 {
            let ones = digests.iter().filter(|digest| **digest >> bit & 1 == 1).count();
            assert!((45..=55).contains(&(100 * ones / digests.len())), "bit {bit}: {ones}");
        }
    }

    #[test]
    fn both_halves_of_a_digest_depend_on_every_operand() {
        let [high, low] = [|digest: Digest| digest.0 >> 32, |digest: Digest| digest.0 & 0xffff_ffff];
        let before = digest_of(&sample());
        for block in neighbours() {
            let after = digest_of(&block);
            if block != sample() {
                assert!(high(after) != high(before) && low(after) != low(before), "{block:?}");
            }
        }
    }

    #[test]
    fn instructions_keep_their_lanes() {
        let mut block = SlotBlock::new(10);
        block.push(Op { kind: FieldOp::Add, out: 1, x: 2, y: 3 }).unwrap();
        block.push_lanes(FieldOp::Sub, [(4, 5, 6), (7, 8, 9)]).unwrap();
        block.push_lanes(FieldOp::Mul, [(0, 1, 2)]).unwrap();
        block.push_lanes(FieldOp::Mul, []).unwrap();
        block.push_lanes(FieldOp::Mul, [(3, 4, 5), (6, 7, 8), (9, 0, 1)]).unwrap();
        let before = block.clone();
        for beyond in [(10, 0, 0), (0, 10, 0), (0, 0, 10)] {
            let error = Err(PlanError::SlotOutOfRange { slot: 10, slot_count: 10 });
            assert_eq!(block.push_lanes(FieldOp::Add, [(0, 0, 0), beyond]), error);
            let (out, x, y) = beyond;
            assert_eq!(block.push(Op { kind: FieldOp::Add, out, x, y }), error);
        }
        let lanes = |block: &SlotBlock| -> Vec<Vec<Op>> { block.instructions().map(<[Op]>::to_vec).collect() };
        assert_eq!(lanes(&block), lanes(&before));
        assert_eq!(lanes(&block).iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 1, 3]);
        assert_eq!(lanes(&block).concat(), block.ops());
        assert_eq!(block.ops().iter().map(|op| op.out).collect::<Vec<_>>(), [1, 4, 7, 0, 3, 6, 9]);
        assert_eq!(block.groups.len(), 2, "only instructions of several lanes are listed");
    }

    #[test]
    fn slots_beyond_the_count_are_named() {
        let mut block = SlotBlock::new(10);
        block.push(Op { kind: FieldOp::Add, out: 1, x: 7, y: 3 }).unwrap();
        let error = |slot, slot_count| PlanError::SlotOutOfRange { slot, slot_count };
        assert_eq!(block.with_slot_count(8).unwrap().slot_count(), 8);
        assert_eq!(block.with_slot_count(7).unwrap_err(), error(7, 7));
        assert_eq!(block.mark_dead(10), Err(error(10, 10)));
        block.mark_dead(9).unwrap();
        assert_eq!(block.with_slot_count(9).unwrap_err(), error(9, 9));
        assert_eq!(block.with_slot_count(12).unwrap().slot_count(), 12);
    }

    #[test]
    fn bytes_are_those_of_operations_groups_and_dead_slots() {
        let mut block = SlotBlock::new(100);
        assert_eq!(block.bytes(), 0);
        for _ in 0..33 {
            block.push_lanes(FieldOp::Mul, [(1, 2, 3), (4, 5, 6), (7, 8, 9)]).unwrap();
        }
        // Eight bytes an operation, the two ends of each group.
        let bytes = 8 * 99 + 16 * 33;
        assert!(block.bytes() > bytes, "room that lists keep as they grow");
        block.shrink();
        assert_eq!(block.bytes(), bytes);
        (0..5).for_each(|slot| block.mark_dead(slot).unwrap());
        // A copy has no more than it needs.
        assert_eq!(block.clone().bytes(), bytes + 10);
    }
}
