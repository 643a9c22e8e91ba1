//! Transforms of words of lanes: each lane a residue below q in eight bytes of memory, steps as loops over the lanes of a word.
//!
//! Sums of L products and one more fit a limb, as 2·L·q² ≤ 2⁶⁴: see [`Lanes::modulus`].

use residue_ir::{LaneStep, Lanes};
use wasm_encoder::BlockType;

use super::control::Emitter;
use super::narrow;
use super::routine::Routine;
use super::scratch::at;

/// Bytes of a lane in memory.
const LANE_BYTES: u32 = 8;
/// Bits of these.
const LIMB_BITS: u32 = 64;

/// Bytes of memory for a transform: its words, and twice as many lanes as a word has for a product.
pub(super) fn lanes_bytes(lanes: &Lanes) -> u64 {
    let word_bytes = u64::from(LANE_BYTES) * lanes.count() as u64; // usize to u64 widens
    word_bytes * (u64::from(lanes.words) + 2)
}

impl Emitter<'_> {
    pub(super) fn lanes(&mut self, lanes: &Lanes) {
        let index = self.kept.temporary();
        let mut transform = Transform { emitter: self, lanes, index, other: index + 1 };
        lanes.steps.iter().for_each(|step| transform.step(step));
    }
}

struct Transform<'t, 'a> {
    emitter: &'t mut Emitter<'a>,
    lanes: &'t Lanes,
    /// A local with eight times the number of a lane.
    index: u32,
    /// Another local.
    other: u32,
}

impl Transform<'_, '_> {
    fn step(&mut self, step: &LaneStep) {
        match step {
            LaneStep::Take { word, from } => (0..).zip(from).for_each(|(source, &first)| {
                self.take(*word, narrow(from.len()), (source, first));
            }),
            LaneStep::Read { word, from, bits } => self.read(*word, *from, *bits),
            LaneStep::Butterfly { low, high, by } => self.butterfly(*low, *high, *by),
            LaneStep::Back { low, high, by } => self.back(*low, *high, *by),
            LaneStep::Multiply { word, by, root } => self.multiply(*word, *by, *root),
            LaneStep::Leave { word, .. } => self.leave(*word),
            LaneStep::Put { word, to, rows } => {
                (*to..).step_by(LANE_BYTES as usize).zip(rows).for_each(|(to, row)| self.put(*word, to, row)); // 8
            }
        }
    }

    // --- pieces -------------------------------------------------------------------------------------------------------

    fn count(&self) -> u32 {
        narrow(self.lanes.count())
    }

    /// Address of a word; those after the last are for products.
    fn address(&self, word: u32) -> u32 {
        self.emitter.lowering.layout.lanes + LANE_BYTES * self.count() * word
    }

    /// Repeats `body` `count` times, with a local that goes up by eight from 0.
    fn each(&mut self, local: u32, count: u32, body: impl FnOnce(&mut Self)) {
        self.emitter.code.i64_const(0).local_set(local).loop_(BlockType::Empty);
        body(self);
        let code = &mut self.emitter.code;
        code.local_get(local).i64_const(LANE_BYTES.into()).i64_add().local_tee(local);
        code.i64_const((LANE_BYTES * count).into()).i64_lt_u().br_if(0).end();
    }

    /// Sets each lane of a word to what `body` pushes.
    fn set_each(&mut self, word: u32, body: impl FnOnce(&mut Self)) {
        let address = self.address(word);
        self.each(self.index, self.count(), |this| {
            this.emitter.code.local_get(this.index).i32_wrap_i64();
            body(this);
            this.emitter.code.i64_store(at(address));
        });
    }

    /// Pushes the lane of a word.
    fn lane(&mut self, word: u32) {
        let address = self.address(word);
        self.emitter.code.local_get(self.index).i32_wrap_i64().i64_load(at(address));
    }

    /// a ↦ a mod q
    fn reduce(&mut self) {
        self.emitter.code.i64_const(self.lanes.modulus.into()).i64_rem_u();
    }

    /// a ↦ a·by mod q
    fn times(&mut self, by: u32) {
        self.emitter.code.i64_const(by.into()).i64_mul();
        self.reduce();
    }

    /// Pushes the lane of a word, q more, less the same lane of another.
    fn difference(&mut self, word: u32, other: u32) {
        self.lane(word);
        self.emitter.code.i64_const(self.lanes.modulus.into()).i64_add();
        self.lane(other);
        self.emitter.code.i64_sub();
    }

    /// Pushes the sum of a lane of two words modulo q.
    fn sum(&mut self, word: u32, other: u32) {
        self.lane(word);
        self.lane(other);
        self.emitter.code.i64_add();
        self.reduce();
    }

    /// Pushes the offset of the lane's cell in a word of scratch memory.
    fn cell(&mut self) {
        let shift = (LIMB_BITS / self.lanes.bits).trailing_zeros();
        self.emitter.code.local_get(self.index).i64_const(shift.into()).i64_shr_u().i32_wrap_i64();
    }

    // --- steps --------------------------------------------------------------------------------------------------------

    /// Numbers of a source, each of as many lanes as there are sources. The run fails unless all are below q.
    fn take(&mut self, word: u32, sources: u32, (source, first): (u32, u32)) {
        let bytes = sources * self.lanes.bits / 8;
        let address = self.address(word) + LANE_BYTES * source;
        let (index, number, modulus) = (self.index, self.other, self.lanes.modulus);
        self.each(index, self.count() / sources, |this| {
            let (last, size) = (bytes.saturating_sub(LANE_BYTES), bytes.min(LANE_BYTES));
            for from in (0..=last).step_by(LANE_BYTES as usize) {
                let code = &mut this.emitter.code;
                code.local_get(index).i64_const(bytes.into()).i64_mul().i64_const(3).i64_shr_u();
                code.i64_const((u64::from(first) + u64::from(from)).cast_signed()).i64_add();
                code.i32_const(size.cast_signed()).call(Routine::ReadBe.index()).local_tee(number);
                code.i64_const(if from == last { modulus.into() } else { 1 }).i64_ge_u();
                this.emitter.fail_if();
            }
            let code = &mut this.emitter.code;
            code.local_get(index).i64_const(sources.into()).i64_mul().i32_wrap_i64();
            code.local_get(number).i64_store(at(address));
        });
    }

    fn read(&mut self, word: u32, from: u32, bits: u32) {
        let cells = at(self.emitter.lowering.layout.memory + from);
        let lane_bits = self.lanes.bits;
        self.set_each(word, |this| {
            this.cell();
            let code = &mut this.emitter.code;
            match lane_bits {
                16 => code.i64_load16_u(cells),
                32 => code.i64_load32_u(cells),
                _ => code.i64_load(cells),
            };
            code.call(Routine::SwapBytes.index()).i64_const((LIMB_BITS - lane_bits).into()).i64_shr_u();
            code.i64_const((1 << bits) - 1).i64_and();
            this.reduce();
        });
    }

    fn butterfly(&mut self, low: u32, high: u32, by: u32) {
        // The product stands in the room for others.
        let product = self.lanes.words;
        self.set_each(product, |this| {
            this.lane(high);
            this.times(by);
        });
        self.set_each(high, |this| {
            this.difference(low, product);
            this.reduce();
        });
        self.set_each(low, |this| this.sum(low, product));
    }

    fn back(&mut self, low: u32, high: u32, by: u32) {
        let difference = self.lanes.words;
        self.set_each(difference, |this| {
            this.difference(low, high);
            this.times(by);
        });
        self.set_each(low, |this| this.sum(low, high));
        self.set_each(high, |this| this.lane(difference));
    }

    /// The product of polynomials, whose coefficient of xⁱ is lane L − 1 − i. Σ aᵢ·bⱼ over lanes i and j with one sum goes to cell i + j + 1 of 2·L: the
    /// second half is what lanes have modulo x^L, and the first one is multiplied by ζ.
    fn multiply(&mut self, word: u32, by: u32, root: u32) {
        let (count, products) = (self.count(), self.address(self.lanes.words));
        let (i, j) = (self.index, self.other);
        let [a, b] = [word, by].map(|word| at(self.address(word)));
        let bytes = 2 * LANE_BYTES * count;
        self.emitter.code.i32_const(products.cast_signed()).i32_const(0).i32_const(bytes.cast_signed()).memory_fill(0);
        self.each(i, count, |this| {
            this.each(j, count, |this| {
                let code = &mut this.emitter.code;
                let cell = at(products + LANE_BYTES);
                code.local_get(i).local_get(j).i64_add().i32_wrap_i64();
                code.local_get(i).local_get(j).i64_add().i32_wrap_i64().i64_load(cell);
                code.local_get(i).i32_wrap_i64().i64_load(a).local_get(j).i32_wrap_i64().i64_load(b).i64_mul();
                code.i64_add().i64_store(cell);
            });
        });
        let [high, low] = [0, 1].map(|half| self.lanes.words + half);
        self.set_each(word, |this| {
            this.lane(high);
            this.reduce();
            this.emitter.code.i64_const(root.into()).i64_mul();
            this.lane(low);
            this.emitter.code.i64_add();
            this.reduce();
        });
    }

    /// Residues are below any multiple of q that is asked for.
    fn leave(&mut self, word: u32) {
        let cells = at(self.emitter.lowering.layout.memory + self.lanes.place(word));
        let lane_bits = self.lanes.bits;
        self.each(self.index, self.count(), |this| {
            this.cell();
            this.lane(word);
            let code = &mut this.emitter.code;
            code.i64_const((LIMB_BITS - lane_bits).into()).i64_shl().call(Routine::SwapBytes.index());
            match lane_bits {
                16 => code.i64_store16(cells),
                32 => code.i64_store32(cells),
                _ => code.i64_store(cells),
            };
        });
    }

    fn put(&mut self, word: u32, to: u32, row: &[u32]) {
        let address = self.address(word);
        let cell = at(self.emitter.lowering.layout.memory + to);
        let code = &mut self.emitter.code;
        code.i32_const(0).i64_const(0);
        for (lane, &number) in (address..).step_by(LANE_BYTES as usize).zip(row) {
            code.i32_const(0).i64_load(at(lane)).i64_const(number.into()).i64_mul().i64_add();
        }
        self.reduce();
        self.emitter.code.call(Routine::SwapBytes.index()).i64_store(cell);
    }
}
