//! Text to program. [`crate::verify()`] checks the result.

use super::places::{FunctionPlaces, Places};
use super::spelling::{Spelt, parse_effect};
use super::tokens::{ParseError, Parsed, Tokens, decimal, hexadecimal_digits};
use super::{LINE_PREFIX, MOD_OPS, WORD_OPS};
use crate::limits::REGIONS_MAX;
use crate::machine::{Capacity, Feature, FirstSteps, SequenceStep};
use crate::origin::Origins;
use crate::program::{
    Arm, ArrayDecl, Block, Control, ControlKind, FieldOp, Function, FunctionId, Modulus, Op, Operand, Order, Program,
    Region, Statement, TableDecl, Value, Word, WordDef,
};
use ruint::aliases::U256;

/// Parses the output of [`super::print()`].
pub fn parse(text: &str) -> Result<Program, ParseError> {
    Ok(parse_with_places(text)?.0)
}

/// The same with the places of its parts in the text.
pub fn parse_with_places(text: &str) -> Result<(Program, Places), ParseError> {
    parse_with(text, false)
}

/// The same, where `by_line` says so with each operation in a stretch of its line, within those that the text names.
pub(super) fn parse_with(text: &str, by_line: bool) -> Result<(Program, Places), ParseError> {
    let (places, origins) = (Places::default(), Origins::default());
    let mut parser = Parser { tokens: Tokens::of(text), depth: 0, places, origins, stretches: 0, by_line };
    let program = parser.program()?;
    Ok((program, parser.places))
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    depth: usize,
    places: Places,
    /// Those of the function that is read.
    origins: Origins,
    /// Stretches that the text names in it.
    stretches: usize,
    by_line: bool,
}

impl Parser<'_> {
    /// Reads a `T` at the current position.
    fn read<T: Spelt>(&mut self) -> Parsed<T> {
        T::read(&mut self.tokens)
    }

    /// Definitions that must be numbered in order from 0.
    fn in_order(&mut self, prefix: char, number: usize) -> Parsed<()> {
        self.tokens.expect(&format!("{prefix}{number}"))
    }

    fn program(&mut self) -> Parsed<Program> {
        self.tokens.expect("program")?;
        let name = self.tokens.name()?;
        let mut program = self.unit(name)?;
        while let Some(word) = self.tokens.peek() {
            let at = self.tokens.next;
            self.tokens.next += 1;
            match word {
                "variable" => {
                    self.in_order('x', program.variables.len())?;
                    program.variables.push(self.tokens.name()?);
                }
                "subprogram" => {
                    self.in_order('p', program.subprograms.len())?;
                    let outer = std::mem::take(&mut self.places);
                    let subprogram = self.subprogram()?;
                    program.subprograms.push(subprogram);
                    let inner = std::mem::replace(&mut self.places, outer);
                    self.places.subprograms.push(inner);
                }
                _ if self.declaration(word, &mut program)? => {}
                _ => {
                    let expected = "`constant`, `array`, `table`, `variable`, `subprogram` or `function`";
                    return self.tokens.fail(at, expected);
                }
            }
        }
        Ok(program)
    }

    /// A subprogram after its number, to the bracket that ends it.
    fn subprogram(&mut self) -> Parsed<Program> {
        let name = self.tokens.name()?;
        let mut program = self.unit(name)?;
        self.tokens.expect("{")?;
        while !self.tokens.word_is("}") {
            let at = self.tokens.next;
            let word = self.tokens.take("`constant`, `array`, `table`, `function` or `}`", Some)?;
            if !self.declaration(word, &mut program)? {
                return self.tokens.fail(at, "`constant`, `array`, `table`, `function` or `}`");
            }
        }
        Ok(program)
    }

    /// The modulus of a program or subprogram, which has nothing else yet.
    fn unit(&mut self, name: String) -> Parsed<Program> {
        self.tokens.expect("modulus")?;
        self.places.modulus = self.tokens.rest_of_line(self.tokens.next);
        let modulus = if self.tokens.word_is("given") {
            self.tokens.expect("limbs")?;
            Modulus::Given { limbs: self.tokens.decimal("a number of limbs")? }
        } else {
            Modulus::Known(self.tokens.big()?)
        };
        let (constants, functions, arrays, tables) = (vec![], vec![], vec![], vec![]);
        let (variables, subprograms) = (vec![], vec![]);
        Ok(Program { name, modulus, constants, functions, arrays, tables, variables, subprograms })
    }

    /// Reads a part that programs and subprograms have, whose first word has been read; false if it is none.
    fn declaration(&mut self, word: &str, program: &mut Program) -> Parsed<bool> {
        match word {
            "constant" => {
                self.places.constants.push(self.tokens.rest_of_line(self.tokens.next - 1));
                self.in_order('c', program.constants.len())?;
                self.tokens.expect("=")?;
                program.constants.push(self.tokens.big()?);
            }
            "array" => {
                self.in_order('a', program.arrays.len())?;
                program.arrays.push(self.array_decl()?);
            }
            "table" => {
                self.places.tables.push(self.tokens.rest_of_line(self.tokens.next - 1));
                self.in_order('t', program.tables.len())?;
                program.tables.push(self.table_decl()?);
            }
            "function" => {
                let head = self.tokens.rest_of_line(self.tokens.next - 1);
                self.places.functions.push(FunctionPlaces { head, statements: Vec::new() });
                self.in_order('f', program.functions.len())?;
                program.functions.push(self.function()?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn table_decl(&mut self) -> Parsed<TableDecl> {
        let name = self.tokens.name()?;
        self.tokens.expect("values")?;
        let element_values = self.tokens.decimal("a number of values")? as usize; // u32 to usize widens
        self.tokens.expect("{")?;
        let mut elements = Vec::new();
        while !self.tokens.word_is("}") {
            self.tokens.expect("(")?;
            let mut element = Vec::new();
            while !self.tokens.word_is(")") {
                element.push(self.tokens.big()?);
            }
            elements.push(element);
        }
        Ok(TableDecl { name, element_values, elements })
    }

    fn array_decl(&mut self) -> Parsed<ArrayDecl> {
        let name = self.tokens.name()?;
        self.tokens.expect("values")?;
        let element_values = self.tokens.decimal("a number of values")? as usize;
        self.tokens.expect("capacity")?;
        let capacity = if self.tokens.word_is("unbounded") {
            Capacity::Unbounded
        } else {
            Capacity::Fixed(self.tokens.decimal("a number of elements or `unbounded`")?)
        };
        Ok(ArrayDecl { name, element_values, capacity })
    }

    fn function(&mut self) -> Parsed<Function> {
        let name = self.tokens.name()?;
        let params = self.read()?;
        self.tokens.expect("->")?;
        let results = self.read()?;
        self.tokens.expect("values")?;
        let value_count = self.tokens.decimal("a number of values")?;
        self.tokens.expect("{")?;
        let mut words = Vec::new();
        while self.tokens.word_is("word") {
            self.in_order('w', words.len())?;
            self.tokens.expect("=")?;
            words.push(self.word_def()?);
        }
        self.origins = Origins::default();
        while self.tokens.word_is("stretch") {
            self.stretch()?;
        }
        self.stretches = self.origins.stretches().len();
        let body = self.statements(&["}"])?;
        self.tokens.expect("}")?;
        let origins = std::mem::take(&mut self.origins);
        Ok(Function { name, params, body, results, words, value_count, origins })
    }

    /// The name of a stretch, and the one around it, which comes before it.
    fn stretch(&mut self) -> Parsed<()> {
        let number = self.origins.stretches().len();
        self.in_order('s', number)?;
        let name = self.tokens.name()?;
        let around = if self.tokens.word_is("in") { Some(self.stretch_before(number)?) } else { None };
        self.origins.add_stretch(&name, around);
        Ok(())
    }

    /// A stretch below `end`.
    fn stretch_before(&mut self, end: usize) -> Parsed<usize> {
        let known = |text: &str| usize::try_from(decimal(text.strip_prefix('s')?)?).ok().filter(|&number| number < end);
        self.tokens.take("a stretch that has been named, such as s0", known)
    }

    /// Notes where the statement or operation begins whose first token is `at`.
    fn note(&mut self, at: usize) {
        let place = self.tokens.rest_of_line(at);
        if let Some(function) = self.places.functions.last_mut() {
            function.statements.push(place);
        }
    }

    fn word_def(&mut self) -> Parsed<WordDef> {
        if self.tokens.word_is("calldata_size") {
            return Ok(WordDef::CalldataSize);
        }
        if self.tokens.word_is("calldata_word") {
            return Ok(WordDef::CalldataWord(self.read()?));
        }
        if self.tokens.word_is("scratch_word") {
            return Ok(WordDef::ScratchWord(self.read()?));
        }
        if self.tokens.word_is("clz") {
            return Ok(WordDef::LeadingZeros(self.read()?));
        }
        if self.tokens.word_is("defined") {
            return Ok(WordDef::Defined);
        }
        if self.tokens.word_is("has") {
            return Ok(WordDef::Has(self.feature()?));
        }
        if let Some((op, _)) = WORD_OPS.iter().find(|(_, name)| self.tokens.peek() == Some(name)) {
            self.tokens.next += 1;
            return Ok(WordDef::Op(*op, self.read()?, self.read()?));
        }
        if let Some((op, _)) = MOD_OPS.iter().find(|(_, name)| self.tokens.peek() == Some(name)) {
            self.tokens.next += 1;
            return Ok(WordDef::ModOp(*op, [self.read()?, self.read()?, self.read()?]));
        }
        let expected = match self.tokens.peek().and_then(hexadecimal_digits) {
            Some(_) => "a number below 2²⁵⁶",
            None => {
                "a word: a number such as 0x0, an operation, `calldata_size`, `calldata_word`, `scratch_word`, `clz`, `has` or `defined`"
            }
        };
        let number = |text| U256::from_str_radix(hexadecimal_digits(text)?, 16).ok();
        self.tokens.take(expected, number).map(WordDef::Constant)
    }

    /// The feature that `has` asks for.
    fn feature(&mut self) -> Parsed<Feature> {
        let plain = [
            ("powers_of_two", Feature::PowersOfTwo),
            ("given", Feature::Given),
            ("inversion", Feature::Inversion),
            ("padding", Feature::Padding),
            ("zero_test", Feature::ZeroTest),
            ("field_slots", Feature::FieldSlots),
            ("short_parts", Feature::ShortParts),
            ("order", Feature::Order),
            ("word_lanes", Feature::WordLanes),
            ("short_code", Feature::ShortCode),
            ("small_tables", Feature::SmallTables),
            ("leading_zeros", Feature::LeadingZeros),
            ("packed", Feature::Packed),
        ];
        if let Some((_, feature)) = plain.into_iter().find(|(name, _)| self.tokens.word_is(name)) {
            return Ok(feature);
        }
        if self.tokens.word_is("precompile") {
            let address = self.tokens.at_most("the address of a precompile", u16::MAX.into())?;
            return Ok(Feature::Precompile(u16::try_from(address).expect("it is at most so much")));
        }
        if self.tokens.word_is("slots") {
            return Ok(Feature::Slots(self.read()?));
        }
        if self.tokens.word_is("limbs") {
            return Ok(Feature::Limbs(self.read()?));
        }
        let names: Vec<String> = plain.iter().map(|(name, _)| format!("`{name}`")).collect();
        let expected = format!("{}, `limbs`, `slots` or `precompile`", names.join(", "));
        self.tokens.fail(self.tokens.next, &expected)
    }

    /// Statements up to one of the words `ends`, which stays.
    fn statements(&mut self, ends: &[&str]) -> Parsed<Region> {
        // The body of the function is around all of its regions.
        if self.depth > REGIONS_MAX {
            return self.tokens.fail(self.tokens.next, &format!("regions at most {REGIONS_MAX} deep in each other"));
        }
        self.depth += 1;
        let mut statements = Vec::new();
        while self.tokens.peek().is_some_and(|word| !ends.contains(&word)) {
            statements.push(self.statement()?);
        }
        self.depth -= 1;
        Ok(Region { statements })
    }

    fn results(&mut self) -> Parsed<Vec<Value>> {
        self.tokens.expect("->")?;
        self.read()
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let at = self.tokens.next;
        self.note(at);
        let word = self.tokens.take("a statement", Some)?;
        Ok(match word {
            "block" => Statement::Block(self.block()?),
            "call" => {
                let function = FunctionId(self.tokens.numbered('f', "a function such as f0")?);
                Statement::Call { function, arguments: self.read()?, results: self.results()? }
            }
            "repeat" => self.repeat()?,
            "countdown" => self.countdown()?,
            "sequence" => self.sequence()?,
            "branch" => self.branch()?,
            _ => match parse_effect(&mut self.tokens, word) {
                Some(effect) => effect?.into(),
                None => return self.tokens.fail(at, "a statement"),
            },
        })
    }

    fn block(&mut self) -> Parsed<Block> {
        self.tokens.expect("{")?;
        let (mut ops, mut named) = (Vec::new(), None);
        // Line, the named stretch around it, and the stretch of the line in that.
        let mut line_stretch: Option<(usize, Option<usize>, usize)> = None;
        while !self.tokens.word_is("}") {
            if self.tokens.word_is("of") {
                named = if self.tokens.word_is("none") { None } else { Some(self.stretch_before(self.stretches)?) };
                continue;
            }
            self.note(self.tokens.next);
            let mut stretch = named;
            if self.by_line {
                let line = self.tokens.line();
                let known = line_stretch.filter(|&(known, around, _)| (known, around) == (line, named));
                let (_, _, number) = known.unwrap_or_else(|| {
                    self.origins.add_stretch(&format!("{LINE_PREFIX}{line}"), named);
                    (line, named, self.origins.stretches().len() - 1)
                });
                line_stretch = Some((line, named, number));
                stretch = Some(number);
            }
            let value: Value = self.read()?;
            self.tokens.expect("=")?;
            let kind = self.tokens.take("`add`, `sub` or `mul`", FieldOp::named)?;
            // A text has more tokens than values, whatever number it gives one.
            if stretch.is_some() && (value.0 as usize) < self.tokens.count() {
                self.origins.note_stretch(value, stretch); // u32 to usize widens
            }
            ops.push((value, Op { kind, x: self.read()?, y: self.read()? }));
        }
        Ok(Block { ops })
    }

    fn repeat(&mut self) -> Parsed<Statement> {
        let count = self.read()?;
        self.tokens.expect("index")?;
        let index = self.read()?;
        let params = self.read()?;
        self.tokens.expect("=")?;
        let initial = self.read()?;
        let arms = vec![self.arm(params)?];
        self.control(ControlKind::Repeat { count, index }, initial, arms)
    }

    fn countdown(&mut self) -> Parsed<Statement> {
        let count = self.read()?;
        let initial = self.read()?;
        self.tokens.expect("{")?;
        let mut arms = Vec::new();
        while self.tokens.word_is("turn") {
            let params = self.read()?;
            arms.push(self.arm(params)?);
        }
        self.tokens.expect("}")?;
        self.control(ControlKind::Countdown { count }, initial, arms)
    }

    fn sequence(&mut self) -> Parsed<Statement> {
        self.tokens.expect("(")?;
        let mut steps = Vec::new();
        while !self.tokens.word_is(")") {
            steps.push(self.step()?);
        }
        let first = if self.tokens.word_is("first") { Some(self.first_steps()?) } else { None };
        let initial = self.read()?;
        self.tokens.expect("{")?;
        let (mut arms, mut then) = (Vec::new(), Vec::new());
        while self.tokens.word_is("part") {
            let params = self.read()?;
            arms.push(self.arm(params)?);
            let has_next = self.tokens.word_is("then");
            then.push(if has_next { Some(self.number_of_part()?) } else { None });
        }
        self.tokens.expect("}")?;
        self.control(ControlKind::Sequence(Order { steps, then, first }), initial, arms)
    }

    fn first_steps(&mut self) -> Parsed<FirstSteps<Word>> {
        let count = self.read()?;
        let each = if self.tokens.word_is("times") { self.tokens.decimal("a number of steps")? as usize } else { 1 }; // u32 to usize widens
        Ok(FirstSteps { count, each })
    }

    fn step(&mut self) -> Parsed<SequenceStep<Word>> {
        let is_row = self.tokens.word_is("row");
        if !self.tokens.peek().is_some_and(|text| text.starts_with('w')) {
            return Ok(match is_row {
                true => SequenceStep::CarryNumber(self.tokens.decimal("the number of a row")? as usize), // u32 to usize widens
                false => SequenceStep::Part(self.number_of_part()?),
            });
        }
        let word = self.read()?;
        self.tokens.expect("from")?;
        let first_bit = self.tokens.decimal("a bit")?;
        if is_row {
            return Ok(SequenceStep::Carry { word, first_bit });
        }
        let first_part = if self.tokens.word_is("plus") { self.number_of_part()? } else { 0 };
        Ok(SequenceStep::Chosen { word, first_bit, first_part })
    }

    fn number_of_part(&mut self) -> Parsed<usize> {
        Ok(self.tokens.decimal("the number of a part")? as usize) // u32 to usize widens
    }

    fn branch(&mut self) -> Parsed<Statement> {
        let condition = self.read()?;
        let then = self.arm(Vec::new())?;
        self.tokens.expect("else")?;
        let otherwise = self.arm(Vec::new())?;
        self.control(ControlKind::Branch { condition }, Vec::new(), vec![then, otherwise])
    }

    /// `{ … give (…) }`.
    fn arm(&mut self, params: Vec<Value>) -> Parsed<Arm> {
        self.tokens.expect("{")?;
        let body = self.statements(&["give", "}"])?;
        self.tokens.expect("give")?;
        let gives = self.read()?;
        self.tokens.expect("}")?;
        Ok(Arm { params, body, gives })
    }

    /// `-> (…)`, the end of a statement that gives values.
    fn control(&mut self, kind: ControlKind, initial: Vec<Operand>, arms: Vec<Arm>) -> Parsed<Statement> {
        let results = self.results()?;
        Ok(Control { kind, initial, arms, results }.into())
    }
}
