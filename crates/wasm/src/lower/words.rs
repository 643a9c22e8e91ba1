//! 256-bit words: four 64-bit limbs on the operand stack, the least significant first. Kept words are in four locals.

use std::collections::HashMap;

use residue_ir::WordOp;
use residue_ir::program::{Function, Word, WordDef};
use ruint::aliases::U256;
use wasm_encoder::InstructionSink;

use super::CALLDATA_BYTES;
use super::routine::Routine;
use super::scratch::at;
use crate::field::bits;

/// Limbs of a word.
pub(super) const LIMBS: u32 = 4;

/// Addresses of the words that a function keeps.
#[derive(Debug, Default)]
pub(super) struct Kept {
    locals: HashMap<Word, u32>,
    /// The next free local.
    next: u32,
    /// Address of scratch memory.
    memory: u32,
}

impl Kept {
    /// Words are kept in locals from `first` on, and words of scratch memory are at `memory`.
    pub fn new(first: u32, memory: u32) -> Self {
        Self { locals: HashMap::new(), next: first, memory }
    }

    /// Locals that are in use, from 0.
    pub fn locals(&self) -> u32 {
        self.next
    }

    /// Four locals of no word.
    pub fn temporary(&mut self) -> u32 {
        self.locals_in_row(LIMBS)
    }

    /// So many locals of no word.
    pub fn locals_in_row(&mut self, count: u32) -> u32 {
        let first = self.next;
        self.next += count;
        first
    }

    /// The locals of a word that is defined here.
    pub fn define(&mut self, word: Word) -> u32 {
        let first = self.temporary();
        self.locals.insert(word, first);
        first
    }

    /// Pushes `word`.
    pub fn push(&self, code: &mut InstructionSink<'_>, function: &Function, word: Word) {
        match &function.words[word.0 as usize] {
            WordDef::Constant(value) => constant(code, *value),
            WordDef::Has(_) => unreachable!("programs are lowered when what they ask is answered"),
            WordDef::CalldataSize => {
                code.global_get(CALLDATA_BYTES).i64_extend_i32_u();
                zeros(code);
            }
            WordDef::CalldataWord(offset) => {
                // The most significant limb comes first in calldata.
                for limb in (0..i64::from(LIMBS)).rev() {
                    self.push(code, function, *offset);
                    code.call(Routine::Clamp.index()).i64_const(8 * limb).i64_add().i32_const(8);
                    code.call(Routine::ReadBe.index());
                }
            }
            WordDef::Op(op, a, b) => {
                self.push(code, function, *a);
                self.push(code, function, *b);
                apply(code, *op);
            }
            WordDef::ScratchWord(offset) => {
                for limb in (0..LIMBS).rev() {
                    self.push(code, function, *offset);
                    code.call(Routine::Clamp.index()).i32_wrap_i64();
                    code.i64_load(at(self.memory + 8 * limb)).call(Routine::SwapBytes.index());
                }
            }
            WordDef::ModOp(..) | WordDef::LeadingZeros(_) => unreachable!("programs with these are refused"),
            WordDef::Defined => read(code, self.locals[&word]),
        }
    }
}

/// Pushes a constant.
pub(super) fn constant(code: &mut InstructionSink<'_>, value: U256) {
    for &limb in value.as_limbs() {
        code.i64_const(bits(limb));
    }
}

/// Pushes the limbs of a small word above its lowest.
pub(super) fn zeros(code: &mut InstructionSink<'_>) {
    code.i64_const(0).i64_const(0).i64_const(0);
}

/// Pushes the word in the locals from `first` on.
pub(super) fn read(code: &mut InstructionSink<'_>, first: u32) {
    for limb in 0..LIMBS {
        code.local_get(first + limb);
    }
}

/// Pops a word into the locals from `first` on.
pub(super) fn write(code: &mut InstructionSink<'_>, first: u32) {
    for limb in (0..LIMBS).rev() {
        code.local_set(first + limb);
    }
}

/// Pops a word and pushes an i64 that is 0 exactly if the word is.
pub(super) fn any(code: &mut InstructionSink<'_>) {
    code.i64_or().i64_or().i64_or();
}

/// (a, b) ↦ a op b.
fn apply(code: &mut InstructionSink<'_>, op: WordOp) {
    let (routine, is_limb) = match op {
        WordOp::Add => (Routine::WordAdd, false),
        WordOp::Sub => (Routine::WordSub, false),
        WordOp::Mul => (Routine::WordMul, false),
        WordOp::Div => (Routine::WordDiv, false),
        WordOp::Mod => (Routine::WordMod, false),
        WordOp::Lt => (Routine::WordLt, true),
        WordOp::Eq => (Routine::WordEq, true),
        WordOp::And => (Routine::WordAnd, false),
        WordOp::Or => (Routine::WordOr, false),
        WordOp::Xor => (Routine::WordXor, false),
        WordOp::Shl => (Routine::WordShl, false),
        WordOp::Shr => (Routine::WordShr, false),
        WordOp::Byte => (Routine::WordByte, true),
    };
    code.call(routine.index());
    if is_limb {
        zeros(code);
    }
}
