//! Revisions with slots: separate slots, canonical big-endian values in memory. Their rules hold the differences:
//! setting the modulus, strides, checks of stored values.

mod choice;
pub mod fp2;
pub mod fp6;
mod set_up;

use super::reverse::Reverse;
use super::{
    FusedInstructions, FusedKind, FusedOps, Places, RowSizes, Target, clear, copy_memory, is_short_set_up,
    memory_is_zero, mont_bytes, parse_one_by_one, push, require_below, require_padding, runs, slot_index,
    slot_instruction, slot_lanes,
};
use crate::fuse::Fusions;
use num_bigint::BigUint;
use residue_ir::Modulus;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use residue_isa::{
    FieldInstruction, FieldOp, Form, Fp2Products, Fp6Product, Lanes, Revision, SlotRules, SumOfProducts, writer,
};
use residue_passes::derived::Derived;
use residue_passes::moves::Copy;
use residue_passes::sums::SlotSum;
use residue_passes::{Slot, SlotOp};
use set_up::be_bytes;
use std::sync::Arc;

/// Words that are copied from after the end of the code at most, for three gas each, where growing memory would take seventeen.
const WORDS_COPIED_MAX: u32 = 5;

/// Lowering for interfaces with slots.
pub struct Slots {
    revision: Revision,
    rules: &'static SlotRules,
    /// m, if it is known.
    modulus: Option<BigUint>,
    /// The size that it is declared with.
    modulus_bytes: u32,
    /// The id of its field context.
    context: u32,
    /// True if it is set in the middle of the program.
    is_late: bool,
    /// Constants, in the last slots.
    constants: Derived,
    element_bytes: u32,
    /// Bytes of calldata that are read together.
    row_bytes: u32,
    places: Places,
    /// The fewest slots that a copy is cheaper for than an addition of zero, if it is for any.
    copies_from: Option<u8>,
    /// Operations that one instruction does together, where that is cheaper.
    fused: Option<FusedKind>,
    fusions: Arc<Fusions>,
    reverse: Reverse,
    data: LabelId,
    /// The constants in the data.
    given: LabelId,
}

impl Slots {
    /// Rows of elements have at most `row_bytes`.
    pub fn new(
        (revision, rules): (Revision, &'static SlotRules),
        (modulus, context, is_late): (&Modulus, u32, bool),
        constants: Derived,
        row_bytes: u32,
        places: Places,
        code: &mut Assembly,
    ) -> Self {
        let size_bytes = modulus_size_bytes(rules, modulus);
        let narrow = |bytes| u32::try_from(bytes).expect("the width was checked");
        let (modulus_bytes, element_bytes) = (narrow(size_bytes), narrow(rules.element_bytes(size_bytes)));
        let modulus = modulus.known().cloned();
        let (reverse, data, given) = (Reverse::new(code), code.new_label(), code.new_label());
        Self {
            revision,
            rules,
            modulus,
            modulus_bytes,
            context,
            is_late,
            constants,
            element_bytes,
            row_bytes,
            places,
            copies_from: None,
            fused: None,
            fusions: Arc::default(),
            reverse,
            data,
            given,
        }
    }

    fn known_modulus(&self) -> &BigUint {
        self.modulus.as_ref().expect("`verify` refuses what needs it where it is given")
    }

    fn slot_count(&self) -> u32 {
        let constants = u32::try_from(self.constants.slots.len()).expect("the number of constants was checked");
        (self.places.first_constant + constants).max(self.places.spare + 1) + u32::from(self.places.is_literal)
    }

    /// Bytes of memory that data is copied to.
    fn copied_bytes(&self) -> u32 {
        if self.loads_code() { 0 } else { self.data_bytes() }
    }

    fn data_bytes(&self) -> u32 {
        self.modulus_data().len() as u32 + self.given_count() * self.element_bytes // At most 512 bytes.
    }

    /// Number of constants in the data.
    fn given_count(&self) -> u32 {
        u32::try_from(self.constants.given.len()).expect("the number of constants was checked")
    }

    /// The modulus as data has it: big-endian, or nothing if it is given later.
    fn modulus_data(&self) -> Vec<u8> {
        self.modulus.as_ref().map_or(Vec::new(), |modulus| be_bytes(modulus, self.modulus_bytes as usize)) // widens
    }

    /// Bytes of the words that a modulus is given in.
    fn given_modulus_bytes(&self) -> u32 {
        if self.modulus.is_some() { 0 } else { self.modulus_bytes.next_multiple_of(32) }
    }

    /// [] → [] with slot `slot` canonical at `address` in memory.
    fn load_to(&self, code: &mut Assembly, slot: Slot, address: u32) {
        self.load_run(code, (slot, 1, address));
    }

    /// The same with `count` consecutive slots.
    fn load_run(&self, code: &mut Assembly, (slot, count, address): (Slot, u32, u32)) {
        code.written(writer::load(self.rules, self.context, [address, slot, count]));
    }

    /// `LOADX` or `STOREX` after its operands, with the id of the context if it takes one.
    fn transfer(&self, code: &mut Assembly, opcode: u8) {
        if self.rules.transfer_names_context {
            push(code, self.context);
        }
        code.op(opcode);
    }

    /// Bytes of a value in Montgomery form, and where such a number ends at the bottom of memory.
    fn mont_scratch(&self) -> (u32, u32) {
        let bytes = mont_bytes(self.known_modulus());
        (bytes, bytes.max(32))
    }

    /// The element at `address` in memory goes to slot `slot`. [] → []
    fn store_from(&self, code: &mut Assembly, slot: Slot, address: u32) {
        self.store_run(code, (slot, 1, address));
    }

    /// The same with `count` consecutive elements.
    fn store_run(&self, code: &mut Assembly, (slot, count, address): (Slot, u32, u32)) {
        code.written(writer::store(self.rules, self.context, [slot, address, count]));
    }

    /// Goes to `fail` unless the number of `size_bytes` that ends at `end` in memory is below the modulus. [] → []
    fn require_canonical(&self, code: &mut Assembly, size_bytes: u32, end: u32, fail: LabelId) {
        let word = |code: &mut Assembly, address: u32, bytes: u32| {
            push(code, address);
            code.op(evm::MLOAD);
            if bytes < 32 {
                push(code, 8 * (32 - bytes));
                code.op(evm::SHR);
            }
        };
        let low_bytes = size_bytes.min(32);
        match size_bytes - low_bytes {
            0 => push(code, 0),
            high_bytes => word(code, end - size_bytes, high_bytes),
        }
        word(code, end - low_bytes, low_bytes);
        require_below(code, self.known_modulus(), 2, fail);
        code.op(evm::POP);
        code.op(evm::POP);
    }
}

/// Bytes that a modulus is declared with: as few as hold it, or the only size there is.
pub fn modulus_size_bytes(rules: &SlotRules, modulus: &Modulus) -> usize {
    let least = usize::try_from(modulus.bits().div_ceil(8)).expect("the width was checked");
    let sizes = rules.moduli.sizes.unwrap_or_default();
    sizes.iter().copied().find(|&size| size >= least).unwrap_or(least)
}

impl FusedInstructions for Slots {
    fn form(&self) -> FusedKind {
        self.fused.expect("it is asked where there is one")
    }

    fn emit(&self, code: &mut Assembly, ops: &FusedOps) {
        match ops {
            FusedOps::Sum(sum) => {
                let products =
                    sum.products.iter().map(|&(is_subtracted, slots)| (is_subtracted, slots.map(slot_index)));
                let instruction = SumOfProducts::of(slot_index(sum.out), &products.collect::<Vec<_>>());
                code.field(instruction.expect("so many products were asked for").into());
            }
            FusedOps::Fp2(products) => {
                for lanes in fp2::in_lanes(products) {
                    code.field(lanes.into());
                }
            }
            FusedOps::Fp6(product) => _ = code.field(fp6::instruction(product).into()),
        }
    }

    fn read_fused(&self, code: &[u8]) -> Option<(FusedOps, usize)> {
        let (instruction, bytes) = self.revision.decode(code)?;
        let FieldInstruction::Formed(formed) = instruction else { return None };
        let operands = formed.bytes();
        let ops = match formed.form() {
            Form::MulFp2 => FusedOps::Fp2(fp2::lanes(&Fp2Products::unpack(operands.try_into().ok()?)).collect()),
            Form::MulFp6 => FusedOps::Fp6(fp6::product(&Fp6Product::unpack(operands.try_into().ok()?))),
            form if form.products() > 0 => {
                let sum = SumOfProducts::unpack(operands)?;
                let products = sum.products().map(|(is_subtracted, slots)| (is_subtracted, slots.map(Slot::from)));
                FusedOps::Sum(SlotSum { out: sum.out.into(), products: products.collect() })
            }
            _ => return None,
        };
        Some((ops, bytes))
    }
}

impl Target for Slots {
    fn memory_bytes(&self) -> u32 {
        let row_bytes = if self.rules.store_reduces { 0 } else { self.row_bytes };
        // What is set up in the middle of the program leaves what is after it alone.
        let is_late = self.is_late || self.modulus.is_none();
        let set_up_bytes = if is_late && is_short_set_up(self) { self.set_up_bytes() } else { 0 };
        self.element_bytes.max(row_bytes).max(set_up_bytes).next_multiple_of(32)
    }

    fn element_bytes(&self) -> u32 {
        self.element_bytes
    }

    fn start(&self, code: &mut Assembly, memory_bytes: u32) -> u32 {
        if let Some(opcode) = self.rules.opcode(Form::SetModulusInCode) {
            self.set_modulus_in_code(code, opcode);
            self.store_constants(code, 0);
            if memory_bytes > 0 {
                push(code, memory_bytes - 32); // They are whole words.
                self.reserve(code);
            }
            return 0;
        }
        let data_bytes = self.data_bytes();
        // Code is zero after its end: a few words more take less gas than memory that grows by itself.
        let copies_all = (data_bytes..data_bytes + WORDS_COPIED_MAX * 32).contains(&memory_bytes);
        push(code, if copies_all { memory_bytes } else { data_bytes });
        code.push_label(self.data);
        push(code, 0);
        code.op(evm::CODECOPY);
        self.set_modulus(code, 0);
        self.store_constants(code, self.modulus_bytes);
        if memory_bytes > data_bytes && !copies_all {
            push(code, memory_bytes - 32); // They are whole words.
            self.reserve(code);
        }
        data_bytes
    }

    fn set_up_bytes(&self) -> u32 {
        self.given_modulus_bytes().max(self.copied_bytes())
    }

    fn set_up(&self, code: &mut Assembly, at: u32) -> u32 {
        let words_bytes = self.given_modulus_bytes();
        if words_bytes > 0 {
            self.set_modulus(code, at + words_bytes - self.modulus_bytes);
        }
        if self.copied_bytes() > 0 {
            push(code, self.copied_bytes());
            code.push_label(self.data);
            push(code, at);
            code.op(evm::CODECOPY);
        }
        match self.rules.opcode(Form::SetModulusInCode) {
            _ if words_bytes > 0 => {}
            Some(opcode) => self.set_modulus_in_code(code, opcode),
            None => self.set_modulus(code, at),
        }
        self.store_constants(code, if words_bytes == 0 { at + self.modulus_bytes } else { at });
        at + self.set_up_bytes()
    }

    /// An id of an existing field context makes it the active one; other operands are ignored.
    fn resume(&self, code: &mut Assembly) {
        for _ in 0..3 {
            push(code, 0);
        }
        self.set_or_resume(code, self.rules.set_modulus);
    }

    fn encode(&self, value: &BigUint) -> Vec<u8> {
        be_bytes(value, self.element_bytes as usize) // u32 to usize widens
    }

    fn operations(&self, code: &mut Assembly, ops: &[SlotOp]) {
        self.instructions(ops).into_iter().for_each(|instruction| _ = code.field(instruction));
    }

    fn fused(&self) -> Option<&dyn FusedInstructions> {
        self.fused.is_some().then_some(self)
    }

    fn copies(&self, code: &mut Assembly, copies: &[Copy]) {
        let slots = copies.iter().flat_map(|copy| (0..copy.count).map(|lane| (copy.to + lane, copy.from + lane)));
        let addition = |(out, x)| SlotOp { operation: FieldOp::Add, out, x, y: self.places.zero };
        for instruction in self.instructions(&slots.map(addition).collect::<Vec<_>>()) {
            code.field(self.as_copy(instruction));
        }
    }

    fn reserve(&self, code: &mut Assembly) {
        code.op(evm::MLOAD);
        code.op(evm::POP);
    }

    fn before_load(&self, code: &mut Assembly, _: Slot, count: u32) -> usize {
        push(code, count);
        1
    }

    fn load(&self, code: &mut Assembly, first: Slot, _: u32) {
        push(code, first);
        self.transfer(code, self.rules.store);
    }

    fn before_store(&self, code: &mut Assembly, first: Slot, count: u32) -> usize {
        push(code, count);
        push(code, first);
        2
    }

    fn store(&self, code: &mut Assembly, _: Slot, _: u32) {
        self.transfer(code, self.rules.load);
    }

    fn has_canonical(&self, size_bytes: u32, are_looked_at: bool) -> bool {
        size_bytes == self.element_bytes && !(are_looked_at && self.rules.store_reduces)
    }

    fn loads_code(&self) -> bool {
        self.rules.has(Form::SetModulusInCode) && self.rules.has(Form::StoreFromCode)
    }

    fn load_code(&self, code: &mut Assembly, first: Slot) {
        let opcode = self.rules.opcode(Form::StoreFromCode).expect("only programs for targets that load code do so");
        push(code, first);
        self.transfer(code, opcode);
    }

    fn has_arrays(&self) -> bool {
        self.rules.has(Form::Get) && self.rules.has(Form::Put)
    }

    fn get(&self, code: &mut Assembly, first: Slot, count: u32) {
        self.copy_elements(code, Form::Get, (first, count));
    }

    fn put(&self, code: &mut Assembly, first: Slot, count: u32) {
        self.copy_elements(code, Form::Put, (first, count));
    }

    fn has_choices(&self) -> bool {
        self.rules.has(Form::Select)
    }

    fn select(&self, code: &mut Assembly, out: Slot, either: [Slot; 2]) {
        let [out, x, y] = [out, either[0], either[1]].map(|slot| Lanes::one(slot_index(slot)));
        code.field(FieldInstruction::in_lanes(Form::Select, &[out, x, y], 1));
    }

    fn invert(&self, code: &mut Assembly, out: Slot, value: Slot) {
        let [out, x] = [out, value].map(|slot| Lanes::one(slot_index(slot)));
        code.field(FieldInstruction::in_lanes(Form::Invert, &[out, x], 1));
    }

    fn is_zero(&self, code: &mut Assembly, slot: Slot) {
        if self.rules.has(Form::IsZero) {
            code.field(FieldInstruction::formed(Form::IsZero, &[slot_index(slot)]));
            return;
        }
        if self.compare(code, Form::Equal, [slot, self.places.zero]) {
            return;
        }
        self.load_to(code, slot, 0);
        memory_is_zero(code, 0, self.element_bytes);
    }

    fn equal(&self, code: &mut Assembly, a: Slot, b: Slot) {
        if self.compare(code, Form::Equal, [a, b]) {
            return;
        }
        code.field(slot_instruction(&SlotOp { operation: FieldOp::Sub, out: self.places.spare, x: a, y: b }));
        self.is_zero(code, self.places.spare);
    }

    fn less(&self, code: &mut Assembly, a: Slot, b: Slot) {
        assert!(self.compare(code, Form::Less, [a, b]), "programs without that instruction are refused");
    }

    fn parse(&self, code: &mut Assembly, slot: Slot, size_bytes: u32, fail: LabelId) {
        if let Some(store) = self.padded(Form::StorePadded, size_bytes) {
            let words = size_bytes.next_multiple_of(32);
            if words <= self.memory_bytes() {
                code.push_below(size_bytes);
                push(code, 0);
                code.op(evm::CALLDATACOPY);
                self.transfer_row(code, store, (slot, 1, 0));
                return;
            }
        }
        let pad_bytes = size_bytes.saturating_sub(self.element_bytes);
        require_padding(code, pad_bytes, fail);
        let missing_bytes = self.element_bytes.saturating_sub(size_bytes);
        if missing_bytes > 0 {
            clear(code, 0, missing_bytes);
        }
        code.push_below(size_bytes.min(self.element_bytes));
        if pad_bytes > 0 {
            push(code, pad_bytes);
            code.op(evm::ADD);
        }
        push(code, missing_bytes);
        code.op(evm::CALLDATACOPY);
        if self.rules.store_reduces {
            self.require_canonical(code, self.element_bytes, self.element_bytes, fail);
        }
        self.store_from(code, slot, 0);
    }

    /// All padding is looked at together, where calldata has been copied to.
    fn parse_row(&self, code: &mut Assembly, slots: &[Slot], sizes: RowSizes, fail: LabelId) {
        let RowSizes { element_bytes: size_bytes, stride_bytes } = sizes;
        if !self.copies_rows(size_bytes) {
            return parse_one_by_one(self, code, slots, sizes, fail);
        }
        let pad_bytes = size_bytes - self.element_bytes;
        code.push_below(sizes.covered_bytes(slots.len()));
        push(code, 0);
        code.op(evm::CALLDATACOPY);
        let one_by_one = || slots.iter().zip(0..).map(|(&slot, number)| (slot, 1, number)).collect();
        let rows = if stride_bytes == size_bytes { runs(slots) } else { one_by_one() };
        if let Some(store) = self.padded(Form::StorePadded, size_bytes) {
            for (slot, count, number) in rows {
                self.transfer_row(code, store, (slot, count, number * stride_bytes));
            }
            return;
        }
        let rows = if pad_bytes == 0 { rows } else { one_by_one() };
        if pad_bytes > 0 {
            for place in (0..).step_by(stride_bytes as usize).take(slots.len()) {
                push(code, place); // u32 to usize widens
                code.op(evm::MLOAD);
                if place > 0 {
                    code.op(evm::OR);
                }
            }
            push(code, 8 * (32 - pad_bytes));
            code.op(evm::SHR);
            code.push_label(fail);
            code.op(evm::JUMPI);
        }
        for (slot, count, number) in rows {
            self.store_run(code, (slot, count, number * stride_bytes + pad_bytes));
        }
    }

    fn copied_bytes(&self, count: usize, sizes: RowSizes) -> u32 {
        let is_row = count > 1 && self.copies_rows(sizes.element_bytes);
        if is_row { sizes.covered_bytes(count) } else { self.element_bytes }
    }

    fn take_words(&self, code: &mut Assembly, slot: Slot, count: u32) {
        // Words that are wider than an element end where it does, with zeros in front.
        let end = self.element_bytes.max(32 * count);
        clear(code, 0, end - 32 * count);
        for above in 1..=count {
            push(code, end - 32 * above);
            code.op(evm::MSTORE);
        }
        self.store_from(code, slot, end - self.element_bytes);
    }

    fn output(&self, code: &mut Assembly, slot: Slot, address: u32, size_bytes: u32) {
        let pad_bytes = size_bytes.saturating_sub(self.element_bytes);
        if pad_bytes > 0 {
            clear(code, address, pad_bytes);
        }
        if size_bytes >= self.element_bytes {
            self.load_to(code, slot, address + pad_bytes);
        } else {
            // The number fits `size_bytes`, though the element is wider: leave its leading zeros out.
            self.load_to(code, slot, 0);
            copy_memory(code, size_bytes, self.element_bytes - size_bytes, address);
        }
    }

    fn returns_low(&self, size_bytes: u32, count: usize) -> bool {
        let fits = size_bytes as usize * count <= self.memory_bytes() as usize; // u32 to usize widens
        fits && size_bytes >= self.element_bytes
    }

    fn output_row(&self, code: &mut Assembly, slots: &[Slot], address: u32, size_bytes: u32) {
        let padded = self.padded(Form::LoadPadded, size_bytes);
        if padded.is_none() && size_bytes != self.element_bytes {
            for (slot, number) in slots.iter().zip(0..) {
                self.output(code, *slot, address + number * size_bytes, size_bytes);
            }
            return;
        }
        for (slot, count, number) in runs(slots) {
            let run = (slot, count, address + number * size_bytes);
            match padded {
                Some(load) => self.transfer_row(code, load, run),
                None => self.load_run(code, run),
            }
        }
    }

    fn high(&self, code: &mut Assembly, (out, value): (Slot, Slot), bytes: u32, address: u32) {
        self.load_to(code, value, address);
        self.store_from(code, out, address - bytes);
    }

    fn parse_mont_le(&self, code: &mut Assembly, slot: Slot, fail: LabelId) {
        let (bytes, end) = self.mont_scratch();
        self.reverse.copy_calldata(code, bytes, end);
        // Where elements are not padded to limbs, `STOREX` does not see the bytes in front.
        if self.rules.store_reduces || bytes > self.element_bytes {
            self.require_canonical(code, bytes, end, fail);
        }
        self.store_from(code, slot, end - self.element_bytes);
        if let Some(factors) = self.places.mont {
            code.field(slot_instruction(&SlotOp { operation: FieldOp::Mul, out: slot, x: slot, y: factors.parse }));
        }
    }

    fn output_mont_le(&self, code: &mut Assembly, slot: Slot, address: u32) {
        let (bytes, end) = self.mont_scratch();
        let mut from = slot;
        if let Some(factors) = self.places.mont {
            from = self.places.spare;
            code.field(slot_instruction(&SlotOp { operation: FieldOp::Mul, out: from, x: slot, y: factors.output }));
        }
        if bytes > self.element_bytes {
            clear(code, 0, end - self.element_bytes);
        }
        self.load_to(code, from, end - self.element_bytes);
        self.reverse.copy_memory(code, bytes, end - bytes, address);
    }

    fn lanes(&self, instruction: &FieldInstruction) -> Option<Vec<SlotOp>> {
        let lanes = slot_lanes(instruction)?;
        // Where lanes go in turn, one that reads what an earlier one has written means something else than the compiler.
        let reads_back = |at: usize, lane: &SlotOp| lanes[..at].iter().any(|one| [lane.x, lane.y].contains(&one.out));
        let in_turn = self.rules.lanes_in_turn;
        let is_meant = !in_turn || !lanes.iter().enumerate().any(|(at, lane)| reads_back(at, lane));
        is_meant.then_some(lanes)
    }

    fn read(&self, code: &[u8]) -> Option<(Vec<SlotOp>, usize)> {
        let (instruction, bytes) = self.revision.decode(code)?;
        Some((self.lanes(&instruction)?, bytes))
    }

    fn subroutines(&self, code: &mut Assembly) {
        self.reverse.subroutine(code);
    }

    fn data(&self, code: &mut Assembly) {
        code.mark(self.data);
        code.data(self.modulus_data());
        code.mark(self.given);
        for constant in &self.constants.given {
            code.data(self.encode(constant));
        }
    }
}
