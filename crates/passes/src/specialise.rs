//! Feature specialisation: resolves a program's feature tests for one interface and drops code that is then
//! unreachable.

use foldhash::{HashMap, HashMapExt};
use residue_ir::program::{
    Control, ControlKind, Function, Operand, Program, Region, Rewritten, Statement, SubprogramId, Value, Word, WordDef,
};
use residue_ir::{Declared, Effect, Feature};
use ruint::aliases::U256;

/// True if `program` tests for any feature of its interface.
pub fn asks(program: &Program) -> bool {
    let is_question = |word: &WordDef| matches!(word, WordDef::Has(_));
    program.units().flat_map(|unit| &unit.functions).any(|function| function.words.iter().any(is_question))
}

/// `program` for an interface that has the features that `has` says: questions are constants, branches on them are the arm that
/// is taken, and subprograms that are not entered any more are gone, as are functions that are not called.
pub fn specialise(program: &Program, has: impl Fn(Feature) -> bool) -> Program {
    let mut program = program.clone();
    answer(&mut program, &has);
    program.subprograms.iter_mut().for_each(|subprogram| answer(subprogram, &has));
    // A function that is not called may enter a subprogram.
    drop_uncalled(&mut program);
    drop_unentered(&mut program);
    program.subprograms.iter_mut().for_each(drop_uncalled);
    drop_unused(&mut program);
    program.functions.iter_mut().for_each(forget_values);
    program
}

/// Leaves out the tables, arrays and variables that no effect uses any more: tables are code, the others memory. Variables are shared by all units.
/// Constants keep their numbers, as blocks of a program are compared with those that it had before it was simplified.
fn drop_unused(program: &mut Program) {
    let mut variables = vec![false; program.variables.len()];
    each_unit(program, &mut |unit| {
        let mut used = [vec![false; unit.tables.len()], vec![false; unit.arrays.len()]];
        for_each_declared(unit, &mut |declared, number| match declared {
            Declared::Table => used[0][*number] = true,
            Declared::Array => used[1][*number] = true,
            Declared::Variable => {}
        });
        unit.for_each_effect(&mut |effect| effect.variables().for_each(|variable| variables[variable.0] = true));
        let places = used.each_ref().map(|used| places(used));
        for_each_declared(unit, &mut |declared, number| match declared {
            Declared::Table => *number = places[0][*number],
            Declared::Array => *number = places[1][*number],
            Declared::Variable => {}
        });
        let [tables, arrays] = used;
        retain(&mut unit.tables, &tables);
        retain(&mut unit.arrays, &arrays);
    });
    let places = places(&variables);
    each_unit(program, &mut |unit| {
        for_each_declared(unit, &mut |declared, number| {
            if declared == Declared::Variable {
                *number = places[*number];
            }
        });
    });
    retain(&mut program.variables, &variables);
}

fn each_unit(program: &mut Program, visit: &mut impl FnMut(&mut Program)) {
    visit(program);
    program.subprograms.iter_mut().for_each(visit);
}

fn for_each_declared(unit: &mut Program, visit: &mut impl FnMut(Declared, &mut usize)) {
    for function in &mut unit.functions {
        function.body.rewrite(&mut |statement| {
            if let Statement::Effect(effect) = statement {
                effect.all_declared_mut().for_each(|(declared, number)| visit(declared, number));
            }
            Rewritten::Kept
        });
    }
}

/// The number of each that is kept, once the others are gone.
fn places(is_kept: &[bool]) -> Vec<usize> {
    let before =
        is_kept.iter().scan(0, |before, &is_kept| Some(std::mem::replace(before, *before + usize::from(is_kept))));
    before.collect()
}

fn retain<T>(all: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter();
    all.retain(|_| is_kept.next() == Some(&true));
}

/// A function of whose values none is left has none.
fn forget_values(function: &mut Function) {
    let mut has_values = !function.params.is_empty();
    function.body.walk(&mut |statement| {
        has_values |= match statement {
            Statement::Block(block) => !block.ops.is_empty(),
            Statement::Call { results, .. } => !results.is_empty(),
            Statement::Control(control) => {
                !control.results.is_empty() || control.arms.iter().any(|arm| !arm.params.is_empty())
            }
            Statement::Effect(effect) => !effect.values_defined().is_empty(),
        };
    });
    if !has_values {
        function.value_count = 0;
    }
}

fn answer(unit: &mut Program, has: &impl Fn(Feature) -> bool) {
    for function in &mut unit.functions {
        let mut answers: HashMap<Word, bool> = HashMap::new();
        for (number, word) in (0..).zip(&mut function.words) {
            if let WordDef::Has(feature) = *word {
                answers.insert(Word(number), has(feature));
                *word = WordDef::Constant(U256::from(u8::from(has(feature))));
            }
        }
        if !answers.is_empty() {
            take_arms(function, &answers);
        }
    }
}

/// Puts the arms that are taken in place of branches on `answers`.
fn take_arms(function: &mut Function, answers: &HashMap<Word, bool>) {
    let mut renamed: HashMap<Value, Operand> = HashMap::new();
    function.body = taken(std::mem::take(&mut function.body), answers, &mut renamed);
    // What comes after an arm that ends the program is never executed.
    let ends = |statement: &Statement| matches!(statement, Statement::Effect(effect) if effect.ends());
    if function.results.is_empty()
        && let Some(end) = function.body.statements.iter().position(ends)
    {
        function.body.statements.truncate(end + 1);
    }
    // What is given may be the result of another such branch.
    let last = |mut operand: Operand| {
        while let Some(&next) = operand.value().and_then(|value| renamed.get(&value)) {
            operand = next;
        }
        operand
    };
    function.body.rewrite(&mut |statement| {
        statement.for_each_operand_mut(&mut |operand| *operand = last(*operand));
        Rewritten::Kept
    });
    function.results.iter_mut().for_each(|operand| *operand = last(*operand));
}

fn taken(region: Region, answers: &HashMap<Word, bool>, renamed: &mut HashMap<Value, Operand>) -> Region {
    let mut statements = Vec::new();
    for mut statement in region.statements {
        let answer = match &statement {
            Statement::Control(control) => match control.kind {
                ControlKind::Branch { condition } => answers.get(&condition).copied(),
                _ => None,
            },
            _ => None,
        };
        match (answer, statement) {
            (Some(is_first), Statement::Control(control)) => {
                let Control { mut arms, results, .. } = *control;
                let arm = arms.swap_remove(if is_first { 0 } else { 1 });
                renamed.extend(results.into_iter().zip(arm.gives));
                taken(arm.body, answers, renamed).statements.into_iter().for_each(|one| append(&mut statements, one));
            }
            (_, other) => {
                statement = other;
                for arm in statement.arms_mut() {
                    arm.body = taken(std::mem::take(&mut arm.body), answers, renamed);
                }
                append(&mut statements, statement);
            }
        }
    }
    Region { statements }
}

/// Adds a statement; operations join a block that is the last one.
fn append(statements: &mut Vec<Statement>, statement: Statement) {
    match (statements.last_mut(), statement) {
        (Some(Statement::Block(last)), Statement::Block(block)) => last.ops.extend(block.ops),
        (_, statement) => statements.push(statement),
    }
}

/// Leaves out the subprograms that are not entered.
fn drop_unentered(program: &mut Program) {
    let mut entered = vec![false; program.subprograms.len()];
    program.for_each_effect(&mut |effect| {
        if let Effect::Enter { subprogram, .. } = effect {
            entered[subprogram.0] = true;
        }
    });
    let mut places = Vec::with_capacity(entered.len());
    let mut kept = 0;
    for &is_entered in &entered {
        places.push(SubprogramId(kept));
        kept += usize::from(is_entered);
    }
    let mut is_entered = entered.into_iter();
    program.subprograms.retain(|_| is_entered.next() == Some(true));
    for function in &mut program.functions {
        function.body.rewrite(&mut |statement| {
            if let Statement::Effect(Effect::Enter { subprogram, .. }) = statement {
                *subprogram = places[subprogram.0];
            }
            Rewritten::Kept
        });
    }
}

/// Leaves out the functions that are not called any more. A function calls earlier ones only.
fn drop_uncalled(unit: &mut Program) {
    let mut called = vec![false; unit.functions.len()];
    if let Some(start) = called.last_mut() {
        *start = true;
    }
    for number in (0..unit.functions.len()).rev() {
        if called[number] {
            unit.functions[number].body.walk(&mut |statement| {
                if let Statement::Call { function, .. } = statement {
                    called[function.0 as usize] = true; // u32 to usize widens
                }
            });
        }
    }
    let before = |number: usize| u32::try_from(called[..number].iter().filter(|&&is_called| is_called).count());
    let places: Vec<u32> = (0..called.len()).map(|number| before(number).expect("functions are few")).collect();
    let mut is_called = called.iter().copied();
    unit.functions.retain(|_| is_called.next() == Some(true));
    for function in &mut unit.functions {
        function.body.rewrite(&mut |statement| {
            if let Statement::Call { function, .. } = statement {
                function.0 = places[function.0 as usize]; // u32 to usize widens
            }
            Rewritten::Kept
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::{evaluate, text};

    const TEXT: &str = r#"
program "asks" modulus 0x61
constant c0 = 0x5
subprogram p0 "wide" modulus 0x65 { function f0 "start" () -> () values 0 { } }
subprogram p1 "narrow" modulus 0x67 { function f0 "start" () -> () values 0 { } }
function f0 "start" () -> () values 4 {
  word w0 = 0x0
  word w1 = has limbs 64
  word w2 = has powers_of_two
  parse w0 bytes 1 -> v0
  branch w1 {
    enter p0 ()
    give (v0)
  } else {
    enter p1 ()
    block { v1 = mul v0 v0 }
    branch w2 { give (v1) } else { give (c0) } -> (v2)
    give (v2)
  } -> (v3)
  return_elements (v3) bytes 1
}
"#;

    const CALLS: &str = r#"
program "calls" modulus 0x61
variable x0 "one"
variable x1 "other"
table t0 "first" values 1 { (0x1) }
table t1 "second" values 1 { (0x2) }
array a0 "one" values 1 capacity 2
array a1 "other" values 1 capacity 3
function f0 "start" () -> () values 3 {
  word w0 = 0x0
  word w1 = has precompile 7
  branch w1 {
    set x0 w0
    store a0 w0 (c0)
    return_precompile at 7
    give ()
  } else {
    lookup t1 w0 -> (v0)
    block { v1 = mul v0 v0 }
    set x1 w0
    store a1 w0 (v1)
    load a1 w0 -> (v2)
    return_elements (v2) bytes 1
    give ()
  } -> ()
}
"#;

    #[test]
    fn what_the_other_arm_alone_names_is_gone() {
        let program = text::parse(CALLS).unwrap();
        let thin = specialise(&program, |feature| feature == Feature::Precompile(7));
        assert!(thin.tables.is_empty());
        assert!(text::parse(&text::print(&thin)).is_ok());
        assert_eq!((&thin.variables[..], thin.arrays.len()), (&["one".to_owned()][..], 1));
        assert_eq!(thin.entry().value_count, 0);
        let other = specialise(&program, |_| false);
        assert_eq!(other.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["second"]);
        assert_eq!((&other.variables[..], other.arrays[0].name.as_str()), (&["other".to_owned()][..], "other"));
        let printed = text::print(&other);
        assert!(["lookup t0", "set x0", "store a0", "load a0"].iter().all(|line| printed.contains(line)), "{printed}");
    }

    /// Of the variables the first is gone, and the last is read across to alone.
    const ACROSS: &str = r#"
program "across" modulus 0x61
variable x0 "of the other arm"
variable x1 "first"
variable x2 "read across to"
function f0 "start" () -> () values 0 {
  word w0 = 0x1234
  word w1 = has precompile 7
  word w2 = defined
  branch w1 {
    set x0 w0
    give ()
  } else {
    give ()
  } -> ()
  set x1 w0
  get_across x1 from 31 -> w2
  return_word w2
}
"#;

    #[test]
    fn a_variable_that_is_read_across_to_stays() {
        let program = text::parse(ACROSS).unwrap();
        let other = specialise(&program, |_| false);
        assert_eq!(other.variables, ["first", "read across to"]);
        assert_eq!(
            evaluate(&other, &[]),
            evaluate(&text::parse(&ACROSS.replace("has precompile 7", "0x0")).unwrap(), &[])
        );
    }

    /// A subprogram that a function enters, which is called under one interface alone.
    const ENTERED: &str = r#"
program "entered" modulus 0x61
subprogram p0 "inner" modulus 0x65 { function f0 "start" () -> () values 0 { } }
function f0 "outer" () -> () values 0 {
  enter p0 ()
}
function f1 "start" () -> () values 0 {
  word w0 = has powers_of_two
  word w1 = 0x1
  branch w0 {
    call f0 () -> ()
    give ()
  } else {
    give ()
  } -> ()
  return_word w1
}
"#;

    #[test]
    fn a_subprogram_that_no_called_function_enters_is_gone() {
        let program = text::parse(ENTERED).unwrap();
        let counts = |has| {
            let special = specialise(&program, |_| has);
            (special.functions.len(), special.subprograms.len())
        };
        assert_eq!((counts(true), counts(false)), ((2, 1), (1, 0)));
    }

    /// The names of the subprograms left, and the last lines of the text.
    fn check(limbs: u32, powers_of_two: bool, subprogram: &str, end: &str) {
        let program = text::parse(TEXT).unwrap();
        assert!(asks(&program));
        let has = |feature| match feature {
            Feature::Limbs(asked) => asked <= limbs,
            Feature::PowersOfTwo => powers_of_two,
            Feature::Given
            | Feature::Slots(_)
            | Feature::Inversion
            | Feature::Padding
            | Feature::ZeroTest
            | Feature::FieldSlots
            | Feature::ShortParts
            | Feature::Order
            | Feature::WordLanes
            | Feature::ShortCode
            | Feature::SmallTables
            | Feature::LeadingZeros
            | Feature::Packed
            | Feature::Precompile(_) => true,
        };
        let special = specialise(&program, has);
        assert!(!asks(&special));
        assert_eq!(special.subprograms.iter().map(|unit| unit.name.as_str()).collect::<Vec<_>>(), [subprogram]);
        let printed = text::print(&special);
        let lines: Vec<&str> = printed.lines().map(str::trim).collect();
        let parsed = lines.iter().rposition(|line| line.starts_with("parse")).unwrap();
        assert_eq!(lines[parsed + 1..lines.len() - 1].join(" "), end);
    }

    #[test]
    fn the_arm_that_is_taken_stays() {
        check(64, false, "wide", "enter p0 () return_elements (v0) bytes 1");
        check(12, true, "narrow", "enter p0 () block { v1 = mul v0 v0 } return_elements (v1) bytes 1");
        check(12, false, "narrow", "enter p0 () block { v1 = mul v0 v0 } return_elements (c0) bytes 1");
    }
}
