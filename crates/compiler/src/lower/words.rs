//! Words: expressions on the stack, and kept words.

use super::{DUP_DEPTH_MAX, Entry, Lowering, hash};
use crate::error::CompileError;
use crate::target::push;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use num_bigint::BigUint;
use residue_ir::program::{ArrayId, Function, VariableId, Word, WordDef};
use residue_ir::{Effect, ModOp, Statement, WordOp};
use residue_isa::assembly::LabelId;
use residue_isa::opcode::evm;
use residue_passes::rows::walk;
use residue_passes::{Row, Slot};
use ruint::aliases::U256;

/// Maximum depth of a live word before room is made: an expression has operands of its own above it.
const REACH: usize = 14;

/// `word` as the assembler takes numbers.
pub(super) fn big(word: U256) -> BigUint {
    BigUint::from_bytes_be(&word.to_be_bytes::<32>())
}

/// Counts one computation of `read`.
pub(super) fn count_word(function: &Function, uses: &mut HashMap<Word, usize>, read: Word) {
    match &function.words[read.0 as usize] {
        WordDef::Defined => *uses.entry(read).or_insert(0) += 1,
        expression => expression.inner().for_each(|inner| count_word(function, uses, inner)),
    }
}

/// Number of reads of each kept word when the `rows` of `function` are lowered.
pub(super) fn count_uses(function: &Function, rows: &[Row<'_>]) -> HashMap<Word, usize> {
    let mut uses = HashMap::new();
    walk(rows, &mut |row| {
        let again = match row {
            Row::Effect(effect) => hash::words_read_again(effect.pieces().unwrap_or_default()),
            _ => Vec::new(),
        };
        row.words().into_iter().chain(again).for_each(|read| count_word(function, &mut uses, read));
    });
    uses
}

/// Words that say whether an element is zero.
pub(super) fn zero_tests(function: &Function) -> HashSet<Word> {
    let mut tests = HashSet::new();
    function.body.walk(&mut |statement| {
        if let Statement::Effect(Effect::IsZero { result, .. }) = statement {
            tests.insert(*result);
        }
    });
    tests
}

/// Words that `function` binds and then reads only as the index of loads and stores of one array, with that array.
pub(super) fn indices_of_one_array(function: &Function, rows: &[Row<'_>]) -> HashMap<Word, ArrayId> {
    let mut bound: HashSet<Word> = HashSet::new();
    let mut indices: HashMap<Word, HashMap<ArrayId, usize>> = HashMap::new();
    walk(rows, &mut |row| match row {
        Row::Transfer(transfer) => {
            for (array, _) in &transfer.elements {
                *indices.entry(transfer.index).or_default().entry(*array).or_insert(0) += 1;
            }
        }
        Row::Effect(Effect::Bind { result, .. } | Effect::Index { result, .. }) => {
            bound.insert(*result);
        }
        _ => {}
    });
    let uses = count_uses(function, rows);
    let only_use = |word: Word, arrays: HashMap<ArrayId, usize>| {
        let (&array, count) = arrays.iter().next().filter(|_| bound.contains(&word) && arrays.len() == 1)?;
        (uses.get(&word) == Some(count)).then_some((word, array))
    };
    indices.into_iter().filter_map(|(word, arrays)| only_use(word, arrays)).collect()
}

impl Lowering<'_> {
    /// Takes words from the top of the stack that this region keeps and never reads again.
    pub(super) fn drop_unread(&mut self) {
        while let Some(&Entry::Kept(word, depth)) = self.stack.last()
            && depth == self.depth
            && self.uses.get(&word) == Some(&0)
        {
            self.code.op(evm::POP);
            self.stack.pop();
        }
    }

    /// Takes words that are never read again from under the one on top, where the stack has `height` words or more.
    pub(super) fn drop_buried(&mut self, height: usize) {
        let Some((&Entry::Kept(_, depth), below)) = self.stack.split_last() else { return };
        let is_dead = |entry: &&Entry| matches!(entry, Entry::Kept(word, of) if *of == self.depth && self.uses.get(word) == Some(&0));
        let dead = below.iter().rev().take_while(is_dead).count().min(usize::from(DUP_DEPTH_MAX));
        let swap = u8::try_from(dead).ok().filter(|&dead| dead > 0);
        let Some(swap) = swap.filter(|_| depth == self.depth && self.stack.len() >= height) else { return };
        self.code.op(evm::SWAP1 + (swap - 1));
        for _ in 0..dead {
            self.code.op(evm::POP);
        }
        let top = self.stack.len() - 1;
        self.stack.drain(top - dead..top);
    }

    /// The address of a byte of scratch memory.
    pub(super) fn scratch_address(&mut self, offset: Word) -> Result<(), CompileError> {
        let base = self.layout.scratch;
        match &self.function.words[offset.0 as usize] {
            WordDef::Constant(value) => {
                self.code.push(big(value.wrapping_add(U256::from(base))));
                self.stack.push(Entry::Other);
            }
            _ => {
                self.word(offset)?;
                if base > 0 {
                    push(self.code, base);
                    self.code.op(evm::ADD);
                }
            }
        }
        Ok(())
    }

    /// The word just computed, on top of the stack, stays there under this name; a word that is never read goes.
    ///
    /// If live words get out of reach, it takes the place of a dead one.
    pub(super) fn keep(&mut self, word: Word) {
        if self.uses.get(&word).is_none_or(|&uses| uses == 0) {
            self.code.op(evm::POP);
            return;
        }
        let is_read =
            |entry: &Entry| matches!(entry, Entry::Kept(kept, _) if self.uses.get(kept).is_some_and(|&uses| uses > 0));
        let deepest = self.stack.iter().position(is_read).map_or(0, |place| self.stack.len() - place);
        let is_free = |entry: &Entry| matches!(entry, Entry::Kept(_, depth) if *depth == self.depth) && !is_read(entry);
        let free = self.stack.iter().position(is_free).map(|place| (place, self.stack.len() - place));
        match free {
            Some((place, down)) if deepest >= REACH && down <= usize::from(DUP_DEPTH_MAX) => {
                self.code.op(evm::SWAP1 + u8::try_from(down - 1).expect("at most sixteen"));
                self.code.op(evm::POP);
                self.stack[place] = Entry::Kept(word, self.depth);
            }
            _ => self.stack.push(Entry::Kept(word, self.depth)),
        }
    }

    /// Computes `word` on top of the stack.
    pub(super) fn word(&mut self, word: Word) -> Result<(), CompileError> {
        match &self.function.words[word.0 as usize] {
            WordDef::Constant(value) => {
                self.constant(*value);
                return Ok(());
            }
            WordDef::Has(_) => unreachable!("programs are compiled when what they ask is answered"),
            WordDef::CalldataSize => {
                self.code.op(evm::CALLDATASIZE);
            }
            WordDef::CalldataWord(offset) => {
                self.word(*offset)?;
                self.code.op(evm::CALLDATALOAD);
                self.stack.pop();
            }
            WordDef::ScratchWord(offset) => {
                self.scratch_address(*offset)?;
                self.code.op(evm::MLOAD);
                self.stack.pop();
            }
            WordDef::Op(op, a, b) => self.operation(*op, *a, *b)?,
            WordDef::ModOp(op, operands) => self.mod_operation(*op, *operands)?,
            WordDef::LeadingZeros(inner) => {
                self.word(*inner)?;
                self.code.op(evm::CLZ);
                self.stack.pop();
            }
            WordDef::Defined => {
                self.kept(word)?;
                self.stack.push(Entry::Copy(word));
                return Ok(());
            }
        }
        self.stack.push(Entry::Other);
        Ok(())
    }

    /// Pushes `value`, or copies it if an operand within reach is the same: that takes one byte.
    pub(super) fn constant(&mut self, value: U256) {
        let above = self.stack.iter().rev().position(|&entry| entry == Entry::Constant(value));
        let above = above.and_then(|above| u8::try_from(above).ok());
        match above.filter(|&above| above < DUP_DEPTH_MAX && value >= U256::from(256)) {
            Some(above) => {
                self.code.op(evm::DUP1 + above);
            }
            None => {
                let number = big(value);
                if !self.target.push_held(self.code, &number) {
                    self.code.push(number);
                }
            }
        }
        self.stack.push(Entry::Constant(value));
    }

    /// Computes `word` mod m on top of the stack.
    pub(super) fn reduced(&mut self, word: Word) -> Result<(), CompileError> {
        let modulus = self.program.modulus.known().expect("`verify` refuses it where it is given");
        if modulus.bits() > 256 {
            return self.word(word);
        }
        self.code.push(modulus.clone());
        self.stack.push(Entry::Other);
        self.word(word)?;
        self.code.op(evm::MOD);
        self.stack.pop();
        Ok(())
    }

    /// The number that a word is, if it is a constant.
    pub(super) fn known(&self, word: Word) -> Option<U256> {
        match &self.function.words[word.0 as usize] {
            WordDef::Constant(value) => Some(*value),
            _ => None,
        }
    }

    fn is_constant_zero(&self, word: Word) -> bool {
        self.known(word).is_some_and(|value| value.is_zero())
    }

    /// The operands leave the stack model; the result is pushed by the caller.
    fn operation(&mut self, op: WordOp, a: Word, b: Word) -> Result<(), CompileError> {
        if op == WordOp::Eq && (self.is_constant_zero(a) || self.is_constant_zero(b)) {
            self.word(if self.is_constant_zero(b) { a } else { b })?;
            self.code.op(evm::ISZERO);
            self.stack.pop();
            return Ok(());
        }
        // The EVM takes its first operand from the top, but the amount of a shift and the index of a byte.
        let (deep, top) = if matches!(op, WordOp::Shl | WordOp::Shr | WordOp::Byte) { (a, b) } else { (b, a) };
        let commutes = matches!(op, WordOp::Add | WordOp::Mul | WordOp::Eq | WordOp::And | WordOp::Or | WordOp::Xor);
        if self.lies_below_the_first_of(deep, top) {
            self.take_below(deep);
            self.word(top)?;
        } else if commutes && self.lies_below_the_first_of(top, deep) {
            self.take_below(top);
            self.word(deep)?;
        } else {
            self.word(deep)?;
            if commutes && self.is_last_read(top, 1) {
                self.take_below(top);
            } else {
                if self.first_read(top).is_some_and(|first| self.is_last_read(first, 1)) {
                    self.code.op(evm::SWAP1);
                    let height = self.stack.len();
                    self.stack.swap(height - 1, height - 2);
                }
                self.word(top)?;
            }
        }
        self.code.op(match op {
            WordOp::Add => evm::ADD,
            WordOp::Sub => evm::SUB,
            WordOp::Mul => evm::MUL,
            WordOp::Div => evm::DIV,
            WordOp::Mod => evm::MOD,
            WordOp::Lt => evm::LT,
            WordOp::Eq => evm::EQ,
            WordOp::And => evm::AND,
            WordOp::Or => evm::OR,
            WordOp::Xor => evm::XOR,
            WordOp::Shl => evm::SHL,
            WordOp::Shr => evm::SHR,
            WordOp::Byte => evm::BYTE,
        });
        self.stack.pop();
        self.stack.pop();
        Ok(())
    }

    /// The same modulo a word. Deep down lies the modulus, so a power that is one expression is computed on top of as many copies of it as
    /// it has products, which takes nothing to move. A word on top that nothing else reads stays there, and the modulus goes below it.
    fn mod_operation(&mut self, op: ModOp, [a, b, modulus]: [Word; 3]) -> Result<(), CompileError> {
        let on_top = [(a, b), (b, a)].into_iter().find(|&(word, other)| word != other && self.is_last_read(word, 0));
        if let Some((word, other)) = on_top {
            self.word(word)?;
            self.word(modulus)?;
            self.code.op(evm::SWAP1);
            let height = self.stack.len();
            self.stack.swap(height - 1, height - 2);
            self.word(other)?;
        } else {
            self.word(modulus)?;
            self.word(b)?;
            if a == b {
                self.code.op(evm::DUP1);
                self.stack.push(Entry::Other);
            } else {
                self.word(a)?;
            }
        }
        self.code.op(match op {
            ModOp::Add => evm::ADDMOD,
            ModOp::Mul => evm::MULMOD,
        });
        self.stack.truncate(self.stack.len() - 3);
        Ok(())
    }

    /// Copies a kept word to the top, or takes it there if this is its last reader: then the kept word on top goes where it was.
    fn kept(&mut self, word: Word) -> Result<(), CompileError> {
        let place = self.place(word);
        let place = place.ok_or_else(|| CompileError::Stack { function: self.function.name.clone() })?;
        let left = self.uses.get_mut(&word).expect("every read was counted");
        *left -= 1;
        let last = *left == 0 && self.stack[place] == Entry::Kept(word, self.depth);
        let down = self.stack.len() - 1 - place;
        if last && down == 0 {
            self.stack.pop();
            return Ok(());
        }
        let near = |down: usize| u8::try_from(down).ok().filter(|&down| down <= DUP_DEPTH_MAX);
        let is_of_here = |entry: &Entry| matches!(entry, Entry::Kept(_, depth) if *depth == self.depth);
        if let Some(near) = near(down)
            && last
            && self.stack[place..].iter().all(is_of_here)
        {
            self.code.op(evm::SWAP1 + near - 1);
            self.stack.swap_remove(place);
            return Ok(());
        }
        // A copy that is an operand serves as well.
        let is_copy = |entry: &Entry| matches!(entry, Entry::Copy(copied) if *copied == word);
        let place = self.stack.iter().rposition(is_copy).map_or(place, |copy| copy.max(place));
        match near(self.stack.len() - 1 - place).filter(|&near| near < DUP_DEPTH_MAX) {
            Some(near) => {
                self.code.op(evm::DUP1 + near);
                Ok(())
            }
            None => Err(CompileError::Stack { function: self.function.name.clone() }),
        }
    }

    /// Position of a kept word on the stack.
    fn place(&self, word: Word) -> Option<usize> {
        self.stack.iter().rposition(|entry| matches!(entry, Entry::Kept(kept, _) if *kept == word))
    }

    /// True if `word` is a kept word of this region, `down` words below the top of the stack, with one read left.
    fn is_last_read(&self, word: Word, down: usize) -> bool {
        let place = self.stack.len().checked_sub(down + 1);
        let is_there = place.is_some_and(|place| self.stack[place] == Entry::Kept(word, self.depth));
        is_there && self.uses.get(&word) == Some(&1)
    }

    /// True if computing `top` begins with the word on top of the stack, which nothing else reads, and `deep` is the one below it, likewise: then
    /// both are where an operation of `deep` and `top` wants them.
    pub(super) fn lies_below_the_first_of(&self, deep: Word, top: Word) -> bool {
        self.is_last_read(deep, 1) && self.begins_on_top(top)
    }

    /// True if computing `word` begins with the word on top of the stack, which nothing else reads.
    pub(super) fn begins_on_top(&self, word: Word) -> bool {
        self.first_read(word).is_some_and(|first| self.is_last_read(first, 0))
    }

    /// The kept word that computing `word` begins with, if it begins with one.
    fn first_read(&self, word: Word) -> Option<Word> {
        match &self.function.words[word.0 as usize] {
            WordDef::Defined => Some(word),
            WordDef::CalldataWord(inner) | WordDef::ScratchWord(inner) | WordDef::LeadingZeros(inner) => {
                self.first_read(*inner)
            }
            WordDef::Op(WordOp::Shl | WordOp::Shr | WordOp::Byte, a, _) => self.first_read(*a),
            WordDef::Op(_, _, b) => self.first_read(*b),
            WordDef::Constant(_) | WordDef::CalldataSize | WordDef::Has(_) | WordDef::ModOp(..) => None,
        }
    }

    /// The word below the top of the stack becomes an operand: this was its last reader.
    pub(super) fn take_below(&mut self, word: Word) {
        self.uses.insert(word, 0);
        let below = self.stack.len() - 2;
        self.stack[below] = Entry::Other;
    }

    /// Jumps to `label` if `condition` is 0.
    pub(super) fn jump_if_zero(&mut self, condition: Word, label: LabelId) -> Result<(), CompileError> {
        let negated = self.negated(condition);
        self.word(negated.unwrap_or(condition))?;
        // What a comparison with zero has left on top need not be turned twice.
        if negated.is_none() && !self.code.take_back(evm::ISZERO) {
            self.code.op(evm::ISZERO);
        }
        self.code.push_label(label);
        self.code.op(evm::JUMPI);
        self.stack.pop();
        Ok(())
    }

    /// The word that a condition compares with zero, if it is such a comparison.
    pub(super) fn negated(&self, condition: Word) -> Option<Word> {
        match self.function.words[condition.0 as usize] {
            WordDef::Op(WordOp::Eq, a, b) if self.is_constant_zero(b) => Some(a),
            _ => None,
        }
    }

    pub(super) fn variable(&self, variable: VariableId) -> u32 {
        self.layout.variables + 32 * u32::try_from(variable.0).expect("variables are few")
    }

    /// Writes the canonical value where output goes, so that it ends with a word there. [] → [1 if it is odd, else 0]
    pub(super) fn is_odd(&mut self, slot: Slot) {
        if self.target.push_word(self.code, slot) {
            push(self.code, 1);
            self.code.op(evm::AND);
            return;
        }
        let size_bytes = u32::try_from(self.program.modulus.bits().div_ceil(8)).expect("the width was checked");
        let start = self.layout.output + 32_u32.saturating_sub(size_bytes);
        self.target.output(self.code, slot, start, size_bytes);
        push(self.code, start + size_bytes - 32);
        self.code.op(evm::MLOAD);
        push(self.code, 1);
        self.code.op(evm::AND);
    }
}
