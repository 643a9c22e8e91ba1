//! A program as a Python function of the package in `python/`, which records the same program from it.
//!
//! Statements without a form of their own in the package are written by their text, with `residue.ir`. A program recorded from the Python text has the
//! statements of the program in their order; words and values may have other numbers, and stretches are those of the Python lines.

use super::print::{spell_order, spell_word};
use super::spelling::{Spelt, spell_effect};
use crate::effect::Effect;
use crate::hash::Piece;
use crate::machine::{Capacity, WordOp};
use crate::program::{
    Arm, Block, Control, ControlKind, Function, Modulus, Operand, Program, Region, Statement, Value, Word, WordDef,
};
use residue_formula::FieldOp;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::mem;

/// A word that is made of more parts has a name in the text: three of them are no more than the package takes as one expression.
const PARTS_MAX: usize = 12;

/// The Python text of `program`.
pub fn python(program: &Program) -> String {
    let size = elements_bytes(&program.entry().body).map_or(String::new(), |size| format!(", size={size}"));
    let mut printer = Printer {
        program,
        unit: program,
        function: program.entry(),
        text: String::new(),
        depth: 0,
        arms: 0,
        is_named: Vec::new(),
        scopes: Vec::new(),
    };
    printer.line("import residue as rs");
    printer.line("");
    printer.field(&quoted(&program.name));
    printer.line("");
    printer.line("");
    printer.line(&format!("@rs.program(F, name={}{size})", quoted(&program.name)));
    printer.line("def program(call):");
    printer.depth = 1;
    for (number, name) in program.variables.iter().enumerate() {
        printer.line(&format!("x{number} = rs.Variable(None, {})", quoted(name)));
    }
    for (number, part) in program.subprograms.iter().enumerate() {
        printer.subprogram(number, part);
    }
    printer.unit(program);
    printer.text
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
    /// The program, or the part of it over another modulus that is being printed.
    unit: &'a Program,
    function: &'a Function,
    text: String,
    depth: usize,
    /// Functions of loops and choices so far.
    arms: usize,
    /// By number of the function's words: true if it has a name in the text, as it would be too long an expression.
    is_named: Vec<bool>,
    /// The words that have their names, by the scope that is printed and those around it.
    scopes: Vec<BTreeSet<u32>>,
}

impl<'a> Printer<'a> {
    fn line(&mut self, line: &str) {
        let width = if line.is_empty() { 0 } else { 4 * self.depth };
        writeln!(self.text, "{:width$}{line}", "").expect("a string takes any text");
    }

    /// The field of the unit and its constants, `F` and `c0`, `c1`…
    fn field(&mut self, name: &str) {
        let unit = self.unit;
        match &unit.modulus {
            Modulus::Known(modulus) => self.line(&format!("F = rs.Field({modulus:#x}, {name})")),
            Modulus::Given { limbs } => self.line(&format!("F = rs.ir.Given({limbs}, {name})")),
        }
        for (number, constant) in unit.constants.iter().enumerate() {
            self.line(&format!("c{number} = F({constant:#x})"));
        }
    }

    /// A part over another modulus, as a function within the program.
    fn subprogram(&mut self, number: usize, part: &'a Program) {
        let whole = mem::replace(&mut self.unit, part);
        self.line("");
        self.line(&format!("def p{number}():"));
        self.depth += 1;
        self.field(&quoted(&part.name));
        self.line("");
        self.line(&format!("@rs.ir.subprogram(F, {})", quoted(&part.name)));
        self.line("def recorded():");
        self.depth += 1;
        self.unit(part);
        self.depth -= 1;
        self.line("");
        self.line("return recorded");
        self.depth -= 1;
        self.line("");
        self.line(&format!("p{number} = p{number}()"));
        self.unit = whole;
    }

    /// Arrays, tables, functions and the statements of the start.
    fn unit(&mut self, unit: &'a Program) {
        for (number, array) in unit.arrays.iter().enumerate() {
            let capacity = match array.capacity {
                Capacity::Fixed(count) => count.to_string(),
                Capacity::Unbounded => "None".to_owned(),
            };
            let (values, name) = (array.element_values, quoted(&array.name));
            self.line(&format!("a{number} = rs.Array((F(0),) * {values}, {capacity}, {name})"));
        }
        for (number, table) in unit.tables.iter().enumerate() {
            self.line(&format!("t{number} = rs.Table("));
            self.depth += 1;
            self.line("F,");
            self.line("[");
            for row in &table.elements {
                let numbers: String = row.iter().map(|number| format!("{number:#x}, ")).collect();
                self.line(&format!("    ({numbers}),"));
            }
            self.line("],");
            self.line(&quoted(&table.name));
            self.depth -= 1;
            self.line(")");
        }
        let numbered = |letter: &str, count: usize| (0..count).map(|at| format!("{letter}{at}")).collect::<Vec<_>>();
        let declared = [numbered("c", unit.constants.len()), numbered("t", unit.tables.len())].concat();
        if !declared.is_empty() {
            self.line(&format!("rs.ir.declare({})", declared.join(", ")));
        }
        let (start, others) = unit.functions.split_last().expect("a program has its start, `verify` checks it");
        for (number, function) in others.iter().enumerate() {
            self.enter(function);
            self.line("");
            self.line(&format!("@rs.ir.function({}, {})", quoted(&function.name), function.params.len()));
            self.line(&format!("def f{number}({}):", names(&function.params).join(", ")));
            self.body(&function.body, Some(&function.results));
            self.line("");
        }
        self.enter(start);
        self.depth -= 1;
        self.body(&start.body, None);
        self.depth += 1;
    }

    /// Begins a function: finds which of its words have names.
    fn enter(&mut self, function: &'a Function) {
        self.function = function;
        let mut parts: Vec<usize> = Vec::with_capacity(function.words.len());
        self.is_named.clear();
        for word in &function.words {
            let whole = 1 + word.inner().map(|inner| parts[inner.0 as usize]).sum::<usize>();
            self.is_named.push(whole > PARTS_MAX);
            parts.push(if whole > PARTS_MAX { 1 } else { whole });
        }
    }

    /// Lines that give names to words, those within others first, unless they have them here.
    fn define(&mut self, words: &[Word]) {
        for &word in words {
            let at = word.0 as usize;
            if self.scopes.iter().any(|scope| scope.contains(&word.0)) {
                continue;
            }
            let function = self.function;
            let inner: Vec<Word> = function.words[at].inner().collect();
            self.define(&inner);
            if self.is_named[at] {
                let line = self.as_written("rs.ir.word", &spell_word(&function.words[at]));
                self.line(&format!("w{at} = {line}"));
                self.scopes.last_mut().expect("words are of a scope").insert(word.0);
            }
        }
    }

    /// The statements of a region, and what it gives.
    fn body(&mut self, region: &Region, gives: Option<&[Operand]>) {
        self.depth += 1;
        self.scopes.push(BTreeSet::new());
        let before = self.text.len();
        for statement in &region.statements {
            self.statement(statement);
        }
        match gives {
            Some(gives) => self.line(&format!("return {}", Self::tuple(gives))),
            None if self.text.len() == before => self.line("pass"),
            None => {}
        }
        self.scopes.pop();
        self.depth -= 1;
    }

    fn operand(operand: &Operand) -> String {
        operand.spell()
    }

    fn operands(operands: &[Operand]) -> String {
        operands.iter().map(Self::operand).collect::<Vec<_>>().join(", ")
    }

    fn tuple(operands: &[Operand]) -> String {
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
    fn word(&self, word: Word) -> String {
        let sign = |op: &WordOp| match op {
            WordOp::Add => "+",
            WordOp::Sub => "-",
            WordOp::Mul => "*",
            WordOp::Div => "//",
            WordOp::Mod => "%",
            WordOp::Lt => "<",
            WordOp::Eq => "==",
            WordOp::And => "&",
            WordOp::Or => "|",
            WordOp::Xor => "^",
            WordOp::Shl => "<<",
            WordOp::Shr => ">>",
            WordOp::Byte => "byte",
        };
        match &self.function.words[word.0 as usize] {
            _ if self.is_named[word.0 as usize] => format!("w{}", word.0),
            WordDef::Constant(value) => format!("{value:#x}"),
            WordDef::CalldataSize => "call.size".to_owned(),
            WordDef::CalldataWord(offset) => format!("call.word({})", self.word(*offset)),
            WordDef::Defined => format!("w{}", word.0),
            WordDef::Op(WordOp::Byte, a, index) => format!("{}.byte({})", self.recorded(*a), self.word(*index)),
            WordDef::Op(op, a, b) => {
                // Python would compute with two numbers, and turns a comparison around that begins with one.
                let is_python = self.is_number(*a) && (self.is_number(*b) || matches!(op, WordOp::Eq));
                let left = if is_python { self.recorded(*a) } else { self.word(*a) };
                format!("({left} {} {})", sign(op), self.word(*b))
            }
            other => self.as_written("rs.ir.word", &spell_word(other)),
        }
    }

    fn is_number(&self, word: Word) -> bool {
        matches!(self.function.words[word.0 as usize], WordDef::Constant(_))
    }

    /// A word that is recorded, also where it is a number.
    fn recorded(&self, word: Word) -> String {
        let text = self.word(word);
        if self.is_number(word) { format!("rs.ir.word(\"{text}\")") } else { text }
    }

    /// A call with a text of the IR, in which places stand for all that has a name here.
    fn as_written(&self, call: &str, text: &str) -> String {
        let (reads, defines) = text.split_once(" -> ").map_or((text, None), |(reads, defines)| (reads, Some(defines)));
        let (mut template, mut parts) = (String::new(), Vec::new());
        for (token, is_name) in tokens(reads) {
            match token.strip_prefix('w').and_then(|number| number.parse().ok()).filter(|_| is_name) {
                Some(number) if self.is_number(Word(number)) => {
                    parts.push(format!("rs.word({})", self.word(Word(number))))
                }
                Some(number) => parts.push(self.word(Word(number))),
                None if is_name => parts.push(token.to_owned()),
                None => template.push_str(token),
            }
            if is_name {
                template.push_str("{}");
            }
        }
        if let Some(defines) = defines {
            template.push_str(" -> ");
            template.extend(defines.chars().filter(|char| !char.is_ascii_digit()));
        }
        let parts: String = parts.iter().map(|part| format!(", {part}")).collect();
        format!("{call}(\"{template}\"{parts})")
    }

    fn statement(&mut self, statement: &Statement) {
        self.define(&statement.words());
        match statement {
            Statement::Block(block) => self.block(block),
            Statement::Call { function, arguments, results } => {
                let call = format!("{}f{}({})", Self::taking(results), function.0, Self::operands(arguments));
                self.line(&call);
            }
            Statement::Control(control) => self.control(control),
            Statement::Effect(effect) => {
                let line = self.effect(effect).unwrap_or_else(|| self.written_out(effect));
                self.line(&line);
            }
        }
    }

    fn block(&mut self, block: &Block) {
        for (value, op) in &block.ops {
            let (x, y) = (Self::operand(&op.x), Self::operand(&op.y));
            // Python would compute with two constants.
            let is_known = [op.x, op.y].iter().all(|operand| operand.value().is_none());
            let computed = match (is_known, op.kind) {
                (true, kind) => format!("rs.ir.operation(\"{}\", {x}, {y})", kind.name()),
                (false, FieldOp::Add) => format!("{x} + {y}"),
                (false, FieldOp::Sub) => format!("{x} - {y}"),
                (false, FieldOp::Mul) => format!("{x} * {y}"),
            };
            self.line(&format!("v{} = {computed}", value.0));
        }
    }

    /// An arm as a function within the running one, and its name.
    fn arm(&mut self, name: &str, params: &[String], arm: &Arm) -> String {
        let name = format!("{name}_{}", self.arms);
        self.arms += 1;
        self.line(&format!("def {name}({}):", params.join(", ")));
        self.body(&arm.body, Some(&arm.gives));
        name
    }

    fn control(&mut self, control: &Control) {
        let (taking, initial) = (Self::taking(&control.results), Self::tuple(&control.initial));
        match &control.kind {
            ControlKind::Repeat { count, index } => {
                let turn = &control.arms[0];
                let params = [vec![format!("w{}", index.0)], names(&turn.params)].concat();
                let name = self.arm("turn", &params, turn);
                self.line(&format!("{taking}rs.repeat({}, {initial}, {name})", self.word(*count)));
            }
            ControlKind::Branch { condition } => {
                let arms = ["then", "otherwise"].iter().zip(&control.arms);
                let arms: Vec<String> = arms.map(|(name, arm)| self.arm(name, &[], arm)).collect();
                self.line(&format!("{taking}rs.when({}, {})", self.recorded(*condition), arms.join(", ")));
            }
            ControlKind::Countdown { count } => {
                let after = vec![None; control.arms.len()];
                self.in_order(control, &format!("countdown {}", count.spell()), "turn", &after);
            }
            ControlKind::Sequence(order) => self.in_order(control, &spell_order(order), "part", &order.then),
        }
    }

    /// A sequence or countdown; `then` are the parts that follow others.
    fn in_order(&mut self, control: &Control, text: &str, kind: &str, then: &[Option<usize>]) {
        let mut arms = Vec::new();
        for (arm, then) in control.arms.iter().zip(then) {
            let name = self.arm(kind, &names(&arm.params), arm);
            let after = then.map_or(String::new(), |number| format!("then {number}"));
            arms.push(format!("(\"{kind}\", {name}, \"{after}\")"));
        }
        let call = self.as_written("rs.ir.control", text);
        let (taking, initial) = (Self::taking(&control.results), Self::tuple(&control.initial));
        let call = call.strip_suffix(')').expect("a call ends so");
        self.line(&format!("{taking}{call}, state={initial}, arms=[{}])", arms.join(", ")));
    }

    /// An effect by its text.
    fn written_out(&self, effect: &Effect) -> String {
        let results = match (effect.values_defined(), effect.word_defined()) {
            (_, Some(word)) => format!("w{} = ", word.0),
            (values, None) if spell_effect(effect).ends_with(')') => Self::taking(values),
            ([value], None) => format!("v{} = ", value.0),
            _ => String::new(),
        };
        format!("{results}{}", self.as_written("rs.ir.effect", &spell_effect(effect)))
    }

    /// An effect in the package's own form, if it has one for it.
    fn effect(&self, effect: &Effect) -> Option<String> {
        let is_own = std::ptr::eq(self.unit, self.program);
        let word = |word: &Word| self.word(*word);
        let bits = self.unit.modulus.bits();
        Some(match effect {
            Effect::Parse { offset, size_bytes, result } if is_own => {
                format!("v{} = call.element({}, {size_bytes})", result.0, word(offset))
            }
            Effect::Reduce { word: of, result } => format!("v{} = F.reduce({})", result.0, self.recorded(*of)),
            Effect::ElementOf { words, result }
                if words.len() as u64 == bits.div_ceil(256) && !words.iter().all(|word| self.is_number(*word)) =>
            {
                format!("v{} = F.element({})", result.0, words.iter().map(word).collect::<Vec<_>>().join(", "))
            }
            Effect::WordOf { value: Operand::Value(value), first_bit, result } if first_bit.is_multiple_of(256) => {
                format!("w{} = v{}.word({})", result.0, value.0, first_bit / 256)
            }
            Effect::IsZero { value: Operand::Value(value), result } => format!("w{} = v{} == 0", result.0, value.0),
            Effect::IsOdd { value: Operand::Value(value), result } => format!("w{} = v{}.is_odd()", result.0, value.0),
            Effect::Equal { a: Operand::Value(a), b: Operand::Value(b), result } => {
                format!("w{} = v{} == v{}", result.0, a.0, b.0)
            }
            Effect::Bind { word: of, result } => format!("w{} = rs.bind({})", result.0, self.recorded(*of)),
            Effect::Get { variable, result } => format!("w{} = x{}.get()", result.0, variable.0),
            Effect::Set { variable, word: to } => format!("x{}.set({})", variable.0, word(to)),
            Effect::Sha256 { pieces, result } => format!("w{} = rs.sha256({})", result.0, self.pieces(pieces)?),
            Effect::Keccak256 { pieces, result } => format!("w{} = rs.keccak256({})", result.0, self.pieces(pieces)?),
            Effect::Require { condition } => format!("rs.require({})", self.recorded(*condition)),
            Effect::ReturnWord { word: of } if is_own => self.ended(&self.recorded(*of)),
            Effect::ReturnElements { values, size_bytes }
                if is_own && !values.is_empty() && 8 * u64::from(*size_bytes) >= bits =>
            {
                self.ended(&format!("rs.output({}, size={size_bytes})", Self::tuple(values)))
            }
            _ => return None,
        })
    }

    /// The bytes that are hashed; none where a piece of calldata is at a place that is not known.
    fn pieces(&self, pieces: &[Piece<Word>]) -> Option<String> {
        let written = pieces.iter().map(|piece| match piece {
            Piece::Word { word, size_bytes } => Some(format!("({}, {})", self.word(*word), self.word(*size_bytes))),
            Piece::Calldata { offset, size_bytes }
                if [offset, size_bytes].iter().all(|word| self.is_number(**word)) =>
            {
                let (from, bytes) = (self.word(*offset), self.word(*size_bytes));
                Some(format!("call[{from} : {from} + {bytes}]"))
            }
            Piece::Calldata { .. } => None,
        });
        Some(written.collect::<Option<Vec<_>>>()?.join(", "))
    }

    /// The end of the program with what it returns, from wherever it is.
    fn ended(&self, returned: &str) -> String {
        let is_start = std::ptr::eq(self.function, self.program.entry());
        if is_start && self.depth == 1 { format!("return {returned}") } else { format!("rs.finish({returned})") }
    }
}

/// The pieces of a text, each with true if it is a name: a letter and a number.
fn tokens(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    text.split_inclusive(move |char: char| !is_part(char)).flat_map(move |piece| {
        let end = piece.trim_end_matches(|char: char| !is_part(char)).len();
        let (word, rest) = piece.split_at(end);
        let is_name = word.len() > 1
            && word.starts_with(|char| "cvwatxp".contains(char))
            && word[1..].bytes().all(|byte| byte.is_ascii_digit());
        [(word, is_name), (rest, false)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::read;

    fn printed(values: usize, body: &str) -> String {
        let head = "program \"p\" modulus 0x61 constant c0 = 0x5 function f0 \"start\" () -> () values";
        let words = "{ word w0 = 0x1 word w1 = calldata_size word w2 = byte w1 w0 word w3 = add w0 w0 word w4 = defined word w5 = has order";
        python(&read(&format!("{head} {values} {words} {body} }}")).unwrap())
    }

    /// Tests of the package record the text and compare.
    #[test]
    fn words_are_expressions_and_statements_lines() {
        let text = printed(
            2,
            "parse w3 bytes 2 -> v0 bind w2 -> w4 branch w4 { give (v0) } else { return_word w2 give (c0) } -> (v1) return_elements (v1) bytes 1",
        );
        for line in [
            "F = rs.Field(0x61, \"p\")",
            "@rs.program(F, name=\"p\", size=1)",
            "    v0 = call.element((rs.ir.word(\"0x1\") + 0x1), 2)",
            "    w4 = rs.bind(call.size.byte(0x1))",
            "        rs.finish(call.size.byte(0x1))",
            "        return (c0,)",
            "    (v1,) = rs.when(w4, then_0, otherwise_1)",
            "    return rs.output((v1,), size=1)",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }

    #[test]
    fn what_has_no_form_of_its_own_is_written_by_its_text() {
        let text = printed(3, "require w5 invert c0 -> v0 take_scratch from 0 bytes 2 -> (v1 v2) set_scratch w3 w0");
        for line in [
            "    rs.require(rs.ir.word(\"has order\"))",
            "    v0 = rs.ir.effect(\"invert {} -> v\", c0)",
            "    v1, v2 = rs.ir.effect(\"take_scratch from 0 bytes 2 -> (v v)\")",
            "    rs.ir.effect(\"set_scratch {} {}\", (rs.ir.word(\"0x1\") + 0x1), rs.word(0x1))",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }
}
