//! Text to program. The result is as the text says; [`crate::verify()`] says whether it is well formed.

use super::WORD_OPS;
use super::spelling::{Spelt, parse_effect};
use crate::machine::{Capacity, Step};
use crate::origin::Origins;
use crate::program::{
    Arm, ArrayDecl, Block, Control, ControlKind, FieldOp, Function, FunctionId, Op, Operand, Order, Program, Region,
    Statement, Value, Word, WordDef,
};
use num_bigint::BigUint;
use num_traits::Num;
use ruint::aliases::U256;
use thiserror::Error;

/// Why a text is no program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: expected {expected}, found {found}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// What would have been right.
    pub expected: String,
    /// What is there.
    pub found: String,
}

/// Regions may be nested this deep; no program comes near it, and a hostile text cannot exhaust the stack.
const DEPTH_MAX: usize = 64;

/// Reads what [`super::print()`] writes.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let mut parser = Parser { tokens: tokens(text), next: 0, depth: 0 };
    parser.program()
}

pub(super) type Parsed<T> = Result<T, ParseError>;

struct Token<'a> {
    line: usize,
    text: &'a str,
}

pub(super) struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    depth: usize,
}

/// Splits at white space and around brackets; a quoted name is one token.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line_number = number + 1;
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '#' => break,
                '"' => quoted_length(rest),
                '(' | ')' | '{' | '}' => 1,
                _ => rest.find(|c: char| c.is_whitespace() || "(){}\"#".contains(c)).unwrap_or(rest.len()),
            };
            tokens.push(Token { line: line_number, text: &rest[..length] });
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// Bytes of the quoted name that `rest` begins with; all of `rest` if its end is missing.
fn quoted_length(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|&(_, c)| {
        let is_end = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        is_end
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// A name without its quotes and escapes, which are those of Rust; `None` if it is not well formed.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?;
    let mut name = String::new();
    let mut chars = inner.chars();
    loop {
        let c = match chars.next()? {
            '"' => return chars.next().is_none().then_some(name),
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                'u' => {
                    let (digits, behind) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                    chars = behind.chars();
                    char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
                }
                c @ ('"' | '\\' | '\'') => c,
                _ => return None,
            },
            c => c,
        };
        name.push(c);
    }
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.next).map(|token| token.text)
    }

    pub(super) fn fail<T>(&self, at: usize, expected: &str) -> Parsed<T> {
        let line = self.tokens.get(at).or(self.tokens.last()).map_or(1, |token| token.line);
        let found = self.tokens.get(at).map_or("the end of the text".to_owned(), |token| format!("`{}`", token.text));
        Err(ParseError { line, expected: expected.to_owned(), found })
    }

    /// The next token as `read` understands it.
    pub(super) fn take<T>(&mut self, expected: &str, read: impl FnOnce(&'a str) -> Option<T>) -> Parsed<T> {
        match self.peek().and_then(read) {
            Some(taken) => {
                self.next += 1;
                Ok(taken)
            }
            None => self.fail(self.next, expected),
        }
    }

    pub(super) fn word_is(&mut self, word: &str) -> bool {
        let hit = self.peek() == Some(word);
        self.next += usize::from(hit);
        hit
    }

    pub(super) fn expect(&mut self, word: &str) -> Parsed<()> {
        self.take(&format!("`{word}`"), |text| (text == word).then_some(()))
    }

    fn name(&mut self) -> Parsed<String> {
        self.take("a quoted name", unquoted)
    }

    /// A number behind a one-letter prefix: `v12`.
    pub(super) fn numbered(&mut self, prefix: char, what: &str) -> Parsed<u32> {
        self.take(what, |text| text.strip_prefix(prefix)?.parse().ok())
    }

    pub(super) fn decimal(&mut self, what: &str) -> Parsed<u32> {
        self.take(what, |text| text.parse().ok())
    }

    fn big(&mut self) -> Parsed<BigUint> {
        self.take("a number with 0x", |text| BigUint::from_str_radix(text.strip_prefix("0x")?, 16).ok())
    }

    /// What the context asks for.
    fn read<T: Spelt>(&mut self) -> Parsed<T> {
        T::read(self)
    }

    /// Definitions that must be numbered in order from 0.
    fn in_order(&mut self, prefix: char, number: usize) -> Parsed<()> {
        self.expect(&format!("{prefix}{number}"))
    }

    fn program(&mut self) -> Parsed<Program> {
        self.expect("program")?;
        let name = self.name()?;
        self.expect("modulus")?;
        let modulus = self.big()?;
        let (mut constants, mut arrays, mut variables, mut functions) = (vec![], vec![], vec![], vec![]);
        while let Some(word) = self.peek() {
            self.next += 1;
            match word {
                "constant" => {
                    self.in_order('c', constants.len())?;
                    self.expect("=")?;
                    constants.push(self.big()?);
                }
                "array" => {
                    self.in_order('a', arrays.len())?;
                    arrays.push(self.array_decl()?);
                }
                "variable" => {
                    self.in_order('x', variables.len())?;
                    variables.push(self.name()?);
                }
                "function" => {
                    self.in_order('f', functions.len())?;
                    functions.push(self.function()?);
                }
                _ => return self.fail(self.next - 1, "`constant`, `array`, `variable` or `function`"),
            }
        }
        Ok(Program { name, modulus, constants, functions, arrays, variables })
    }

    fn array_decl(&mut self) -> Parsed<ArrayDecl> {
        let name = self.name()?;
        self.expect("values")?;
        let element_values = self.decimal("a number of values")? as usize;
        self.expect("capacity")?;
        let capacity = if self.word_is("unbounded") {
            Capacity::Unbounded
        } else {
            Capacity::Fixed(self.decimal("a number of elements or `unbounded`")?)
        };
        Ok(ArrayDecl { name, element_values, capacity })
    }

    fn function(&mut self) -> Parsed<Function> {
        let name = self.name()?;
        let params = self.read()?;
        self.expect("->")?;
        let results = self.read()?;
        self.expect("values")?;
        let value_count = self.decimal("a number of values")?;
        self.expect("{")?;
        let mut words = Vec::new();
        while self.word_is("word") {
            self.in_order('w', words.len())?;
            self.expect("=")?;
            words.push(self.word_def()?);
        }
        let body = self.statements(&["}"])?;
        self.expect("}")?;
        // The text form has no origins.
        let origins = Origins::default();
        Ok(Function { name, params, body, results, words, value_count, origins })
    }

    fn word_def(&mut self) -> Parsed<WordDef> {
        if self.word_is("calldata_size") {
            return Ok(WordDef::CalldataSize);
        }
        if self.word_is("calldata_word") {
            return Ok(WordDef::CalldataWord(self.read()?));
        }
        if self.word_is("defined") {
            return Ok(WordDef::Defined);
        }
        if let Some((op, _)) = WORD_OPS.iter().find(|(_, name)| self.peek() == Some(name)) {
            self.next += 1;
            return Ok(WordDef::Op(*op, self.read()?, self.read()?));
        }
        self.take("a word: a number with 0x, an operation, `calldata_size`, `calldata_word` or `defined`", |text| {
            U256::from_str_radix(text.strip_prefix("0x")?, 16).ok()
        })
        .map(WordDef::Constant)
    }

    /// Statements up to one of the words `ends`, which stays.
    fn statements(&mut self, ends: &[&str]) -> Parsed<Region> {
        if self.depth == DEPTH_MAX {
            return self.fail(self.next, &format!("at most {DEPTH_MAX} regions in each other"));
        }
        self.depth += 1;
        let mut statements = Vec::new();
        while self.peek().is_some_and(|word| !ends.contains(&word)) {
            statements.push(self.statement()?);
        }
        self.depth -= 1;
        Ok(Region { statements })
    }

    fn results(&mut self) -> Parsed<Vec<Value>> {
        self.expect("->")?;
        self.read()
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let at = self.next;
        let word = self.take("a statement", Some)?;
        Ok(match word {
            "block" => Statement::Block(self.block()?),
            "call" => {
                let function = FunctionId(self.numbered('f', "a function such as f0")?);
                Statement::Call { function, arguments: self.read()?, results: self.results()? }
            }
            "repeat" => self.repeat()?,
            "countdown" => self.countdown()?,
            "sequence" => self.sequence()?,
            "branch" => self.branch()?,
            _ => match parse_effect(self, word) {
                Some(effect) => effect?.into(),
                None => return self.fail(at, "a statement"),
            },
        })
    }

    fn block(&mut self) -> Parsed<Block> {
        self.expect("{")?;
        let mut ops = Vec::new();
        while !self.word_is("}") {
            let value = self.read()?;
            self.expect("=")?;
            let kind = self.take("`add`, `sub` or `mul`", FieldOp::named)?;
            ops.push((value, Op { kind, x: self.read()?, y: self.read()? }));
        }
        Ok(Block { ops })
    }

    fn repeat(&mut self) -> Parsed<Statement> {
        let count = self.read()?;
        self.expect("index")?;
        let index = self.read()?;
        let params = self.read()?;
        self.expect("=")?;
        let initial = self.read()?;
        let arms = vec![self.arm(params)?];
        self.control(ControlKind::Repeat { count, index }, initial, arms)
    }

    fn countdown(&mut self) -> Parsed<Statement> {
        let count = self.read()?;
        let initial = self.read()?;
        self.expect("{")?;
        let mut arms = Vec::new();
        while self.word_is("turn") {
            let params = self.read()?;
            arms.push(self.arm(params)?);
        }
        self.expect("}")?;
        self.control(ControlKind::Countdown { count }, initial, arms)
    }

    fn sequence(&mut self) -> Parsed<Statement> {
        self.expect("(")?;
        let mut steps = Vec::new();
        while !self.word_is(")") {
            steps.push(self.step()?);
        }
        let initial = self.read()?;
        self.expect("{")?;
        let (mut arms, mut then) = (Vec::new(), Vec::new());
        while self.word_is("part") {
            let params = self.read()?;
            arms.push(self.arm(params)?);
            let has_next = self.word_is("then");
            then.push(if has_next { Some(self.number_of_part()?) } else { None });
        }
        self.expect("}")?;
        self.control(ControlKind::Sequence(Order { steps, then }), initial, arms)
    }

    fn step(&mut self) -> Parsed<Step<Word>> {
        if !self.peek().is_some_and(|text| text.starts_with('w')) {
            return Ok(Step::Part(self.number_of_part()?));
        }
        let word = self.read()?;
        self.expect("from")?;
        Ok(Step::Chosen { word, first_bit: self.decimal("a bit")? })
    }

    fn number_of_part(&mut self) -> Parsed<usize> {
        Ok(self.decimal("the number of a part")? as usize) // u32 to usize widens
    }

    fn branch(&mut self) -> Parsed<Statement> {
        let condition = self.read()?;
        let then = self.arm(Vec::new())?;
        self.expect("else")?;
        let otherwise = self.arm(Vec::new())?;
        self.control(ControlKind::Branch { condition }, Vec::new(), vec![then, otherwise])
    }

    /// `{ … give (…) }`.
    fn arm(&mut self, params: Vec<Value>) -> Parsed<Arm> {
        self.expect("{")?;
        let body = self.statements(&["give", "}"])?;
        self.expect("give")?;
        let gives = self.read()?;
        self.expect("}")?;
        Ok(Arm { params, body, gives })
    }

    /// `-> (…)`, the end of a statement that gives values.
    fn control(&mut self, kind: ControlKind, initial: Vec<Operand>, arms: Vec<Arm>) -> Parsed<Statement> {
        let results = self.results()?;
        Ok(Control { kind, initial, arms, results }.into())
    }
}
