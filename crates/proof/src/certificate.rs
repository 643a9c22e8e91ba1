//! The text of certificates: version, program, code, gas and witness, an item a line. docs/certificates.md has the grammar.

use crate::check::{Ran, Refused};
use crate::label::{Kind, Label};
use crate::looped::TurnHints;
use crate::semantics::{self, NoSemantics, Semantics};
use crate::source::{Gas, Source};
use crate::sum::Atom;
use crate::witness::Witness;
use residue_ir::{Program, Value, text};
use residue_isa::{did_you_mean, names};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::str::SplitAsciiWhitespace;
use thiserror::Error;

/// Version of the format that is written and read here.
pub const VERSION: u32 = 1;
/// Bytes of code on a line.
const ROW_BYTES: usize = 32;
/// Hints on a line.
const ROW_HINTS: usize = 16;
/// First word of a certificate.
const HEAD: &str = "residue-certificate";
/// First words of the lines after the first.
const ITEMS: [&str; 12] =
    ["revision", "program", "code", "gas", "values", "names", "turn", "label", "stack", "memory", "slots", "end"];
/// Words of memory at a label, and labels of a loop.
const MEMORY_MAX: usize = 1 << 16;
const LABELS_MAX: usize = 2;

/// A certificate: what is claimed of which bytes, and the witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// Text of the program as it was recorded.
    pub text: String,
    /// The program that the text is.
    pub program: Source,
    /// The semantics of the code.
    pub semantics: Semantics,
    /// The code.
    pub code: Vec<u8>,
    /// Gas from which on the code ends as the program does, as it is stated; of a program with a loop that without turns.
    pub gas: u64,
    /// Gas of each turn of a loop.
    pub turn_gas: Option<u64>,
    /// Hints; of a program with a loop those before its first turn.
    pub witness: Witness,
    /// Labels of a loop.
    pub turns: Vec<TurnHints>,
    /// Lines of the first row of code and of the gas, from 1; 0 if it was not read from text.
    places: [usize; 2],
}

/// Why a text is no certificate, or shows nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {what}")]
pub struct CertificateError {
    /// Line of the text, from 1.
    pub line: usize,
    /// The fault, with what would be right.
    pub what: String,
}

/// Why no certificate is made of a program and its code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unproved {
    /// Code that certificates have no semantics of.
    #[error(transparent)]
    Semantics(#[from] NoSemantics),
    /// A construct that certificates do not know.
    #[error(transparent)]
    Program(#[from] crate::Unsupported),
    /// Code that is not shown to do what the program does.
    #[error(transparent)]
    Code(#[from] Refused),
}

impl Certificate {
    /// Makes the certificate of a verified program, as it was recorded, and of its code.
    pub fn new(recorded: &Program, semantics: Semantics, code: &[u8]) -> Result<Self, Unproved> {
        semantics.takes(recorded.modulus.bits())?;
        let program = Source::of(recorded)?;
        program.fits(semantics)?;
        let (witness, turns) = program.witness(semantics, code)?;
        let Gas { gas, turn: turn_gas } = program.judge(semantics, code, &witness, &turns)?;
        let text = format!("{}\n", text::print(recorded).trim_end_matches('\n'));
        Ok(Self { text, program, semantics, code: code.to_vec(), gas, turn_gas, witness, turns, places: [0; 2] })
    }

    /// SHA-256 of the program's text, in hexadecimal.
    pub fn program_hash(&self) -> String {
        sha256(self.text.as_bytes())
    }

    /// SHA-256 of the code, in hexadecimal.
    pub fn code_hash(&self) -> String {
        sha256(&self.code)
    }

    /// Checks what the certificate claims.
    pub fn check(&self) -> Result<(), CertificateError> {
        let [code_line, gas_line] = self.places;
        let found = self
            .gas_of(&self.code)
            .map_err(|refused| fault(code_line + refused.offset / ROW_BYTES, refused.to_string()))?;
        let stated = Gas { gas: self.gas, turn: self.turn_gas };
        match found == stated {
            true => Ok(()),
            false => Err(fault(gas_line, format!("gas {stated} is stated, and the code takes {found}"))),
        }
    }

    /// Shows by the same hints that other code ends as the program does: the gas from which on it does.
    pub fn gas_of(&self, code: &[u8]) -> Result<Gas, Refused> {
        self.program.judge(self.semantics, code, &self.witness, &self.turns)
    }

    /// Runs code of a program without a loop.
    pub(crate) fn run(&self, code: &[u8]) -> Option<Result<Ran, Refused>> {
        self.program.job(self.semantics, code).map(|job| job.check(&self.witness))
    }

    /// The text form; [`Self::read`] reads it back.
    pub fn print(&self) -> String {
        let mut text = format!("{HEAD} {VERSION}\nrevision {}\n", self.semantics.revision());
        let program = self.text.trim_end_matches('\n');
        let mut line = |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").expect("strings take all text");
        line(format_args!("program sha256 {} lines {}", self.program_hash(), program.lines().count()));
        line(format_args!("{program}"));
        line(format_args!("code sha256 {} bytes {}", self.code_hash(), self.code.len()));
        self.code.chunks(ROW_BYTES).for_each(|row| line(format_args!("{}", hex::encode(row))));
        line(format_args!("gas {}", self.gas));
        hints(&self.witness).for_each(|row| line(format_args!("{row}")));
        if let Some(gas) = self.turn_gas {
            line(format_args!("turn {gas}"));
        }
        for TurnHints { label, witness } in &self.turns {
            label_rows(label).into_iter().chain(hints(witness)).for_each(|row| line(format_args!("{row}")));
        }
        line(format_args!("end"));
        text
    }

    /// Reads a text; hashes are compared with what they are of, and nothing is checked yet.
    pub fn read(text: &str) -> Result<Self, CertificateError> {
        let mut reader = Reader { lines: text.lines().collect(), next: 0 };
        let semantics = reader.head()?;
        let program_text = reader.program()?;
        let first = reader.next;
        let program = Source::read(&program_text.text)
            .map_err(|(line, what)| fault(program_text.line + line - 1, format!("the program: {what}")))?;
        program.fits(semantics).map_err(|error| fault(program_text.line, error.to_string()))?;
        let code = reader.code()?;
        let code_line = first + 2;
        let gas = reader.gas("gas")?;
        let places = [code_line, reader.next];
        let witness = reader.witness()?;
        let (turn_gas, turns) = match program {
            Source::Loop(_) => (Some(reader.gas("turn")?), reader.turns()?),
            Source::Bytes(ref program) if program.is_counted() => (Some(reader.gas("turn")?), Vec::new()),
            _ => (None, Vec::new()),
        };
        reader.end()?;
        let text = program_text.text;
        Ok(Self { text, program, semantics, code, gas, turn_gas, witness, turns, places })
    }
}

/// Rows of hints.
fn hints(Witness { values, names }: &Witness) -> impl Iterator<Item = String> {
    let values = values.chunks(ROW_HINTS).map(|row| spelled(row.iter().map(|&value| Some(value))));
    let names = names.chunks(ROW_HINTS).map(|row| spelled(row.iter().copied()));
    values.map(|row| format!("values {row}")).chain(names.map(|row| format!("names {row}")))
}

/// Rows of a label.
fn label_rows(Label { place, memory_words, stack, memory, slots }: &Label) -> Vec<String> {
    let stack: String = stack.iter().map(|kind| format!(" {kind}")).collect();
    let memory: String = memory.iter().map(|(number, kind)| format!(" {number} {kind}")).collect();
    let mut rows =
        vec![format!("label {place} words {memory_words}"), format!("stack{stack}"), format!("memory{memory}")];
    if let Some((width, slots)) = slots {
        let slots: String = slots.iter().map(|kind| format!(" {kind}")).collect();
        rows.push(format!("slots {width}{slots}"));
    }
    rows
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn fault(line: usize, what: impl Into<String>) -> CertificateError {
    CertificateError { line, what: what.into() }
}

fn spelled(hints: impl Iterator<Item = Option<Atom>>) -> String {
    hints.map(|hint| hint.map_or_else(|| "-".to_owned(), |atom| atom.to_string())).collect::<Vec<_>>().join(" ")
}

/// Lines that are taken one after the other.
struct Reader<'a> {
    lines: Vec<&'a str>,
    /// Lines that have been taken: the number of the last one.
    next: usize,
}

/// A text within the certificate, and the line of its first line.
struct Part {
    text: String,
    line: usize,
}

/// A line after its first word.
struct Rest<'a> {
    words: SplitAsciiWhitespace<'a>,
    line: usize,
}

impl<'a> Rest<'a> {
    fn word(&mut self, expected: &str) -> Result<&'a str, CertificateError> {
        let line = self.line;
        self.words.next().ok_or_else(|| fault(line, format!("{expected} is expected, and the line ends")))
    }

    fn keyword(&mut self, keyword: &str) -> Result<(), CertificateError> {
        let found = self.word(&format!("`{keyword}`"))?;
        match found == keyword {
            true => Ok(()),
            false => Err(fault(self.line, format!("`{keyword}` is expected, found {}", names::quoted(found)))),
        }
    }

    fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, CertificateError> {
        let found = self.word(what)?;
        let is_number = found.bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_number { found.parse().ok() } else { None };
        number.ok_or_else(|| fault(self.line, format!("{what} is expected, found {}", names::quoted(found))))
    }

    /// `sha256 HASH`, of what is told later.
    fn hash(&mut self) -> Result<&'a str, CertificateError> {
        self.keyword("sha256")?;
        let found = self.word("a hash")?;
        let is_hash = found.len() == 64 && found.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match is_hash {
            true => Ok(found),
            false => {
                Err(fault(self.line, format!("64 hexadecimal digits are expected, found {}", names::quoted(found))))
            }
        }
    }

    fn end(&mut self) -> Result<(), CertificateError> {
        match self.words.next() {
            None => Ok(()),
            Some(found) => Err(fault(self.line, format!("the line is to end before {}", names::quoted(found)))),
        }
    }

    fn kind(&self, word: &str) -> Result<Kind, CertificateError> {
        word.parse().map_err(|what: String| fault(self.line, what))
    }

    fn hint(&self, word: &str) -> Result<Option<Atom>, CertificateError> {
        let number = word.strip_prefix('v').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        // The atom of a value is the number after it.
        let number = number.and_then(|digits| digits.parse().ok()).filter(|&number| number < u32::MAX);
        match number {
            Some(number) => Ok(Some(Atom::of(Value(number)))),
            None if word == "-" => Ok(None),
            None => Err(fault(self.line, format!("a value such as v12 is expected, found {}", names::quoted(word)))),
        }
    }
}

impl<'a> Reader<'a> {
    fn line(&mut self, expected: &str) -> Result<&'a str, CertificateError> {
        let line = self.lines.get(self.next).copied();
        let line = line.ok_or_else(|| fault(self.next.max(1), format!("the text ends here: {expected} is missing")))?;
        self.next += 1;
        Ok(line)
    }

    /// The next line, which begins with this word.
    fn item(&mut self, keyword: &str) -> Result<Rest<'a>, CertificateError> {
        let line = self.line(&format!("`{keyword}`"))?;
        let mut words = line.split_ascii_whitespace();
        let found = words.next().unwrap_or_default();
        if found == keyword {
            return Ok(Rest { words, line: self.next });
        }
        let near = if ITEMS.contains(&found) { String::new() } else { did_you_mean(found, ITEMS) };
        Err(fault(self.next, format!("`{keyword}` is expected, found {}{near}", names::quoted(found))))
    }

    fn head(&mut self) -> Result<Semantics, CertificateError> {
        let line = self.line("a certificate")?;
        let mut words = line.split_ascii_whitespace();
        let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        match (words.next() == Some(HEAD), words.next().filter(is_number), words.next()) {
            (true, Some(version), None) if version == VERSION.to_string() => {}
            (true, Some(other), None) => {
                let other = names::quoted(other);
                let what = format!(
                    "version {other} of certificates is not read here, only {VERSION}: `residue build CONTRACT --certificate FILE` writes one"
                );
                return Err(fault(1, what));
            }
            _ => {
                let found = names::quoted(line);
                return Err(fault(1, format!("a certificate begins with `{HEAD} {VERSION}`, this text with {found}")));
            }
        }
        let mut rest = self.item("revision")?;
        let found = rest.word("a revision")?;
        let known = Semantics::ALL.into_iter().find(|semantics| semantics.revision().name() == found);
        rest.end()?;
        let what = || format!("one of {} is expected, found {}", semantics::names(), names::quoted(found));
        known.ok_or_else(|| fault(rest.line, what()))
    }

    fn program(&mut self) -> Result<Part, CertificateError> {
        let mut rest = self.item("program")?;
        let hash = rest.hash()?;
        rest.keyword("lines")?;
        let count: usize = rest.number("a number of lines")?;
        rest.end()?;
        let line = self.next + 1;
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(self.line("a part of the program")?);
            text.push('\n');
        }
        let found = sha256(text.as_bytes());
        match found == hash {
            true => Ok(Part { text, line }),
            false => Err(fault(
                rest.line,
                format!("the program's hash is {found}, and {hash} is stated: it is another program, or damaged"),
            )),
        }
    }

    fn code(&mut self) -> Result<Vec<u8>, CertificateError> {
        let mut rest = self.item("code")?;
        let hash = rest.hash()?;
        rest.keyword("bytes")?;
        let count: usize = rest.number("a number of bytes")?;
        rest.end()?;
        let mut code = Vec::new();
        while code.len() < count {
            let row = hex::decode(self.line("a part of the code")?).unwrap_or_default();
            let expected = ROW_BYTES.min(count - code.len());
            if row.len() != expected {
                return Err(fault(self.next, format!("{} hexadecimal digits of code are expected", 2 * expected)));
            }
            code.extend(row);
        }
        let found = sha256(&code);
        match found == hash {
            true => Ok(code),
            false => Err(fault(
                rest.line,
                format!("the code's hash is {found}, and {hash} is stated: it is other code, or damaged"),
            )),
        }
    }

    /// The gas that the rest of a line is.
    fn gas(&mut self, keyword: &str) -> Result<u64, CertificateError> {
        let mut rest = self.item(keyword)?;
        let gas = rest.number("an amount of gas")?;
        rest.end()?;
        Ok(gas)
    }

    fn hints(&mut self, keyword: &str) -> Result<Vec<Option<Atom>>, CertificateError> {
        let mut hints = Vec::new();
        while self.is_next(keyword) {
            let mut rest = self.item(keyword)?;
            while let Some(word) = rest.words.next() {
                hints.push(rest.hint(word)?);
            }
        }
        Ok(hints)
    }

    fn witness(&mut self) -> Result<Witness, CertificateError> {
        let line = self.next + 1;
        let values: Option<Vec<Atom>> = self.hints("values")?.into_iter().collect();
        let values = values.ok_or_else(|| fault(line, "each of the values is one such as v12, none `-`"))?;
        Ok(Witness { values, names: self.hints("names")? })
    }

    /// Labels, each with the hints of a turn.
    fn turns(&mut self) -> Result<Vec<TurnHints>, CertificateError> {
        let mut turns = Vec::new();
        while turns.is_empty() || self.is_next("label") {
            let label = self.label()?;
            if turns.len() == LABELS_MAX {
                return Err(fault(self.next, format!("a loop has at most {LABELS_MAX} labels")));
            }
            turns.push(TurnHints { label, witness: self.witness()? });
        }
        Ok(turns)
    }

    fn label(&mut self) -> Result<Label, CertificateError> {
        let mut rest = self.item("label")?;
        let place = rest.number("the offset of a label")?;
        rest.keyword("words")?;
        let memory_words: u32 = rest.number("a number of words of memory")?;
        rest.end()?;
        let mut rest = self.item("stack")?;
        let mut stack = Vec::new();
        while let Some(word) = rest.words.next() {
            stack.push(rest.kind(word)?);
        }
        let mut rest = self.item("memory")?;
        let mut memory: Vec<(u32, Kind)> = Vec::new();
        while let Some(number) = rest.words.next() {
            let found = number.parse().ok().filter(|found| memory.last().is_none_or(|(last, _)| last < found));
            let found = found.filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()) && memory.len() < MEMORY_MAX);
            let what = || format!("the number of a later word of memory is expected, found {}", names::quoted(number));
            let found = found.ok_or_else(|| fault(rest.line, what()))?;
            let kind = rest.word("what the word is")?;
            memory.push((found, rest.kind(kind)?));
        }
        let slots = if self.is_next("slots") { Some(self.slots()?) } else { None };
        Ok(Label { place, memory_words: memory_words.into(), stack, memory, slots })
    }

    /// Bytes of a slot, and what each slot is.
    fn slots(&mut self) -> Result<(usize, Vec<Kind>), CertificateError> {
        let mut rest = self.item("slots")?;
        let width = rest.number("the bytes of a slot")?;
        let mut slots = Vec::new();
        while let Some(word) = rest.words.next() {
            slots.push(rest.kind(word)?);
        }
        Ok((width, slots))
    }

    fn is_next(&self, keyword: &str) -> bool {
        self.lines.get(self.next).is_some_and(|line| line.split_ascii_whitespace().next() == Some(keyword))
    }

    fn end(&mut self) -> Result<(), CertificateError> {
        self.item("end")?.end()?;
        match (self.next..self.lines.len()).find(|&line| !self.lines[line].trim().is_empty()) {
            Some(line) => Err(fault(line + 1, "the certificate ended before this line")),
            None => Ok(()),
        }
    }
}
