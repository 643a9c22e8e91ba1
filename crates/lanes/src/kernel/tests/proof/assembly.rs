//! The passes of a window that `ifma` has in assembly, read from the text that the assembler gets.

use super::machine::Symbols;
use super::symbols::Symbol;
use crate::kernel::vectors::Vectors;

/// Symbols of the operands of an assembly text.
pub struct Operands<'a, const N: usize> {
    /// `{t0}` to `{t7}`, read and written.
    pub t: &'a mut [[Symbol; N]],
    /// `{x0}` to `{x7}`.
    pub x: &'a [[Symbol; N]],
    /// `{y}`, `{z}` and `{u}`, by name.
    pub vectors: &'a [(&'a str, [Symbol; N])],
    /// The constants at `{m}`.
    pub m: &'a [Symbol],
}

impl<const N: usize> Operands<'_, N> {
    fn vector(&self, v: Symbols<'_, N>, operand: &str) -> [Symbol; N] {
        if let Some(index) = operand.strip_prefix("qword ptr [{m} + 8*").and_then(|rest| rest.strip_suffix("]{{1to8}}"))
        {
            return v.broadcast(self.m[number(index)]);
        }
        let name = operand.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).expect("a name in braces");
        if let Some((_, vector)) = self.vectors.iter().find(|(other, _)| *other == name) {
            return *vector;
        }
        match name.split_at(1) {
            ("t", index) => self.t[number(index)],
            ("x", index) => self.x[number(index)],
            _ => panic!("no operand is named {name}"),
        }
    }
}

/// Executes the instructions of a text.
pub fn execute<const N: usize>(v: Symbols<'_, N>, text: &str, operands: Operands<'_, N>) {
    for line in text.lines() {
        let (name, rest) = line.split_once(' ').expect("an instruction has operands");
        let [to, x, y] = rest.split(", ").collect::<Vec<_>>().try_into().expect("three operands");
        let [t, x, y] = [to, x, y].map(|operand| operands.vector(v, operand));
        let to = to.strip_prefix("{t").and_then(|rest| rest.strip_suffix('}')).expect("an accumulator");
        operands.t[number(to)] = match name {
            "vpmadd52luq" => v.add_low(t, x, y),
            "vpmadd52huq" => v.add_high(t, x, y),
            _ => panic!("no instruction is named {name}"),
        };
    }
}

fn number(digits: &str) -> usize {
    digits.parse().expect("digits")
}
