//! Assembly text. Words are separated by white space, so a line may hold any number of instructions.
//!
//! - `ADD`, `MSTORE`, … a mnemonic in any letter case; `DATA 0x…` bytes as they are.
//! - `PUSH 5` the smallest push of a number; `PUSH4 0x05` exactly four bytes.
//! - `name:` a jump target, which emits a JUMPDEST; `MARK name` a place in data, which emits nothing; `PUSH @name` or `@name`
//!   pushes the offset of either; `PUSH @end-a,b` two bytes for each of a, b, …: how far it is before `end`.
//! - `MARK name ENTERSUB` a target of CALLSUB, where the revision has subroutines.
//! - `const NAME = 5` before its first use; NAME then stands for the number.
//! - `MULMODX out[:stride] x[:stride] y[:stride] [xCOUNT]` with slots; a stride is 1 unless given, and so is the count.
//! - `INVMODX out[:stride] x[:stride] [xCOUNT]`, `EQX slot slot`, `SUM2X out signs x y x y`: an instruction of a form (`crates/isa/src/form.rs`) with its
//!   operands in lanes, or else with its bytes; `SETUPX 5` where the id is an immediate.
//! - `MULMODMONT384 out x y modulus` with byte offsets; without operands they come from the stack. Where the revision takes
//!   r_inv from the stack it follows after the modulus of a multiplication; where it takes no modulus neither is written.
//! - `; comment` and `// comment` to the end of the line.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use num_bigint::BigUint;
use thiserror::Error;

use super::token::{Place, Token, tokens};
use super::{AssembleError, Code, Item, LabelId, assemble};
use crate::field_instruction::{FieldInstruction, FieldOp, Lanes, ModulusAt};
use crate::form::{Form, Operand, Shape};
use crate::names::{cut, quoted};
use crate::nearest::did_you_mean;
use crate::opcode::evm::{PUSH0, PUSH1, PUSH32};
use crate::revision::evm384::{Modulus, Operands};
use crate::revision::{Family, Revision};

/// Error in assembly text, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {what}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Error at that place.
    pub what: Fault,
}

/// Error at one place of assembly text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// A word that starts nothing.
    #[error("{} is no mnemonic of the EVM or of {revision}{}", quoted(word), did_you_mean(word, words(*revision)))]
    UnknownWord {
        /// The word.
        word: String,
        /// The revision assembled for.
        revision: Revision,
    },
    /// Something else than expected.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// Expected token.
        expected: &'static str,
        /// The word found, in quotes, or the end of the text.
        found: String,
    },
    /// Neither digits nor the name of a constant.
    #[error("{} is neither a number nor a constant defined above", quoted(word))]
    NotANumber {
        /// The word.
        word: String,
    },
    /// A number that its place cannot hold.
    #[error("{value} is too large: {what} is at most {max}")]
    TooLarge {
        /// The number, its begin if it is long.
        value: String,
        /// Kind of number.
        what: &'static str,
        /// The largest value there.
        max: BigUint,
    },
    /// Data that is not whole bytes in hexadecimal.
    #[error("{} is not 0x and an even number of hexadecimal digits", quoted(word))]
    NotBytes {
        /// The word.
        word: String,
    },
    /// A word that cannot name a label or a constant.
    #[error("{} cannot be a name: {why}", quoted(word))]
    BadName {
        /// The word.
        word: String,
        /// Why not.
        why: &'static str,
    },
    /// A second constant of a name.
    #[error("constant {} is defined twice", cut(name))]
    ConstantTwice {
        /// The name.
        name: String,
    },
    /// A second label of a name.
    #[error("label {} is defined twice", cut(name))]
    LabelTwice {
        /// The name.
        name: String,
    },
    /// A label that is pushed and nowhere defined.
    #[error("label {} is nowhere defined", cut(name))]
    UndefinedLabel {
        /// The name.
        name: String,
    },
    /// The items do not assemble.
    #[error(transparent)]
    Assemble(AssembleError),
}

/// Reads assembly text. Labels are numbered in the order in which the text first names them.
pub fn parse(text: &str, revision: Revision) -> Result<Vec<Item>, ParseError> {
    Ok(Parser::new(text, revision).run()?.items)
}

/// Reads and assembles text; errors of either name line and column.
pub fn assemble_text(text: &str, revision: Revision) -> Result<Code, ParseError> {
    let Parser { items, places, .. } = Parser::new(text, revision).run()?;
    assemble(&items, revision).map_err(|error| at(places[error.item()], Fault::Assemble(error)))
}

/// Digits of a number, leading zeros included.
const DIGITS_MAX: usize = 1000;

struct Parser<'a> {
    revision: Revision,
    tokens: core::iter::Peekable<alloc::vec::IntoIter<Token<'a>>>,
    end: Place,
    constants: BTreeMap<&'a str, BigUint>,
    labels: BTreeMap<&'a str, LabelId>,
    defined: BTreeSet<LabelId>,
    /// The first push of each label.
    pushed: Vec<(Token<'a>, &'a str, LabelId)>,
    items: Vec<Item>,
    places: Vec<Place>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, revision: Revision) -> Self {
        let (tokens, end) = tokens(text);
        Self {
            revision,
            tokens: tokens.into_iter().peekable(),
            end,
            constants: BTreeMap::new(),
            labels: BTreeMap::new(),
            defined: BTreeSet::new(),
            pushed: Vec::new(),
            items: Vec::new(),
            places: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Self, ParseError> {
        while let Some(token) = self.tokens.next() {
            if token.text.eq_ignore_ascii_case("const") {
                self.constant()?;
                continue;
            }
            let item = self.statement(token)?;
            self.items.push(item);
            self.places.push(token.place);
        }
        match self.pushed.iter().find(|(_, _, label)| !self.defined.contains(label)) {
            Some((token, name, _)) => Err(at(token.place, Fault::UndefinedLabel { name: (*name).to_owned() })),
            None => Ok(self),
        }
    }

    fn statement(&mut self, token: Token<'a>) -> Result<Item, ParseError> {
        if let Some(name) = token.text.strip_suffix(':') {
            return Ok(Item::Label(self.define(token, name)?));
        }
        if let Some(name) = token.text.strip_prefix('@') {
            return self.push_place(token, name);
        }
        if token.text.eq_ignore_ascii_case("data") {
            let bytes = self.next("bytes such as 0x5b00")?;
            return Ok(Item::Data(data(bytes)?));
        }
        if token.text.eq_ignore_ascii_case("mark") {
            let name = self.next("the name of a label")?;
            return Ok(Item::Mark(self.define(name, name.text)?));
        }
        if token.text.eq_ignore_ascii_case("push") {
            return self.push();
        }
        let Some(row) = self.revision.row_named(token.text) else {
            let fault = Fault::UnknownWord { word: token.text.to_owned(), revision: self.revision };
            return Err(at(token.place, fault));
        };
        if let Some(operation) = self.revision.arithmetic_of(row.byte) {
            return match self.revision.family() {
                Family::Slots | Family::MemorySlots | Family::Words => self.slots(operation),
                Family::Memory384 => self.memory(operation, row.byte),
            };
        }
        let form = self.revision.slot_rules().and_then(|rules| rules.form_of(row.byte));
        if let Some(form) = form.filter(|form| form.is_instruction()) {
            return self.formed(form);
        }
        match row.byte {
            PUSH1..=PUSH32 => self.push_exactly(usize::from(row.byte - PUSH0)),
            opcode if row.immediate_bytes > 0 => {
                let immediate = self.bytes(row.immediate_bytes.into(), "an immediate byte")?;
                Ok(Item::Data(self.revision.opcode_bytes(opcode).chain(immediate).collect()))
            }
            opcode => Ok(Item::Op(opcode)),
        }
    }

    /// The operands of a form: each as `index[:stride]` and `[xCOUNT]` where they are in lanes, else their bytes.
    fn formed(&mut self, form: Form) -> Result<Item, ParseError> {
        let row = form.row();
        let mut bytes = Vec::new();
        for operand in row.operands {
            match operand {
                Operand::Writes(Shape::InLanes) | Operand::Reads(Shape::InLanes) => {
                    let Lanes { index, stride } = self.lanes()?;
                    bytes.extend([index, stride]);
                }
                Operand::Count if row.has_lanes() => bytes.push(self.count()?),
                Operand::Count => bytes.extend(self.bytes(1, "a number of lanes")?),
                Operand::Signs => bytes.extend(self.bytes(1, "signs")?),
                Operand::Writes(Shape::Pairs) | Operand::Reads(Shape::Pairs) => {
                    bytes.extend(self.bytes(2, "a slot")?);
                    bytes.extend(self.bytes(1, "a stride")?);
                }
                Operand::Writes(_) | Operand::Reads(_) => bytes.extend(self.bytes(operand.bytes(), "a slot")?),
                Operand::Bytes(_) => bytes.extend(self.bytes(operand.bytes(), "a number")?),
            }
        }
        Ok(Item::Field(FieldInstruction::formed(form, &bytes)))
    }

    /// `count` operands of a byte each.
    fn bytes(&mut self, count: usize, what: &'static str) -> Result<Vec<u8>, ParseError> {
        let mut bytes = Vec::new();
        for _ in 0..count {
            let operand = self.next(what)?;
            bytes.push(self.byte(operand, operand.text, what)?);
        }
        Ok(bytes)
    }

    /// `const NAME = VALUE`, after the first word.
    fn constant(&mut self) -> Result<(), ParseError> {
        let name = self.next("the name of a constant")?;
        let is_count =
            name.text.strip_prefix(['x', 'X']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let is_keyword = ["const", "data", "mark", "push"].iter().any(|word| name.text.eq_ignore_ascii_case(word));
        check_name(name, name.text)?;
        if is_count || is_keyword || self.revision.row_named(name.text).is_some() {
            let why = if is_count { "it reads as a number of lanes" } else { "it is a mnemonic or a keyword" };
            return Err(at(name.place, Fault::BadName { word: name.text.to_owned(), why }));
        }
        let equals = self.next("=")?;
        if equals.text != "=" {
            return Err(expected("=", equals));
        }
        let value = self.next("a number")?;
        let value = self.number(value, value.text)?;
        if self.constants.insert(name.text, value).is_some() {
            return Err(at(name.place, Fault::ConstantTwice { name: name.text.to_owned() }));
        }
        Ok(())
    }

    /// The operand of `PUSH`.
    fn push(&mut self) -> Result<Item, ParseError> {
        let operand = self.next("a number or @label")?;
        if let Some(name) = operand.text.strip_prefix('@') {
            return self.push_place(operand, name);
        }
        let value = self.number(operand, operand.text)?;
        at_most(operand, value, "a word", max_of_bytes(32)).map(Item::Push)
    }

    /// `name`, or `name-name,name` for distances, after `@`.
    fn push_place(&mut self, token: Token<'a>, text: &'a str) -> Result<Item, ParseError> {
        let Some((to, from)) = text.split_once('-') else {
            return Ok(Item::PushLabel(self.push_label(token, text)?));
        };
        let to = self.push_label(token, to)?;
        let from = from.split(',').filter(|_| !from.is_empty()).map(|name| self.push_label(token, name));
        Ok(Item::PushDistances { to, from: from.collect::<Result<_, _>>()? })
    }

    /// The operand of `PUSHn`.
    fn push_exactly(&mut self, bytes: usize) -> Result<Item, ParseError> {
        let operand = self.next("a number")?;
        let value = self.number(operand, operand.text)?;
        let value = at_most(operand, value, "the immediate", max_of_bytes(bytes))?.to_bytes_be();
        let mut immediate = vec![0; bytes.saturating_sub(value.len())];
        immediate.extend_from_slice(&value);
        Ok(Item::PushBytes(immediate))
    }

    /// `out[:stride] x[:stride] y[:stride] [xCOUNT]`.
    fn slots(&mut self, operation: FieldOp) -> Result<Item, ParseError> {
        let out = self.lanes()?;
        let x = self.lanes()?;
        let y = self.lanes()?;
        let count = self.count()?;
        Ok(Item::Field(FieldInstruction::Slots { operation, out, x, y, count }))
    }

    /// `xCOUNT`, or 1 if something else follows.
    fn count(&mut self) -> Result<u8, ParseError> {
        let count_digits = |token: &Token<'a>| {
            let digits = token.text.strip_prefix(['x', 'X'])?;
            digits.starts_with(|c: char| c.is_ascii_digit()).then_some(digits)
        };
        match self.tokens.next_if(|token| count_digits(token).is_some()) {
            Some(token) => self.byte(token, &token.text[1..], "a number of lanes"),
            None => Ok(1),
        }
    }

    fn lanes(&mut self) -> Result<Lanes, ParseError> {
        let token = self.next("a slot")?;
        let (index, stride) = token.text.split_once(':').unwrap_or((token.text, "1"));
        Ok(Lanes { index: self.byte(token, index, "a slot")?, stride: self.byte(token, stride, "a stride")? })
    }

    /// `out x y`, `out x y modulus` or `out x y modulus r_inv`, as the revision has it; nothing where they can be on the stack.
    fn memory(&mut self, operation: FieldOp, opcode: u8) -> Result<Item, ParseError> {
        let Some(evm384) = self.revision.evm384() else {
            return Ok(Item::Op(opcode));
        };
        let constants = &self.constants;
        let is_number = |token: &Token<'a>| is_digits(token.text) || constants.contains_key(token.text);
        let on_stack = match evm384.operands {
            Operands::Values => true,
            Operands::Words { .. } | Operands::Packed { .. } => !self.tokens.peek().is_some_and(is_number),
            Operands::Immediate => false,
        };
        if on_stack {
            return Ok(Item::Op(opcode));
        }
        let [out, x, y] = [self.offset()?, self.offset()?, self.offset()?];
        let modulus = match evm384.modulus {
            Modulus::OperandAndRInv if operation == FieldOp::Mul => {
                ModulusAt::OffsetAndRInv { offset: self.offset()?, r_inv: self.r_inv()? }
            }
            Modulus::Operand | Modulus::OperandAndRInv => ModulusAt::Offset(self.offset()?),
            Modulus::Value | Modulus::Place(_) | Modulus::Fixed | Modulus::Set => ModulusAt::Implied,
        };
        Ok(Item::Field(FieldInstruction::Memory { operation, out, x, y, modulus }))
    }

    fn offset(&mut self) -> Result<u32, ParseError> {
        let token = self.next("a byte offset")?;
        let value = self.number(token, token.text)?;
        u32::try_from(&value).map_err(|_| too_large(token, &value, "a byte offset", u32::MAX.into()))
    }

    fn r_inv(&mut self) -> Result<u64, ParseError> {
        let token = self.next("r_inv")?;
        let value = self.number(token, token.text)?;
        u64::try_from(&value).map_err(|_| too_large(token, &value, "r_inv", u64::MAX.into()))
    }

    fn byte(&self, token: Token<'a>, text: &str, what: &'static str) -> Result<u8, ParseError> {
        let value = self.number(token, text)?;
        u8::try_from(&value).map_err(|_| too_large(token, &value, what, u8::MAX.into()))
    }

    /// A decimal or hexadecimal number, `_` between digits allowed, or a constant.
    fn number(&self, token: Token<'a>, text: &str) -> Result<BigUint, ParseError> {
        if let Some(value) = self.constants.get(text) {
            return Ok(value.clone());
        }
        let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None => (text, 10),
        };
        let is_number = is_digits(text) && !digits.starts_with('_');
        // Reading decimal digits takes the square of their number, and nothing takes a number of so many.
        if digits.len() > DIGITS_MAX && is_number && digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
            return Err(too_large(token, &text, "a word", max_of_bytes(32)));
        }
        let value = BigUint::parse_bytes(digits.as_bytes(), radix).filter(|_| is_number);
        value.ok_or_else(|| at(token.place, Fault::NotANumber { word: text.to_owned() }))
    }

    fn label_named(&mut self, token: Token<'a>, name: &'a str) -> Result<LabelId, ParseError> {
        check_name(token, name)?;
        let fresh = u32::try_from(self.labels.len()).expect("a text of four billion labels does not fit in memory");
        Ok(*self.labels.entry(name).or_insert(LabelId(fresh)))
    }

    fn define(&mut self, token: Token<'a>, name: &'a str) -> Result<LabelId, ParseError> {
        let label = self.label_named(token, name)?;
        if !self.defined.insert(label) {
            return Err(at(token.place, Fault::LabelTwice { name: name.to_owned() }));
        }
        Ok(label)
    }

    fn push_label(&mut self, token: Token<'a>, name: &'a str) -> Result<LabelId, ParseError> {
        let label = self.label_named(token, name)?;
        self.pushed.push((token, name, label));
        Ok(label)
    }

    fn next(&mut self, wanted: &'static str) -> Result<Token<'a>, ParseError> {
        let end = Fault::Expected { expected: wanted, found: "the end of the text".to_owned() };
        self.tokens.next().ok_or_else(|| at(self.end, end))
    }
}

fn at(place: Place, what: Fault) -> ParseError {
    ParseError { line: place.line, column: place.column, what }
}

fn expected(wanted: &'static str, token: Token<'_>) -> ParseError {
    at(token.place, Fault::Expected { expected: wanted, found: quoted(token.text) })
}

fn is_digits(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

fn max_of_bytes(bytes: usize) -> BigUint {
    (BigUint::from(1_u8) << (8 * bytes)) - 1_u8
}

fn at_most(token: Token<'_>, value: BigUint, what: &'static str, max: BigUint) -> Result<BigUint, ParseError> {
    if value > max { Err(too_large(token, &value, what, max)) } else { Ok(value) }
}

fn too_large(token: Token<'_>, value: &impl ToString, what: &'static str, max: BigUint) -> ParseError {
    at(token.place, Fault::TooLarge { value: cut(&value.to_string()).into_owned(), what, max })
}

/// All that an instruction may begin with, and the words that are none.
fn words(revision: Revision) -> impl Iterator<Item = &'static str> {
    ["const", "DATA", "MARK", "PUSH"].into_iter().chain(revision.mnemonics())
}

fn data(token: Token<'_>) -> Result<Vec<u8>, ParseError> {
    let bytes = token.text.strip_prefix("0x").and_then(|digits| hex::decode(digits).ok());
    bytes.ok_or_else(|| at(token.place, Fault::NotBytes { word: token.text.to_owned() }))
}

fn check_name(token: Token<'_>, name: &str) -> Result<(), ParseError> {
    let why = match name.chars().next() {
        None => "it is empty",
        Some(first) if !first.is_ascii_alphabetic() && first != '_' => "names start with a letter or an underscore",
        _ if name.contains(|c: char| !c.is_ascii_alphanumeric() && !"_.".contains(c)) => {
            "names consist of letters, digits, underscores and points"
        }
        _ => return Ok(()),
    };
    Err(at(token.place, Fault::BadName { word: name.to_owned(), why }))
}
