//! Program to text.

use super::{OPS, WORD_OPS, name_of};
use crate::hash::Piece;
use crate::machine::{Capacity, Cells, Step};
use crate::program::{Function, Operand, Program, Region, Statement, Value, Word, WordDef};
use std::fmt::Write;

/// The text of `program`; [`super::parse()`] reads it back.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { text: String::new(), depth: 0 };
    printer.program(program);
    printer.text
}

struct Printer {
    text: String,
    depth: usize,
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Value(value) => format!("v{}", value.0),
        Operand::Constant(id) => format!("c{}", id.0),
    }
}

fn operands(list: &[Operand]) -> String {
    format!("({})", list.iter().map(operand).collect::<Vec<_>>().join(" "))
}

fn values(list: &[Value]) -> String {
    format!("({})", list.iter().map(|value| format!("v{}", value.0)).collect::<Vec<_>>().join(" "))
}

fn piece(piece: &Piece<Word>) -> String {
    match piece {
        Piece::Word { word, size_bytes } => format!(" word w{} bytes w{}", word.0, size_bytes.0),
        Piece::Calldata { offset, size_bytes } => format!(" calldata w{} bytes w{}", offset.0, size_bytes.0),
    }
}

impl Printer {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{:width$}{line}", "", width = 2 * self.depth).expect("a string takes any text");
    }

    fn program(&mut self, program: &Program) {
        self.line(&format!("program {:?}", program.name));
        self.line(&format!("modulus {:#x}", program.modulus));
        for (number, constant) in program.constants.iter().enumerate() {
            self.line(&format!("constant c{number} = {constant:#x}"));
        }
        for (number, array) in program.arrays.iter().enumerate() {
            let capacity = match array.capacity {
                Capacity::Fixed(count) => count.to_string(),
                Capacity::Unbounded => "unbounded".to_owned(),
            };
            self.line(&format!("array a{number} {:?} values {} capacity {capacity}", array.name, array.element_values));
        }
        for (number, name) in program.variables.iter().enumerate() {
            self.line(&format!("variable x{number} {name:?}"));
        }
        for (number, function) in program.functions.iter().enumerate() {
            self.line("");
            self.function(number, function);
        }
    }

    fn function(&mut self, number: usize, function: &Function) {
        self.line(&format!(
            "function f{number} {:?} {} -> {} values {} {{",
            function.name,
            values(&function.params),
            operands(&function.results),
            function.value_count
        ));
        self.depth += 1;
        for (number, word) in function.words.iter().enumerate() {
            let text = match word {
                WordDef::Constant(value) => format!("{value:#x}"),
                WordDef::CalldataSize => "calldata_size".to_owned(),
                WordDef::CalldataWord(offset) => format!("calldata_word w{}", offset.0),
                WordDef::Op(op, a, b) => format!("{} w{} w{}", name_of(&WORD_OPS, op), a.0, b.0),
                WordDef::Defined => "defined".to_owned(),
            };
            self.line(&format!("word w{number} = {text}"));
        }
        self.region(&function.body);
        self.depth -= 1;
        self.line("}");
    }

    fn region(&mut self, region: &Region) {
        for statement in &region.statements {
            self.statement(statement);
        }
    }

    /// `head {`, the region, `give (…)`.
    fn giving(&mut self, head: &str, region: &Region, given: &[Operand]) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.region(region);
        self.line(&format!("give {}", operands(given)));
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        let line = match statement {
            Statement::Block(block) => {
                self.line("block {");
                self.depth += 1;
                for (value, op) in &block.ops {
                    let kind = name_of(&OPS, &op.kind);
                    self.line(&format!("v{} = {kind} {} {}", value.0, operand(&op.x), operand(&op.y)));
                }
                self.depth -= 1;
                "}".to_owned()
            }
            Statement::Call { function, arguments, results } => {
                format!("call f{} {} -> {}", function.0, operands(arguments), values(results))
            }
            Statement::Repeat(repeat) => {
                let head = format!(
                    "repeat w{} index w{} {} = {}",
                    repeat.count.0,
                    repeat.index.0,
                    values(&repeat.params),
                    operands(&repeat.initial)
                );
                self.giving(&head, &repeat.body, &repeat.next);
                format!("}} -> {}", values(&repeat.results))
            }
            Statement::Countdown(countdown) => {
                self.line(&format!("countdown w{} {} {{", countdown.count.0, operands(&countdown.initial)));
                self.depth += 1;
                for turn in &countdown.turns {
                    self.giving(&format!("turn {}", values(&turn.params)), &turn.body, &turn.next);
                    self.line("}");
                }
                self.depth -= 1;
                format!("}} -> {}", values(&countdown.results))
            }
            Statement::Sequence(sequence) => {
                let step = |step: &Step<Word>| match step {
                    Step::Part(number) => number.to_string(),
                    Step::Chosen { word, first_bit } => format!("w{} from {first_bit}", word.0),
                };
                let order: Vec<String> = sequence.order.iter().map(step).collect();
                self.line(&format!("sequence ({}) {} {{", order.join(" "), operands(&sequence.initial)));
                self.depth += 1;
                for (part, then) in sequence.parts.iter().zip(&sequence.then) {
                    self.giving(&format!("part {}", values(&part.params)), &part.body, &part.next);
                    self.line(&then.map_or("}".to_owned(), |next| format!("}} then {next}")));
                }
                self.depth -= 1;
                format!("}} -> {}", values(&sequence.results))
            }
            Statement::Branch(branch) => {
                self.giving(&format!("branch w{}", branch.condition.0), &branch.then, &branch.then_values);
                self.giving("} else", &branch.otherwise, &branch.otherwise_values);
                format!("}} -> {}", values(&branch.results))
            }
            Statement::Reserve { array, count } => format!("reserve a{array} w{}", count.0),
            Statement::Load { array, index, results } => {
                format!("load a{array} w{} -> {}", index.0, values(results))
            }
            Statement::Store { array, index, values } => format!("store a{array} w{} {}", index.0, operands(values)),
            Statement::Fill { array, count, values } => format!("fill a{array} count {count} {}", operands(values)),
            Statement::SetIndices { variable, array, indices, cells } => {
                format!("set_indices x{variable} a{array} {} w{}", cells_text(*cells), indices.0)
            }
            Statement::Index { result, variable, array, first_bit, cells } => {
                format!("index x{variable} a{array} {} from {first_bit} -> w{}", cells_text(*cells), result.0)
            }
            Statement::Parse { result, offset, size_bytes } => {
                format!("parse w{} bytes {size_bytes} -> v{}", offset.0, result.0)
            }
            Statement::ParseMontLe { result, offset } => format!("parse_mont_le w{} -> v{}", offset.0, result.0),
            Statement::Reduce { result, word } => format!("reduce w{} -> v{}", word.0, result.0),
            Statement::IsZero { result, value } => format!("is_zero {} -> w{}", operand(value), result.0),
            Statement::IsOdd { result, value } => format!("is_odd {} -> w{}", operand(value), result.0),
            Statement::Equal { result, a, b } => format!("equal {} {} -> w{}", operand(a), operand(b), result.0),
            Statement::Bind { result, word } => format!("bind w{} -> w{}", word.0, result.0),
            Statement::Get { result, variable } => format!("get x{variable} -> w{}", result.0),
            Statement::Set { variable, word } => format!("set x{variable} w{}", word.0),
            Statement::Sha256 { result, pieces } => {
                let pieces: String = pieces.iter().map(piece).collect();
                format!("sha256 {{{pieces} }} -> w{}", result.0)
            }
            Statement::Require { condition } => format!("require w{}", condition.0),
            Statement::ReturnWord { word } => format!("return_word w{}", word.0),
            Statement::ReturnElements { values, size_bytes } => {
                format!("return_elements {} bytes {size_bytes}", operands(values))
            }
            Statement::ReturnMontLe { values } => format!("return_mont_le {}", operands(values)),
        };
        self.line(&line);
    }
}

fn cells_text(cells: Cells) -> String {
    format!("cells {} indices {}", cells.bits, cells.index_bits)
}
