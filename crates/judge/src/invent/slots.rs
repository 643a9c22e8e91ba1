//! Codes on slots: moduli, slot counts and sizes from the input, lanes of every kind, loads and stores in between.

use rand::Rng;
use rand::seq::IndexedRandom;
use residue_isa::form::Draw;
use residue_isa::opcode::evm as op;
use residue_isa::revision::rules::SetForm;
use residue_isa::writer::{self, Written};
use residue_isa::{FieldInstruction, FieldOp, Form, Lanes, SlotRules};

use super::layout::{self, WORDS_BYTES};
use super::writer::{BUFFER, Reach, Writer};

/// Offset of values in memory, after the modulus.
const VALUES: usize = 96;
/// Slots that a code shows at its end.
const SHOWN_MAX: usize = 64;

impl Writer<'_> {
    fn rules(&self) -> &'static SlotRules {
        self.revision.slot_rules().expect("this is a revision with slots")
    }

    /// Brings modulus and values to memory and from there to slots.
    pub(super) fn slots_prelude(&mut self) {
        let bytes = self.layout.modulus_bytes + self.layout.values_bytes();
        self.push(bytes);
        self.push(WORDS_BYTES);
        self.push(0u8);
        self.op(op::CALLDATACOPY);
        // Most revisions do not grow memory: it has to be there.
        self.push(BUFFER);
        self.op(op::MLOAD);
        self.op(op::POP);
        self.set_modulus();
        let count = self.layout.value_count();
        self.transfer(self.rules().store, 0, VALUES, count);
    }

    /// Another modulus, slot count or field context, with values in it or not.
    pub(super) fn set_again(&mut self) {
        if self.revision.slot_rules().is_none() {
            return self.memory_again();
        }
        self.set_modulus();
        if self.random.random_ratio(2, 3) {
            let count = self.layout.value_count();
            self.transfer(self.rules().store, 0, VALUES, count);
        }
    }

    fn set_modulus(&mut self) {
        let named = match self.random.random_range(0..12) {
            0 => self.random.random_range(self.layout.named..=256),
            _ => self.layout.named,
        };
        let size = self.layout.size;
        self.parameter(layout::SLOT_COUNT, named);
        self.parameter(layout::SIZE, size);
        self.push(0u8);
        let id = match layout::has_ids(self.revision) {
            true if self.is_rare(8) => self.random.random(),
            true => self.random.random_range(0..3u8),
            false => 0,
        };
        self.active_id = id;
        let form = self.rules().form;
        if form == SetForm::IdOnStack {
            self.push(id);
        }
        self.assembly.op(self.rules().set_modulus);
        self.depth = self.depth.saturating_sub(if form == SetForm::IdOnStack { 4 } else { 3 });
        if form == SetForm::IdImmediate {
            let item = residue_isa::assembly::Item::Data(vec![self.rules().set_modulus, id]);
            self.assembly.take_back(self.rules().set_modulus);
            self.assembly.item(item);
        }
    }

    fn transfer(&mut self, opcode: u8, slot: usize, offset: usize, count: usize) {
        let id = if self.is_rare(30) { self.random.random_range(0..3) } else { self.active_id };
        let Written { words, .. } = match opcode == self.rules().load {
            true => writer::load(self.rules(), id.into(), [offset, slot, count]),
            false => writer::store(self.rules(), id.into(), [slot, offset, count]),
        };
        words.iter().rev().for_each(|&word| self.push(word));
        self.assembly.op(opcode);
        self.depth = self.depth.saturating_sub(words.len());
    }

    /// Loads slots as values that are as wide as those of any modulus, and stores them in others.
    fn pass_padded(&mut self, [load, store]: [u8; 2]) {
        let count = self.random.random_range(1..=self.layout.value_count().min(6));
        for opcode in [load, store] {
            let slot = self.random.random_range(0..=self.layout.value_count() - count);
            self.push(count);
            let operands = if opcode == load { [slot, VALUES] } else { [VALUES, slot] };
            operands.into_iter().for_each(|operand| self.push(operand));
            let value_bytes = if self.is_rare(40) { self.random.random() } else { 96 };
            self.assembly.data([opcode, value_bytes]);
            self.depth = self.depth.saturating_sub(3);
        }
    }

    /// STORECX of a value that code has between instructions: below 80, so below most moduli, and no opcode that takes what follows it.
    fn store_from_code(&mut self, opcode: u8) {
        let slot = self.random.random_range(0..self.layout.value_count());
        let value = self.assembly.new_label();
        let mut bytes = vec![0; self.layout.element_bytes_max() - 1];
        bytes.push(self.random.random_range(0..80u8));
        self.push(1u8);
        self.assembly.push_label(value);
        self.push(slot);
        self.assembly.op(opcode);
        self.depth = self.depth.saturating_sub(2); // The label was not counted.
        let after = self.assembly.new_label();
        self.assembly.push_label(after).op(op::JUMP).mark(value);
        self.assembly.data(bytes).label(after);
    }

    /// Copies slots to the array or back: most often a few elements that others name too.
    fn element(&mut self, is_get: bool) {
        let named = self.named();
        let count = self.random.random_range(1..=named.min(6));
        let first = self.random.random_range(0..=named - count);
        let index: u32 =
            if self.is_rare(20) { self.random.random_range(0..2000) } else { self.random.random_range(0..12) };
        self.push(index);
        let rules = self.rules();
        let opcode = rules.opcode(if is_get { Form::Get } else { Form::Put }).expect("it has arrays");
        let byte = |number: usize| u8::try_from(number).expect("below 256");
        self.assembly.data([opcode, byte(first), byte(count)]);
        self.depth = self.depth.saturating_sub(1);
    }

    /// Loads or stores of some slots, or bytes of memory changed under them.
    pub(super) fn touch(&mut self) {
        if self.revision.slot_rules().is_none() {
            return self.touch_memory();
        }
        let padded = [Form::LoadPadded, Form::StorePadded].map(|form| self.rules().opcode(form));
        if let [Some(load), Some(store)] = padded
            && self.random.random_ratio(1, 4)
        {
            return self.pass_padded([load, store]);
        }
        if let Some(store) = self.rules().opcode(Form::StoreFromCode)
            && self.is_rare(8)
        {
            return self.store_from_code(store);
        }
        if let Some(prefix) = self.rules().prefix
            && self.is_rare(200)
        {
            // No instruction, so it halts.
            let other = self.random.random_range(0..0x80u8);
            self.assembly.data([prefix, other]);
        }
        let count = self.random.random_range(1..=self.layout.value_count());
        let slot = self.random.random_range(0..=self.layout.value_count() - count);
        match self.random.random_range(0..6) {
            0 | 1 => self.transfer(self.rules().load, slot, VALUES, count),
            2 | 3 => self.transfer(self.rules().store, slot, VALUES, count),
            4 => {
                self.transfer(self.rules().load, slot, VALUES, count);
                let to = self.random.random_range(0..=self.layout.value_count() - count);
                self.transfer(self.rules().store, to, VALUES, count);
            }
            _ => self.touch_memory(),
        }
    }

    /// Loads what is in slots.
    pub(super) fn show_slots(&mut self) {
        // Some runs have fewer slots than are named.
        let there = if self.is_rare(4) { self.layout.named } else { self.layout.near };
        let count = there.min(SHOWN_MAX);
        let slot = if self.is_rare(4) { there - count } else { 0 };
        let end = VALUES + count * self.layout.element_bytes_max();
        self.push(end);
        self.op(op::MLOAD);
        self.op(op::POP);
        self.transfer(self.rules().load, slot, VALUES, count);
    }

    /// Number of slots that instructions name here.
    fn named(&self) -> usize {
        match self.reach {
            Reach::Near => self.layout.near,
            Reach::Named => self.layout.named,
            Reach::Far => 256,
        }
    }

    /// One instruction; of a chain, one that takes what the one before has made.
    pub(super) fn slots_instruction(&mut self, is_chain: bool) {
        let rules = self.rules();
        let named = self.named();
        let slot =
            |random: &mut rand_chacha::ChaCha8Rng| u8::try_from(random.random_range(0..named)).expect("below 256");
        let operation = match self.random.random_range(0..4) {
            _ if is_chain => FieldOp::Mul,
            0 => FieldOp::Add,
            1 => FieldOp::Sub,
            _ => FieldOp::Mul,
        };
        if rules.has(Form::Get) && self.random.random_ratio(1, 8) {
            let is_get = self.random.random();
            return self.element(is_get);
        }
        let forms = rules.all_forms().filter(|form| form.is_instruction()).collect::<Vec<_>>();
        if let Some(&form) = forms.choose(&mut self.random)
            && self.random.random_ratio(1, 6)
        {
            return self.formed(form);
        }
        let [out, x, y] = [(); 3].map(|()| Lanes::one(slot(&mut self.random)));
        let (x, y) = if is_chain { (Lanes::one(0), Lanes::one(0)) } else { (x, y) };
        let out = if is_chain { Lanes::one(0) } else { out };
        let mut instruction = FieldInstruction::Slots { operation, out, x, y, count: 1 };
        if rules.is_strided && !is_chain && self.random.random_ratio(1, 3) {
            instruction = self.lanes(operation);
        }
        self.assembly.field(instruction);
    }

    /// An instruction beside arithmetic. An answer decides whether something is added, so that it shows; before it two slots are brought next to an edge,
    /// most often.
    fn formed(&mut self, form: Form) {
        let row = form.row();
        let operands = form.draw(&mut Named(self));
        let [x, y] = [0, 1].map(|place| operands.get(place).or(operands.first()).copied().unwrap_or_default());
        if row.pushes > 0 {
            self.edge_difference([x, y]);
        }
        for _ in row.words {
            let word = u8::from(self.random.random::<bool>());
            self.assembly.push(word);
        }
        self.assembly.field(FieldInstruction::formed(form, &operands));
        for _ in 0..row.pushes {
            let after = self.assembly.new_label();
            let shown = FieldInstruction::Slots {
                operation: FieldOp::Add,
                out: Lanes::one(y),
                x: Lanes::one(x),
                y: Lanes::one(y),
                count: 1,
            };
            self.assembly.push_label(after).op(op::JUMPI).field(shown).label(after);
        }
    }

    /// Makes two slots equal, or apart by the value of a third one, which is 1 often enough, from 0 on or not; or leaves them as they are.
    fn edge_difference(&mut self, [x, y]: [u8; 2]) {
        let by = u8::try_from(self.random.random_range(0..self.named())).expect("below 256");
        let steps: &[(FieldOp, [u8; 3])] = match self.random.random_range(0..8) {
            0 => &[(FieldOp::Sub, [x, x, x]), (FieldOp::Add, [x, x, y])],
            1 => &[(FieldOp::Sub, [x, y, by])],
            2 => &[(FieldOp::Add, [x, y, by])],
            3 => &[(FieldOp::Sub, [y, y, y]), (FieldOp::Sub, [x, y, by])],
            _ => &[],
        };
        for &(operation, slots) in steps {
            let [out, x, y] = slots.map(Lanes::one);
            self.assembly.field(FieldInstruction::Slots { operation, out, x, y, count: 1 });
        }
    }

    /// Several lanes that stay among the slots that are named, most often.
    fn lanes(&mut self, operation: FieldOp) -> FieldInstruction {
        let named = self.named();
        let count = match self.random.random_range(0..10) {
            0..7 => self.random.random_range(1..=named.min(8)),
            7 => *[16, 64].choose(&mut self.random).expect("it is not empty"),
            _ => self.random.random_range(1..=named.min(64)),
        };
        let mut place = |least: u8| {
            let gaps = count.max(2) - 1;
            let widest = u8::try_from((named - 1) / gaps).unwrap_or(u8::MAX);
            let stride =
                if widest > least { self.random.random_range(least..=widest.min(3).max(least)) } else { least };
            let room = (named - 1).saturating_sub(usize::from(stride) * (count - 1));
            Lanes { index: u8::try_from(self.random.random_range(0..=room)).expect("below 256"), stride }
        };
        let (out, x, y) = (place(1), place(0), place(0));
        // With one slot for all lanes, as a code that does a lot with few bytes.
        let count_byte = u8::try_from(count).expect("at most 64");
        if count > named || self.random.random_ratio(1, 8) {
            let count = count_byte.min(u8::try_from(named).unwrap_or(u8::MAX));
            return FieldInstruction::Slots {
                operation,
                out: Lanes::one(0),
                x: Lanes { index: 0, stride: 1 },
                y: Lanes { index: 0, stride: 0 },
                count,
            };
        }
        let rules = self.revision.slot_rules();
        let is_square = rules.is_some_and(|rules| rules.prices_squares) && self.random.random_ratio(1, 2);
        FieldInstruction::Slots { operation, out, x, y: if is_square { x } else { y }, count: count_byte }
    }
}

/// Operands among the slots that instructions name.
struct Named<'a, 'w>(&'a mut Writer<'w>);

impl Draw for Named<'_, '_> {
    fn count(&mut self) -> u8 {
        let most = match self.0.random.random_range(0..20) {
            0 => 64,
            1..8 => 8,
            _ => 1,
        };
        let most = most.min(self.0.named());
        u8::try_from(self.0.random.random_range(1..=most)).expect("at most 64")
    }

    fn lanes(&mut self, is_written: bool, count: u8) -> Lanes {
        let (named, gaps) = (self.0.named(), usize::from(count.max(2) - 1));
        let widest = ((named - 1) / gaps).min(3);
        let stride = self.0.random.random_range(usize::from(is_written).min(widest)..=widest);
        let room = (named - 1).saturating_sub(stride * usize::from(count - 1));
        let index = self.0.random.random_range(0..=room);
        let byte = |number: usize| u8::try_from(number).expect("below 256");
        Lanes { index: byte(index), stride: byte(stride.max(usize::from(is_written))) }
    }

    fn slot(&mut self) -> u8 {
        u8::try_from(self.0.random.random_range(0..self.0.named())).expect("below 256")
    }

    fn second(&mut self, first: Lanes, count: u8) -> u8 {
        let room = self.0.named().saturating_sub(first.last(count) as usize + 1); // u32 to usize widens
        first.index + u8::try_from(self.0.random.random_range(0..=room.min(3))).expect("at most 3")
    }

    fn byte(&mut self) -> u8 {
        [1, 9, self.0.random.random()][self.0.random.random_range(0..3)]
    }
}
