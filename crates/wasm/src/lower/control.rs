//! The statements of a function: blocks, calls, loops, branches, arrays, calldata and output.

use residue_ir::program::{
    ArrayId, Control, ControlKind, FunctionId, Operand, Order, Region, Statement, Value, VariableId, Word,
};
use residue_ir::{Capacity, Cells, Effect, FirstSteps, SequenceStep};
use residue_passes::moves::sequence;
use residue_passes::{Placement, Slot};
use ruint::aliases::U256;
use wasm_encoder::{BlockType, Function, InstructionSink, ValType};

use super::routine::Routine;
use super::words::{Kept, LIMBS, any, constant, read, write, zeros};
use super::{FAILED, Lowering, OUTCOME, PAGE_BYTES, RECORDS, operation};
use crate::field::{Conversion, limb};
use residue_ir::program::FieldOp;

/// The local with the address of an element.
const ADDRESS: u32 = 0;
/// The first local of words.
const WORDS: u32 = 1;
/// Limbs that are copied one by one; longer copies are one instruction.
const LIMBS_COPIED: u32 = 24;

impl Lowering<'_> {
    /// The function `number` of the program.
    pub(super) fn function(&self, number: usize) -> Function {
        let mut body = Vec::new();
        let mut emitter = Emitter {
            lowering: self,
            function: &self.program.functions[number],
            placement: &self.allocation.functions[number],
            code: InstructionSink::new(&mut body),
            kept: Kept::new(WORDS, self.layout.memory),
        };
        emitter.region(&emitter.function.body);
        emitter.code.i32_const(0).end();
        let words = emitter.kept.locals() - WORDS;
        let mut function = Function::new([(1, ValType::I32), (words, ValType::I64)]);
        function.raw(body);
        function
    }
}

pub(super) struct Emitter<'a> {
    pub(super) lowering: &'a Lowering<'a>,
    function: &'a residue_ir::Function,
    placement: &'a Placement,
    pub(super) code: InstructionSink<'a>,
    pub(super) kept: Kept,
}

impl<'a> Emitter<'a> {
    fn value_bytes(&self) -> u32 {
        super::narrow(self.lowering.field.value_bytes())
    }

    fn limbs(&self) -> u32 {
        self.value_bytes() / 8
    }

    fn slot_address(&self, slot: Slot) -> i32 {
        (self.lowering.layout.slots + slot * self.value_bytes()).cast_signed()
    }

    /// A constant of the program, or after those one of the conversions.
    fn constant_slot(&self, index: u32) -> Slot {
        let layout = self.lowering.layout;
        (layout.constants - layout.slots) / self.value_bytes() + index
    }

    /// Changes the form of a value: from one address to another, which may be the same.
    fn convert(&mut self, conversion: Conversion, from: i32, to: i32) {
        // The constants of conversions lie after the program's own, in the order of their places.
        let constants = super::narrow(self.lowering.program.constants.len());
        let factor = self.slot_address(self.constant_slot(constants + conversion.place()));
        self.operation(FieldOp::Mul, [from, factor, to]);
    }

    fn slot(&self, operand: Operand) -> Slot {
        match operand {
            Operand::Value(value) => self.placement.slot(value),
            Operand::Constant(id) => self.constant_slot(id.0),
        }
    }

    fn address(&self, operand: Operand) -> i32 {
        self.slot_address(self.slot(operand))
    }

    pub(super) fn push(&mut self, word: Word) {
        self.kept.push(&mut self.code, self.function, word);
    }

    /// Pushes an i32 that is not 0 exactly if `word` is not.
    fn push_condition(&mut self, word: Word) {
        self.push(word);
        any(&mut self.code);
        self.code.i64_const(0).i64_ne();
    }

    /// Pushes a word clamped to 2³².
    pub(super) fn push_clamped(&mut self, word: Word) {
        self.push(word);
        self.code.call(Routine::Clamp.index());
    }

    fn keep(&mut self, result: Word) {
        let locals = self.kept.define(result);
        write(&mut self.code, locals);
    }

    /// Pops a limb and keeps it as a word.
    fn keep_limb(&mut self, result: Word) {
        zeros(&mut self.code);
        self.keep(result);
    }

    /// Ends the program here; the result of `main` is on the stack, an i32.
    pub(super) fn end_program(&mut self) {
        self.code.global_set(OUTCOME).i32_const(1).return_();
    }

    /// Pops an i32 and ends the program exceptionally if it is not 0.
    pub(super) fn fail_if(&mut self) {
        self.code.if_(BlockType::Empty).i32_const(FAILED);
        self.end_program();
        self.code.end();
    }

    fn moves(&mut self, moves: &[(Slot, Slot)]) {
        for copy in sequence(moves, self.lowering.layout.spare) {
            let (to, from) = (self.slot_address(copy.to), self.slot_address(copy.from));
            let limbs = copy.count * self.limbs();
            if limbs > LIMBS_COPIED {
                self.code.i32_const(to).i32_const(from).i32_const((8 * limbs).cast_signed()).memory_copy(0, 0);
                continue;
            }
            for index in 0..limbs as usize {
                self.code.i32_const(to).i32_const(from).i64_load(limb(index)).i64_store(limb(index));
            }
        }
    }

    fn move_to(&mut self, targets: &[Value], sources: &[Operand]) {
        let slots = targets.iter().zip(sources).map(|(&to, &from)| (self.placement.slot(to), self.slot(from)));
        self.moves(&slots.collect::<Vec<_>>());
    }

    fn region(&mut self, region: &'a Region) {
        for statement in &region.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
        match statement {
            Statement::Block(block) => {
                for &(value, op) in &block.ops {
                    let addresses = [op.x, op.y, Operand::Value(value)].map(|operand| self.address(operand));
                    self.operation(op.kind, addresses);
                }
            }
            Statement::Call { function, arguments, results } => self.call(*function, arguments, results),
            Statement::Control(control) => match &control.kind {
                ControlKind::Repeat { count, index } => self.repeat(control, *count, *index),
                ControlKind::Countdown { count } => self.countdown(control, *count),
                ControlKind::Sequence(order) => self.sequence(control, order),
                ControlKind::Branch { condition } => self.branch(control, *condition),
            },
            Statement::Effect(effect) => self.effect(effect),
        }
    }

    fn effect(&mut self, effect: &'a Effect) {
        // style: S2: a table: one arm for each effect.
        match effect {
            Effect::Reserve { array, count } => self.reserve(*array, *count),
            Effect::Load { array, index, results } => {
                self.element_address(*array, *index);
                self.load_element(results);
            }
            Effect::Store { array, index, values } => {
                self.element_address(*array, *index);
                self.store_element(values);
            }
            Effect::Fill { array, count, values } => self.fill(*array, *count, values),
            Effect::LineUp { .. } => {}  // Values have addresses of their own.
            Effect::Scratch { .. } => {} // There is as much as all ask for, zeros at the start.
            Effect::SetScratch { offset, word } => self.set_scratch(*offset, *word),
            Effect::SetScratchByte { offset, word } => self.set_scratch_byte(*offset, *word),
            Effect::KeccakF { offset } => self.keccak_f(*offset),
            Effect::CopyCalldata { offset, from, size_bytes } => self.copy_calldata(*offset, *from, *size_bytes),
            Effect::CopyScratch { offset, from, size_bytes } => self.copy_scratch(*offset, *from, *size_bytes),
            Effect::ReturnScratch { offset, size_bytes } => self.return_scratch(*offset, *size_bytes),
            Effect::Parse { result, offset, size_bytes } => self.parse(*result, *offset, *size_bytes),
            Effect::ParseMontLe { result, offset } => self.parse_mont_le(*result, *offset),
            Effect::Reduce { result, word } => self.reduce(*result, *word),
            Effect::Lanes { lanes } => self.lanes(lanes),
            Effect::Sha256 { .. }
            | Effect::Keccak256 { .. }
            | Effect::Lookup { .. }
            | Effect::TakeRow { .. }
            | Effect::TakeElement { .. }
            | Effect::FillFrom { .. }
            | Effect::Enter { .. }
            | Effect::ElementOf { .. }
            | Effect::WordOf { .. }
            | Effect::High { .. }
            | Effect::Invert { .. }
            | Effect::Less { .. }
            | Effect::ReturnLast { .. }
            | Effect::Keccak256Scratch { .. }
            | Effect::Sha256Scratch { .. }
            | Effect::TakeScratch { .. }
            | Effect::PutScratch { .. }
            | Effect::Precompile { .. }
            | Effect::ReturnPrecompile { .. }
            | Effect::ReturnAccount { .. }
            | Effect::ReturnWords { .. } => unreachable!("`lower` refuses programs with these"),
            Effect::IsOdd { result, value } => self.is_odd(*result, *value),
            Effect::IsZero { result, value } => self.truth(*result, Routine::IsZero, &[*value]),
            Effect::Equal { result, a, b } => self.truth(*result, Routine::AreEqual, &[*a, *b]),
            Effect::Bind { result, word } => {
                self.push(*word);
                self.keep(*result);
            }
            Effect::Get { result, variable } => self.get(*result, *variable),
            Effect::GetAcross { result, variable, first_byte } => self.get_across(*result, *variable, *first_byte),
            Effect::Index { result, variable, first_bit, cells, .. } => {
                self.index(*result, *variable, *first_bit, *cells);
            }
            Effect::Set { variable, word } | Effect::SetIndices { variable, indices: word, .. } => {
                self.set(*variable, *word);
            }
            Effect::Require { condition } => {
                self.push_condition(*condition);
                self.code.i32_eqz();
                self.fail_if();
            }
            Effect::ReturnWord { word } => self.return_word(*word),
            Effect::ReturnElements { values, size_bytes } => self.return_elements(values, *size_bytes),
            Effect::ReturnMontLe { values } => self.return_mont_le(values),
        }
    }

    /// Copies the values of the element at [`ADDRESS`].
    fn load_element(&mut self, results: &[Value]) {
        for (place, &value) in results.iter().enumerate() {
            let to = self.address(Operand::Value(value));
            self.copy_value(|code| code.i32_const(to), 0, |code| code.local_get(ADDRESS), place);
        }
    }

    fn is_odd(&mut self, result: Word, value: Operand) {
        let (address, scratch) = (self.address(value), self.lowering.layout.scratch.cast_signed());
        self.convert(Conversion::FromMont, address, scratch);
        self.code.i32_const(scratch).i64_load(limb(0)).i64_const(1).i64_and();
        self.keep_limb(result);
    }

    /// Keeps the limb that a routine gives for values.
    fn truth(&mut self, result: Word, routine: Routine, values: &[Operand]) {
        for &value in values {
            let address = self.address(value);
            self.code.i32_const(address);
        }
        self.code.call(routine.index());
        self.keep_limb(result);
    }

    fn get(&mut self, result: Word, variable: VariableId) {
        let address = self.variable(variable);
        for index in 0..4 {
            self.code.i32_const(address).i64_load(limb(index));
        }
        self.keep(result);
    }

    /// The word from byte `first_byte` of a variable on, which ends in the next one.
    fn get_across(&mut self, result: Word, variable: VariableId, first_byte: u32) {
        let [first, second] = [variable, VariableId(variable.0 + 1)].map(|variable| self.variable(variable));
        let part = |at: usize| if at < 4 { (second, limb(at)) } else { (first, limb(at - 4)) };
        let [whole, rest] = [(256 - 8 * first_byte) / 64, (256 - 8 * first_byte) % 64];
        for index in 0..4 {
            let at = index + whole as usize; // u32 to usize widens
            let (address, offset) = part(at);
            self.code.i32_const(address).i64_load(offset);
            if rest > 0 {
                let (address, offset) = part(at + 1);
                self.code.i64_const(rest.into()).i64_shr_u();
                self.code.i32_const(address).i64_load(offset).i64_const((64 - rest).into()).i64_shl().i64_or();
            }
        }
        self.keep(result);
    }

    fn index(&mut self, result: Word, variable: VariableId, first_bit: u32, cells: Cells) {
        let address = self.variable(variable);
        let [number, shift] = [first_bit / 64, first_bit % 64];
        self.code.i32_const(address).i64_load(limb(number as usize)).i64_const(shift.into()).i64_shr_u();
        self.code.i64_const((u64::MAX >> (64 - cells.bits)).cast_signed()).i64_and();
        self.keep_limb(result);
    }

    fn set(&mut self, variable: VariableId, word: Word) {
        let address = self.variable(variable);
        self.store_word(word, |code, first, index| {
            code.i32_const(address).local_get(first).i64_store(limb(index));
        });
    }

    fn return_word(&mut self, word: Word) {
        let address = self.lowering.layout.output.cast_signed();
        self.store_word(word, |code, local, index| {
            code.i32_const(address).local_get(local).call(Routine::SwapBytes.index()).i64_store(limb(3 - index));
        });
        self.code.i32_const(32);
        self.end_program();
    }

    fn operation(&mut self, kind: FieldOp, [x, y, out]: [i32; 3]) {
        self.code.i32_const(x).i32_const(y).i32_const(out).call(operation(kind));
    }

    fn variable(&self, variable: VariableId) -> i32 {
        (self.lowering.layout.variables + 32 * super::narrow(variable.0)).cast_signed()
    }

    /// Computes a word, then stores each limb; `store` gets the limb's local and its place.
    fn store_word(&mut self, word: Word, store: impl Fn(&mut InstructionSink<'a>, u32, usize)) {
        self.push(word);
        let locals = self.kept.temporary();
        write(&mut self.code, locals);
        for (local, index) in (locals..).zip(0..4) {
            store(&mut self.code, local, index);
        }
    }

    /// Copies a value, from the value `from_place` after one address to the value `to_place` after another.
    fn copy_value(
        &mut self,
        to: impl for<'c> Fn(&'c mut InstructionSink<'a>) -> &'c mut InstructionSink<'a>,
        to_place: usize,
        from: impl for<'c> Fn(&'c mut InstructionSink<'a>) -> &'c mut InstructionSink<'a>,
        from_place: usize,
    ) {
        let limbs = self.limbs() as usize;
        for index in 0..limbs {
            to(&mut self.code);
            from(&mut self.code).i64_load(limb(from_place * limbs + index)).i64_store(limb(to_place * limbs + index));
        }
    }

    fn call(&mut self, callee: FunctionId, arguments: &[Operand], results: &[Value]) {
        let function = self.lowering.program.function(callee);
        let placement = &self.lowering.allocation.functions[callee.0 as usize];
        let params = function.params.iter().map(|&param| placement.slot(param));
        let inward: Vec<(Slot, Slot)> = params.zip(arguments.iter().map(|&argument| self.slot(argument))).collect();
        self.moves(&inward);
        self.code.call(Lowering::function_index(callee.0 as usize));
        self.code.if_(BlockType::Empty).i32_const(1).return_().end();
        let given = |operand: &Operand| match *operand {
            Operand::Value(value) => placement.slot(value),
            Operand::Constant(id) => self.constant_slot(id.0),
        };
        let targets = results.iter().map(|&result| self.placement.slot(result));
        let outward: Vec<(Slot, Slot)> = targets.zip(function.results.iter().map(given)).collect();
        self.moves(&outward);
    }

    /// Parameters and results of a loop are in the same places, so a loop without a turn leaves the initial state.
    fn repeat(&mut self, repeat: &'a Control, turns: Word, turn: Word) {
        let [arm] = &repeat.arms[..] else { unreachable!("a loop has one arm: `verify` checks it") };
        self.move_to(&arm.params, &repeat.initial);
        let count = self.kept.temporary();
        self.push(turns);
        write(&mut self.code, count);
        let index = self.kept.define(turn);
        constant(&mut self.code, U256::ZERO);
        write(&mut self.code, index);
        self.code.block(BlockType::Empty).loop_(BlockType::Empty);
        read(&mut self.code, index);
        read(&mut self.code, count);
        self.code.call(Routine::WordLt.index()).i64_eqz().br_if(1);
        self.region(&arm.body);
        self.move_to(&arm.params, &arm.gives);
        read(&mut self.code, index);
        constant(&mut self.code, U256::ONE);
        self.code.call(Routine::WordAdd.index());
        write(&mut self.code, index);
        self.code.br(0).end().end();
    }

    /// One block in the other, so that the count chooses how many of them to leave: each ends where a turn begins, the
    /// outermost after the last.
    fn countdown(&mut self, countdown: &'a Control, count: Word) {
        let turns = &countdown.arms;
        if let Some(first) = turns.first() {
            self.move_to(&first.params, &countdown.initial);
        }
        for _ in 0..=turns.len() {
            self.code.block(BlockType::Empty);
        }
        let outermost = super::narrow(turns.len());
        self.push_clamped(count);
        self.code.i32_wrap_i64().br_table((0..=outermost).rev().collect::<Vec<_>>(), outermost);
        for turn in turns {
            self.code.end();
            self.region(&turn.body);
            self.move_to(&turn.params, &turn.gives);
        }
        self.code.end();
    }

    /// Number of steps done, in a local.
    fn steps_in_all(&mut self, FirstSteps { count, each }: FirstSteps<Word>) -> u32 {
        self.push_clamped(count);
        self.code.i64_const(each as i64).i64_mul(); // there are few
        let local = self.kept.temporary();
        self.code.local_set(local);
        local
    }

    /// A loop over the steps, with one block in the other, which each end where a part begins; a part goes on with the next
    /// step, or with a later part, and after the last step nothing is left to do. Steps that are chosen have a block
    /// each, within those, which ends where the number of the part is looked up.
    fn sequence(&mut self, sequence: &'a Control, order: &Order) {
        let Some(first) = sequence.arms.first() else { return };
        self.move_to(&first.params, &sequence.initial);
        let (step, parts) = (self.kept.temporary(), super::narrow(sequence.arms.len()));
        let count = order.first.map(|first| self.steps_in_all(first));
        let words = order.choosing();
        let locals: Vec<u32> = words.iter().map(|_| self.kept.temporary()).collect();
        for (&word, &locals) in words.iter().zip(&locals) {
            self.push(word);
            write(&mut self.code, locals);
        }
        let place = |word| words.iter().position(|&other| other == word).expect("it is one of them");
        let chosen = order.steps.iter().filter_map(|step| match *step {
            SequenceStep::Chosen { word, first_bit, first_part } => {
                Some((locals[place(word)] + first_bit / 64, first_bit % 64, first_part as i64)) // there are few
            }
            SequenceStep::Part(_) | SequenceStep::Carry { .. } | SequenceStep::CarryNumber(_) => None,
        });
        let chosen: Vec<(u32, u32, i64)> = chosen.collect();
        let choices = super::narrow(chosen.len());
        self.code.i64_const(0).local_set(step);
        self.code.block(BlockType::Empty).loop_(BlockType::Empty);
        for _ in 0..parts + choices {
            self.code.block(BlockType::Empty);
        }
        let mut next_choice = 0..choices;
        let targets: Vec<u32> = order
            .steps
            .iter()
            .filter_map(|step| match *step {
                SequenceStep::Part(number) => Some(choices + super::narrow(number)),
                SequenceStep::Chosen { .. } => Some(next_choice.next().expect("they were counted")),
                // Programs that take rows are refused.
                SequenceStep::Carry { .. } | SequenceStep::CarryNumber(_) => None,
            })
            .collect();
        self.code.local_get(step).i64_const(1).i64_add().local_set(step);
        if let Some(count) = count {
            self.code.local_get(step).local_get(count).i64_gt_u().br_if(parts + choices + 1);
        }
        // After the blocks of the parts come that of the loop and the one around it.
        self.code.local_get(step).i64_const(1).i64_sub().i32_wrap_i64().br_table(targets, parts + choices + 1);
        let last = super::narrow(SequenceStep::<Word>::choices(sequence.arms.len()).max(1)) - 1;
        for ((limb, shift, first_part), left) in chosen.into_iter().zip((0..choices).rev()) {
            self.code.end();
            self.code.local_get(limb).i64_const(shift.into()).i64_shr_u();
            if shift + SequenceStep::<Word>::CELLS.bits > 64 {
                self.code.local_get(limb + 1).i64_const(i64::from(64 - shift)).i64_shl().i64_or();
            }
            if first_part > 0 {
                self.code.i64_const(first_part).i64_add();
            }
            self.code.i64_const(i64::from((last + 1).next_power_of_two() - 1)).i64_and().i32_wrap_i64();
            self.code.br_table((left..left + last).collect::<Vec<_>>(), left + last);
        }
        for ((number, part), left) in sequence.arms.iter().enumerate().zip((0..parts).rev()) {
            self.code.end();
            self.region(&part.body);
            self.move_to(&part.params, &part.gives);
            // The part after this one is at the end of the next block.
            let next = order.then[number].map(|next| super::narrow(next - number - 1));
            self.code.br(next.unwrap_or(left));
        }
        self.code.end().end();
    }

    fn branch(&mut self, branch: &'a Control, condition: Word) {
        let [then, otherwise] = &branch.arms[..] else { unreachable!("a branch has two arms: `verify` checks it") };
        self.push_condition(condition);
        self.code.if_(BlockType::Empty);
        self.region(&then.body);
        self.move_to(&branch.results, &then.gives);
        self.code.else_();
        self.region(&otherwise.body);
        self.move_to(&branch.results, &otherwise.gives);
        self.code.end();
    }

    /// Grows memory where the records of that many indices do not fit; no memory left is an exceptional halt.
    fn reserve(&mut self, array: ArrayId, count: Word) {
        let program = self.lowering.program;
        if program.arrays[array.0].capacity != Capacity::Unbounded {
            return;
        }
        let pages = self.kept.temporary();
        self.push_clamped(count);
        self.code.i64_const(self.lowering.layout.record_bytes.into()).i64_mul();
        self.code.global_get(RECORDS).i64_extend_i32_u().i64_add();
        let page = PAGE_BYTES.cast_signed();
        self.code.i64_const(page - 1).i64_add().i64_const(page).i64_div_u();
        self.code.memory_size(0).i64_extend_i32_u().i64_sub().local_tee(pages).i64_const(0).i64_gt_s();
        self.code.if_(BlockType::Empty);
        // More pages than 32 bits can count are as many as nobody has.
        self.code.local_get(pages).i64_const(1 << 16).local_get(pages).i64_const(1 << 16).i64_lt_u().select();
        self.code.i32_wrap_i64().memory_grow(0).i32_const(-1).i32_eq();
        self.fail_if();
        self.code.end();
    }

    /// Leaves the address of an element in its local.
    fn element_address(&mut self, array: ArrayId, index: Word) {
        let layout = self.lowering.layout;
        let stride = layout.arrays[array.0].1;
        self.first_element_address(array);
        self.push_clamped(index);
        self.code.i32_wrap_i64().i32_const(stride.cast_signed()).i32_mul();
        self.code.local_get(ADDRESS).i32_add().local_set(ADDRESS);
    }

    /// Reads limb by limb from the end; bytes above the limbs must be 0, and the number below m.
    fn parse(&mut self, result: Value, offset: Word, size_bytes: u32) {
        let target = self.address(Operand::Value(result));
        let pos = self.kept.temporary();
        self.push_clamped(offset);
        self.code.local_set(pos);
        let read = |code: &mut InstructionSink<'a>, end: u32| {
            let count = end.min(8);
            code.local_get(pos).i64_const((end - count).into()).i64_add().i32_const(count.cast_signed());
            code.call(Routine::ReadBe.index());
        };
        for index in 0..self.limbs() {
            self.code.i32_const(target);
            match size_bytes.saturating_sub(8 * index) {
                0 => self.code.i64_const(0),
                end => {
                    read(&mut self.code, end);
                    &mut self.code
                }
            };
            self.code.i64_store(limb(index as usize));
        }
        self.code.i64_const(0);
        let mut end = size_bytes.saturating_sub(self.value_bytes());
        while end > 0 {
            read(&mut self.code, end);
            self.code.i64_or();
            end = end.saturating_sub(8);
        }
        self.code.i64_const(0).i64_ne().i32_const(target).call(Routine::IsBelow.index()).i64_eqz().i32_or();
        self.fail_if();
        self.convert(Conversion::ToMont, target, target);
    }

    /// Stores the limbs of a word mod m, with zeros above them.
    fn reduce(&mut self, result: Value, word: Word) {
        let target = self.address(Operand::Value(result));
        self.push(word);
        let modulus = self.lowering.program.modulus.known().expect("`lower` refuses others");
        if modulus.bits() <= 256 {
            let mut limbs = modulus.iter_u64_digits();
            constant(&mut self.code, U256::from_limbs(std::array::from_fn(|_| limbs.next().unwrap_or(0))));
            self.code.call(Routine::WordMod.index());
        }
        let locals = self.kept.temporary();
        write(&mut self.code, locals);
        for (index, local) in (0..self.limbs()).zip(locals..) {
            self.code.i32_const(target);
            if index < LIMBS {
                self.code.local_get(local)
            } else {
                self.code.i64_const(0)
            };
            self.code.i64_store(limb(index as usize));
        }
        self.convert(Conversion::ToMont, target, target);
    }

    /// Reads limbs in the other byte order, and takes those of Montgomery form with R = 2⁶⁴ⁿ.
    fn parse_mont_le(&mut self, result: Value, offset: Word) {
        let target = self.address(Operand::Value(result));
        let pos = self.kept.temporary();
        self.push_clamped(offset);
        self.code.local_set(pos);
        for index in 0..self.limbs() {
            self.code.i32_const(target).local_get(pos).i64_const((8 * index).into()).i64_add().i32_const(8);
            self.code.call(Routine::ReadBe.index()).call(Routine::SwapBytes.index()).i64_store(limb(index as usize));
        }
        self.code.i32_const(target).call(Routine::IsBelow.index()).i64_eqz();
        self.fail_if();
        self.convert(Conversion::FromCommon, target, target);
    }

    fn return_mont_le(&mut self, values: &[Operand]) {
        let output = self.lowering.layout.output;
        let size_bytes = self.value_bytes();
        for (place, &operand) in values.iter().enumerate() {
            let (from, to) = (self.address(operand), output + super::narrow(place) * size_bytes);
            self.convert(Conversion::ToCommon, from, to.cast_signed());
        }
        self.code.i32_const((super::narrow(values.len()) * size_bytes).cast_signed());
        self.end_program();
    }

    /// Stores the element at every index below `count`.
    fn fill(&mut self, array: ArrayId, count: u32, values: &[Operand]) {
        let left = self.kept.temporary();
        let stride = self.lowering.layout.arrays[array.0].1;
        self.first_element_address(array);
        self.code.i64_const(count.into()).local_set(left).loop_(BlockType::Empty);
        self.store_element(values);
        self.code.local_get(ADDRESS).i32_const(stride.cast_signed()).i32_add().local_set(ADDRESS);
        self.code.local_get(left).i64_const(1).i64_sub().local_tee(left).i64_const(0).i64_ne().br_if(0).end();
    }

    fn store_element(&mut self, values: &[Operand]) {
        for (place, &operand) in values.iter().enumerate() {
            let from = self.address(operand);
            self.copy_value(|code| code.local_get(ADDRESS), place, |code| code.i32_const(from), 0);
        }
    }

    /// Leaves the address of element 0 in its local.
    fn first_element_address(&mut self, array: ArrayId) {
        self.code.i32_const(self.lowering.layout.arrays[array.0].0.cast_signed());
        if self.lowering.program.arrays[array.0].capacity == Capacity::Unbounded {
            self.code.global_get(RECORDS).i32_add();
        }
        self.code.local_set(ADDRESS);
    }

    /// Writes the last element first: where elements are shorter than their limbs, leading zeros of one lie over the end of
    /// the one before it, which is written later.
    fn return_elements(&mut self, values: &[Operand], size_bytes: u32) {
        let scratch = self.lowering.layout.scratch.cast_signed();
        let output = self.lowering.layout.output;
        let padding = size_bytes.saturating_sub(self.value_bytes());
        for (place, &operand) in values.iter().enumerate().rev() {
            let start = output + super::narrow(place) * size_bytes;
            let address = self.address(operand);
            self.convert(Conversion::FromMont, address, scratch);
            if padding > 0 {
                self.code.i32_const(start.cast_signed()).i32_const(0).i32_const(padding.cast_signed()).memory_fill(0);
            }
            let limbs = start + size_bytes - self.value_bytes();
            self.code.i32_const(scratch).i32_const(limbs.cast_signed()).call(Routine::WriteBe.index());
        }
        self.code.i32_const((super::narrow(values.len()) * size_bytes).cast_signed());
        self.end_program();
    }
}
