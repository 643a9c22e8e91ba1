//! Program to text.

use super::spelling::{Spelt, spell_effect};
use super::{MOD_OPS, WORD_OPS, name_of};
use crate::machine::{Capacity, Feature, FirstSteps, SequenceStep};
use crate::origin::Origins;
use crate::program::{Arm, Block, Control, ControlKind, Function, Order, Program, Region, Statement, Word, WordDef};
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

impl Printer {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{:width$}{line}", "", width = 2 * self.depth).expect("a string takes any text");
    }

    fn program(&mut self, program: &Program) {
        self.line(&format!("program {:?}", program.name));
        self.line(&format!("modulus {}", program.modulus));
        for (number, name) in program.variables.iter().enumerate() {
            self.line(&format!("variable x{number} {name:?}"));
        }
        for (number, subprogram) in program.subprograms.iter().enumerate() {
            self.line("");
            self.line(&format!("subprogram p{number} {:?} modulus {} {{", subprogram.name, subprogram.modulus));
            self.depth += 1;
            self.unit(subprogram);
            self.depth -= 1;
            self.line("}");
        }
        self.unit(program);
    }

    /// Prints the parts of a program or subprogram that are not shared.
    fn unit(&mut self, program: &Program) {
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
        for (number, table) in program.tables.iter().enumerate() {
            self.line(&format!("table t{number} {:?} values {} {{", table.name, table.element_values));
            for element in &table.elements {
                let values: Vec<String> = element.iter().map(|value| format!("{value:#x}")).collect();
                self.line(&format!("  ({})", values.join(" ")));
            }
            self.line("}");
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
            function.params.spell(),
            function.results.spell(),
            function.value_count
        ));
        self.depth += 1;
        for (number, word) in function.words.iter().enumerate() {
            self.line(&format!("word w{number} = {}", spell_word(word)));
        }
        for (number, (name, around)) in function.origins.stretches().iter().enumerate() {
            let around = around.map_or(String::new(), |around| format!(" in s{around}"));
            self.line(&format!("stretch s{number} {name:?}{around}"));
        }
        self.region(&function.body, &function.origins);
        self.depth -= 1;
        self.line("}");
    }

    fn region(&mut self, region: &Region, origins: &Origins) {
        for statement in &region.statements {
            self.statement(statement, origins);
        }
    }

    /// The operations of a block, each after the stretch that it is of where that changes.
    fn block(&mut self, block: &Block, origins: &Origins) {
        let mut current = None;
        for (value, op) in &block.ops {
            let stretch = origins.innermost(*value);
            if stretch != current {
                self.line(&stretch.map_or("of none".to_owned(), |stretch| format!("of s{stretch}")));
                current = stretch;
            }
            self.line(&format!("{} = {} {} {}", value.spell(), op.kind.name(), op.x.spell(), op.y.spell()));
        }
    }

    /// `head {`, the region, `give (…)`.
    fn arm(&mut self, head: &str, arm: &Arm, origins: &Origins) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.region(&arm.body, origins);
        self.line(&format!("give {}", arm.gives.spell()));
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Statement, origins: &Origins) {
        let line = match statement {
            Statement::Block(block) => {
                self.line("block {");
                self.depth += 1;
                self.block(block, origins);
                self.depth -= 1;
                "}".to_owned()
            }
            Statement::Call { function, arguments, results } => {
                format!("call f{} {} -> {}", function.0, arguments.spell(), results.spell())
            }
            Statement::Control(control) => {
                self.control(control, origins);
                format!("}} -> {}", control.results.spell())
            }
            Statement::Effect(effect) => spell_effect(effect),
        };
        self.line(&line);
    }

    fn control(&mut self, control: &Control, origins: &Origins) {
        let initial = control.initial.spell();
        match &control.kind {
            ControlKind::Repeat { count, index } => {
                for arm in &control.arms {
                    let (count, index) = (count.spell(), index.spell());
                    self.arm(&format!("repeat {count} index {index} {} = {initial}", arm.params.spell()), arm, origins);
                }
            }
            ControlKind::Countdown { count } => {
                self.line(&format!("countdown {} {initial} {{", count.spell()));
                self.depth += 1;
                for turn in &control.arms {
                    self.arm(&format!("turn {}", turn.params.spell()), turn, origins);
                    self.line("}");
                }
                self.depth -= 1;
            }
            ControlKind::Sequence(order) => {
                self.line(&format!("{} {initial} {{", spell_order(order)));
                self.depth += 1;
                for (part, then) in control.arms.iter().zip(&order.then) {
                    self.arm(&format!("part {}", part.params.spell()), part, origins);
                    self.line(&then.map_or("}".to_owned(), |next| format!("}} then {next}")));
                }
                self.depth -= 1;
            }
            ControlKind::Branch { condition } => {
                let heads = [format!("branch {}", condition.spell()), "} else".to_owned()];
                for (head, arm) in heads.iter().zip(&control.arms) {
                    self.arm(head, arm, origins);
                }
            }
        }
    }
}

/// The definition of a word.
pub(super) fn spell_word(word: &WordDef) -> String {
    match word {
        WordDef::Constant(value) => format!("{value:#x}"),
        WordDef::CalldataSize => "calldata_size".to_owned(),
        WordDef::CalldataWord(offset) => format!("calldata_word w{}", offset.0),
        WordDef::ScratchWord(offset) => format!("scratch_word w{}", offset.0),
        WordDef::Op(op, a, b) => format!("{} w{} w{}", name_of(&WORD_OPS, op), a.0, b.0),
        WordDef::ModOp(op, [a, b, m]) => format!("{} w{} w{} w{}", name_of(&MOD_OPS, op), a.0, b.0, m.0),
        WordDef::LeadingZeros(word) => format!("clz w{}", word.0),
        WordDef::Has(Feature::PowersOfTwo) => "has powers_of_two".to_owned(),
        WordDef::Has(Feature::Given) => "has given".to_owned(),
        WordDef::Has(Feature::Inversion) => "has inversion".to_owned(),
        WordDef::Has(Feature::Precompile(address)) => format!("has precompile {address}"),
        WordDef::Has(Feature::Slots(count)) => format!("has slots {count}"),
        WordDef::Has(Feature::Padding) => "has padding".to_owned(),
        WordDef::Has(Feature::ZeroTest) => "has zero_test".to_owned(),
        WordDef::Has(Feature::FieldSlots) => "has field_slots".to_owned(),
        WordDef::Has(Feature::ShortParts) => "has short_parts".to_owned(),
        WordDef::Has(Feature::Order) => "has order".to_owned(),
        WordDef::Has(Feature::WordLanes) => "has word_lanes".to_owned(),
        WordDef::Has(Feature::ShortCode) => "has short_code".to_owned(),
        WordDef::Has(Feature::SmallTables) => "has small_tables".to_owned(),
        WordDef::Has(Feature::LeadingZeros) => "has leading_zeros".to_owned(),
        WordDef::Has(Feature::Packed) => "has packed".to_owned(),
        WordDef::Has(Feature::Limbs(limbs)) => format!("has limbs {limbs}"),
        WordDef::Defined => "defined".to_owned(),
    }
}

/// A sequence before its state: its steps, and how many of them are done.
pub(super) fn spell_order(Order { steps, first, .. }: &Order) -> String {
    let step = |step: &SequenceStep<Word>| match step {
        SequenceStep::Part(number) => number.to_string(),
        SequenceStep::Chosen { word, first_bit, first_part: 0 } => {
            format!("{} from {first_bit}", word.spell())
        }
        SequenceStep::Chosen { word, first_bit, first_part } => {
            format!("{} from {first_bit} plus {first_part}", word.spell())
        }
        SequenceStep::Carry { word, first_bit } => format!("row {} from {first_bit}", word.spell()),
        SequenceStep::CarryNumber(number) => format!("row {number}"),
    };
    let steps: Vec<String> = steps.iter().map(step).collect();
    let first = first.map_or(String::new(), |FirstSteps { count, each }| match each {
        1 => format!(" first {}", count.spell()),
        _ => format!(" first {} times {each}", count.spell()),
    });
    format!("sequence ({}){first}", steps.join(" "))
}
