//! A program as a Python function of the package in `python/`, which records the same program from it.
//!
//! The package has fewer statements than the text form: a program with another one has no such form, and the error names it. What is
//! recorded from the Python text has the statements of the program in their order; constants, words and values may have other numbers, and
//! stretches are those of the Python lines.

use crate::effect::Effect;
use crate::hash::Piece;
use crate::machine::WordOp;
use crate::program::{
    Arm, Block, Control, ControlKind, Function, Modulus, Operand, Program, Region, Statement, Value, Word, WordDef,
};
use residue_formula::FieldOp;
use std::fmt::Write;
use thiserror::Error;

/// A statement or word that the package has no form for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the Python package has no form for {0}")]
pub struct NoPython(pub String);

type Written<T = ()> = Result<T, NoPython>;

/// The Python text of `program`. An error names the first statement or word that the package does not have.
pub fn python(program: &Program) -> Result<String, NoPython> {
    let Modulus::Known(modulus) = &program.modulus else { return Err(none("a modulus that is given")) };
    for (is_there, what) in [
        (!program.subprograms.is_empty(), "a subprogram: over(…) records one from a function of words"),
        (!program.arrays.is_empty(), "an array without the check of its index"),
        (!program.tables.is_empty(), "a table without the check of its index"),
    ] {
        if is_there {
            return Err(none(what));
        }
    }
    let size = elements_bytes(&program.entry().body).map_or(String::new(), |size| format!(", size={size}"));
    let mut printer = Printer { program, function: program.entry(), text: String::new(), depth: 0, arms: 0 };
    printer.line("import residue as rs");
    printer.line("");
    printer.line(&format!("F = rs.Field({modulus:#x}, {})", quoted(&program.name)));
    for (number, constant) in program.constants.iter().enumerate() {
        printer.line(&format!("c{number} = F({constant:#x})"));
    }
    let (start, others) = program.functions.split_last().ok_or_else(|| none("a program without functions"))?;
    for (number, function) in others.iter().enumerate() {
        printer.function = function;
        printer.head("@rs.function", &format!("f{number}"), &names(&function.params));
        printer.body(&function.body, |printer| Ok(format!("return {}", printer.tuple(&function.results))))?;
    }
    printer.function = start;
    printer.head(&format!("@rs.program(F, name={}{size})", quoted(&program.name)), "program", &["call".to_owned()]);
    for (number, name) in program.variables.iter().enumerate() {
        printer.depth = 1;
        printer.line(&format!("x{number} = rs.Variable(0, {})", quoted(name)));
    }
    printer.body(&start.body, |_| Ok(String::new()))?;
    Ok(printer.text)
}

fn none(what: impl Into<String>) -> NoPython {
    NoPython(what.into())
}

/// A name as a literal of Python, whose escapes of characters are `\u` and four digits, or `\U` and eight.
fn quoted(name: &str) -> String {
    let escaped = name.chars().map(|char| match char {
        '"' | '\\' => format!("\\{char}"),
        ' '..='~' => char.to_string(),
        _ => format!("\\U{:08x}", u32::from(char)),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Bytes of the elements that are returned, where all returns agree with the first.
fn elements_bytes(body: &Region) -> Option<u32> {
    let mut found = None;
    body.walk(&mut |statement| {
        if let Statement::Effect(Effect::ReturnElements { size_bytes, .. }) = statement {
            found = found.or(Some(*size_bytes));
        }
    });
    found
}

fn names(values: &[Value]) -> Vec<String> {
    values.iter().map(|value| format!("v{}", value.0)).collect()
}

struct Printer<'a> {
    program: &'a Program,
    function: &'a Function,
    text: String,
    depth: usize,
    /// Functions of loops and choices so far.
    arms: usize,
}

impl Printer<'_> {
    fn line(&mut self, line: &str) {
        let width = if line.is_empty() { 0 } else { 4 * self.depth };
        writeln!(self.text, "{:width$}{line}", "").expect("a string takes any text");
    }

    /// The first lines of a function at the top of the file.
    fn head(&mut self, decorator: &str, name: &str, params: &[String]) {
        self.depth = 0;
        for line in ["", "", decorator, &format!("def {name}({}):", params.join(", "))] {
            self.line(line);
        }
    }

    /// The statements of a region, and its last line.
    fn body(&mut self, region: &Region, last: impl Fn(&Self) -> Written<String>) -> Written {
        let outer = self.depth;
        self.depth += 1;
        let before = self.text.len();
        for statement in &region.statements {
            self.statement(statement)?;
        }
        let last = last(self)?;
        if !last.is_empty() {
            self.line(&last);
        } else if self.text.len() == before {
            self.line("pass");
        }
        self.depth = outer;
        Ok(())
    }

    fn operand(operand: &Operand) -> String {
        match operand {
            Operand::Value(value) => format!("v{}", value.0),
            Operand::Constant(id) => format!("c{}", id.0),
        }
    }

    fn operands(operands: &[Operand]) -> String {
        operands.iter().map(Self::operand).collect::<Vec<_>>().join(", ")
    }

    fn tuple(&self, operands: &[Operand]) -> String {
        match operands {
            [one] => format!("({},)", Self::operand(one)),
            _ => format!("({})", Self::operands(operands)),
        }
    }

    /// `v0, v1 = `, with which a statement begins that gives a tuple.
    fn taking(results: &[Value]) -> String {
        match results {
            [] => String::new(),
            [one] => format!("(v{},) = ", one.0),
            _ => format!("{} = ", names(results).join(", ")),
        }
    }

    /// A word as an expression: one that a statement defines by its name.
    fn word(&self, word: Word) -> Written<String> {
        let binary = |sign: &str, a: Word, b: Word| -> Written<String> {
            Ok(format!("({} {sign} {})", self.left(a, b)?, self.word(b)?))
        };
        Ok(match &self.function.words[word.0 as usize] {
            WordDef::Constant(value) => format!("{value:#x}"),
            WordDef::CalldataSize => "call.size".to_owned(),
            WordDef::CalldataWord(offset) => format!("call.word({})", self.word(*offset)?),
            WordDef::Op(WordOp::Byte, a, index) => {
                format!("{}.byte({})", self.left(*a, *a)?, self.word(*index)?)
            }
            WordDef::Op(op, a, b) => match op {
                WordOp::Add => binary("+", *a, *b)?,
                WordOp::Sub => binary("-", *a, *b)?,
                WordOp::Mul => binary("*", *a, *b)?,
                WordOp::Div => binary("//", *a, *b)?,
                WordOp::Mod => binary("%", *a, *b)?,
                WordOp::Lt => binary("<", *a, *b)?,
                WordOp::Eq => binary("==", *a, *b)?,
                WordOp::And => binary("&", *a, *b)?,
                WordOp::Or => binary("|", *a, *b)?,
                WordOp::Xor => binary("^", *a, *b)?,
                WordOp::Shl => binary("<<", *a, *b)?,
                WordOp::Shr => binary(">>", *a, *b)?,
                WordOp::Byte => return Err(none("`byte`")),
            },
            WordDef::Defined => format!("w{}", word.0),
            WordDef::ScratchWord(_) => return Err(none("`scratch_word`")),
            WordDef::ModOp(..) => return Err(none("`addmod` and `mulmod` of words")),
            WordDef::LeadingZeros(_) => return Err(none("`clz`")),
            WordDef::Has(_) => return Err(none("`has`")),
        })
    }

    fn is_number(&self, word: Word) -> bool {
        matches!(self.function.words[word.0 as usize], WordDef::Constant(_))
    }

    /// The first operand: a word of the package where both are numbers, whose operators would be Python's otherwise.
    fn left(&self, a: Word, b: Word) -> Written<String> {
        let text = self.word(a)?;
        Ok(if self.is_number(a) && self.is_number(b) { format!("rs.word({text})") } else { text })
    }

    fn words(&self, words: &[Word]) -> Written<String> {
        Ok(words.iter().map(|word| self.word(*word)).collect::<Written<Vec<_>>>()?.join(", "))
    }

    fn statement(&mut self, statement: &Statement) -> Written {
        match statement {
            Statement::Block(block) => self.block(block),
            Statement::Call { function, arguments, results } => {
                let call = format!("{}f{}({})", Self::taking(results), function.0, Self::operands(arguments));
                self.line(&call);
            }
            Statement::Control(control) => self.control(control)?,
            Statement::Effect(effect) => {
                let line = self.effect(effect)?;
                self.line(&line);
            }
        }
        Ok(())
    }

    fn block(&mut self, block: &Block) {
        for (value, op) in &block.ops {
            let sign = match op.kind {
                FieldOp::Add => "+",
                FieldOp::Sub => "-",
                FieldOp::Mul => "*",
            };
            self.line(&format!("v{} = {} {sign} {}", value.0, Self::operand(&op.x), Self::operand(&op.y)));
        }
    }

    /// An arm as a function within the running one, and its name.
    fn arm(&mut self, name: &str, params: &[String], arm: &Arm) -> Written<String> {
        let name = format!("{name}_{}", self.arms);
        self.arms += 1;
        self.line(&format!("def {name}({}):", params.join(", ")));
        self.body(&arm.body, |printer| Ok(format!("return {}", printer.tuple(&arm.gives))))?;
        Ok(name)
    }

    fn control(&mut self, control: &Control) -> Written {
        let taking = Self::taking(&control.results);
        match (&control.kind, &control.arms[..]) {
            (ControlKind::Repeat { count, index }, [turn]) => {
                let params = [vec![format!("w{}", index.0)], names(&turn.params)].concat();
                let name = self.arm("turn", &params, turn)?;
                let (count, initial) = (self.word(*count)?, self.tuple(&control.initial));
                self.line(&format!("{taking}rs.repeat({count}, {initial}, {name})"));
            }
            (ControlKind::Branch { condition }, [first, second]) => {
                let arms = [self.arm("then", &[], first)?, self.arm("otherwise", &[], second)?];
                let condition = self.word(*condition)?;
                self.line(&format!("{taking}rs.when({condition}, {}, {})", arms[0], arms[1]));
            }
            (ControlKind::Countdown { .. }, _) => return Err(none("`countdown`")),
            (ControlKind::Sequence(_), _) => return Err(none("`sequence`")),
            _ => return Err(none("control with such arms")),
        }
        Ok(())
    }

    fn effect(&self, effect: &Effect) -> Written<String> {
        let word = |word: &Word| self.word(*word);
        let pieces = |pieces: &[Piece<Word>]| -> Written<String> {
            let written = pieces.iter().map(|piece| {
                Ok(match piece {
                    Piece::Word { word, size_bytes } => format!("({}, {})", self.word(*word)?, self.word(*size_bytes)?),
                    Piece::Calldata { offset, size_bytes } => {
                        let (from, bytes) = (self.word(*offset)?, self.word(*size_bytes)?);
                        format!("call[{from} : {from} + {bytes}]")
                    }
                })
            });
            Ok(written.collect::<Written<Vec<_>>>()?.join(", "))
        };
        Ok(match effect {
            Effect::Parse { offset, size_bytes, result } => {
                format!("v{} = call.element({}, {size_bytes})", result.0, word(offset)?)
            }
            Effect::Reduce { word: of, result } => format!("v{} = F.reduce({})", result.0, word(of)?),
            Effect::ElementOf { words, result } => format!("v{} = F.element({})", result.0, self.words(words)?),
            Effect::WordOf { value, first_bit, result } => {
                format!("w{} = {}.word({})", result.0, Self::operand(value), first_bit / 256)
            }
            Effect::IsZero { value, result } => format!("w{} = {} == 0", result.0, Self::operand(value)),
            Effect::IsOdd { value, result } => format!("w{} = {}.is_odd()", result.0, Self::operand(value)),
            Effect::Equal { a, b, result } => {
                format!("w{} = {} == {}", result.0, Self::operand(a), Self::operand(b))
            }
            Effect::Bind { word: of, result } => format!("w{} = rs.bind({})", result.0, word(of)?),
            Effect::Get { variable, result } => format!("w{} = x{}.get()", result.0, variable.0),
            Effect::Set { variable, word: to } => format!("x{}.set({})", variable.0, word(to)?),
            Effect::Sha256 { pieces: of, result } => format!("w{} = rs.sha256({})", result.0, pieces(of)?),
            Effect::Keccak256 { pieces: of, result } => format!("w{} = rs.keccak256({})", result.0, pieces(of)?),
            Effect::Require { condition } => format!("rs.require({})", word(condition)?),
            Effect::ReturnWord { word: of } => {
                let rs = if self.is_number(*of) { "rs.word(" } else { "(" };
                self.ended(&format!("{rs}{})", word(of)?))
            }
            Effect::ReturnElements { values, size_bytes } => {
                self.ended(&format!("rs.output({}, size={size_bytes})", self.tuple(values)))
            }
            _ => return Err(none(format!("`{}`", effect.name()))),
        })
    }

    /// The end of the program with what it returns, from wherever it is.
    fn ended(&self, returned: &str) -> String {
        let is_start = std::ptr::eq(self.function, self.program.entry());
        if is_start && self.depth == 1 { format!("return {returned}") } else { format!("rs.finish({returned})") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::read;

    fn printed(values: usize, body: &str) -> Result<String, NoPython> {
        let head = "program \"p\" modulus 0x61 constant c0 = 0x5 function f0 \"start\" () -> () values";
        let words = "{ word w0 = 0x1 word w1 = calldata_size word w2 = byte w1 w0 word w3 = add w0 w0 word w4 = defined word w5 = has order";
        python(&read(&format!("{head} {values} {words} {body} }}")).unwrap())
    }

    /// Tests of the package record the text and compare.
    #[test]
    fn words_are_expressions_and_statements_lines() {
        let text = printed(2, "parse w3 bytes 2 -> v0 bind w2 -> w4 branch w4 { give (v0) } else { return_word w2 give (c0) } -> (v1) return_elements (v1) bytes 1").unwrap();
        for line in [
            "F = rs.Field(0x61, \"p\")",
            "@rs.program(F, name=\"p\", size=1)",
            "    v0 = call.element((rs.word(0x1) + 0x1), 2)",
            "    w4 = rs.bind(call.size.byte(0x1))",
            "        rs.finish((call.size.byte(0x1)))",
            "        return (c0,)",
            "    (v1,) = rs.when(w4, then_0, otherwise_1)",
            "    return rs.output((v1,), size=1)",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }

    #[test]
    fn what_has_no_form_is_named() {
        let refused = |values, body: &str| printed(values, body).unwrap_err().0;
        assert_eq!(refused(1, "invert c0 -> v0"), "`invert`");
        assert_eq!(refused(0, "require w5"), "`has`");
    }
}
