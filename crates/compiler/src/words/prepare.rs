//! Longer blocks for a target without slots: elements of tables whose place is known are constants, and blocks that stand next to each other
//! are one.

use foldhash::{HashMap, HashMapExt};
use num_bigint::BigUint;
use residue_ir::program::{Block, ConstantId, Operand, Program, Region, Statement, Value, WordDef};
use residue_ir::{Effect, Function};

/// `program` with longer blocks; subprograms too.
pub fn prepare(program: &Program) -> Program {
    let mut prepared = program.clone();
    for unit in &mut prepared.subprograms {
        unit_of(unit);
    }
    unit_of(&mut prepared);
    prepared
}

fn unit_of(program: &mut Program) {
    let tables: Vec<Vec<Vec<BigUint>>> = program.tables.iter().map(|table| table.elements.clone()).collect();
    let constants = &mut program.constants;
    let mut places: HashMap<BigUint, u32> = constants.iter().cloned().zip(0..).collect();
    let mut constant = |value: &BigUint| {
        let place = *places.entry(value.clone()).or_insert_with(|| {
            constants.push(value.clone());
            u32::try_from(constants.len() - 1).expect("constants are few")
        });
        Operand::Constant(ConstantId(place))
    };
    for function in &mut program.functions {
        let mut known: HashMap<Value, Operand> = HashMap::new();
        look_up(&mut function.body, &function.words, &tables, &mut constant, &mut known);
        if !known.is_empty() {
            replace(function, &known);
        }
        join(&mut function.body);
    }
}

/// Removes lookups with a constant index within the table; `known` gets their results.
fn look_up(
    region: &mut Region,
    words: &[WordDef],
    tables: &[Vec<Vec<BigUint>>],
    constant: &mut impl FnMut(&BigUint) -> Operand,
    known: &mut HashMap<Value, Operand>,
) {
    region.statements.retain_mut(|statement| {
        for arm in statement.arms_mut() {
            look_up(&mut arm.body, words, tables, constant, known);
        }
        let Statement::Effect(Effect::Lookup { table, index, results }) = statement else { return true };
        let WordDef::Constant(index) = &words[index.0 as usize] else { return true };
        let Some(element) = usize::try_from(*index).ok().and_then(|index| tables[table.0].get(index)) else {
            return true;
        };
        known.extend(results.iter().zip(element).map(|(&value, element)| (value, constant(element))));
        false
    });
}

fn replace(function: &mut Function, known: &HashMap<Value, Operand>) {
    let put = |operand: &mut Operand| {
        if let Operand::Value(value) = operand
            && let Some(&constant) = known.get(value)
        {
            *operand = constant;
        }
    };
    fn walk(region: &mut Region, put: &impl Fn(&mut Operand)) {
        for statement in &mut region.statements {
            statement.for_each_operand_mut(&mut |operand| put(operand));
            statement.arms_mut().iter_mut().for_each(|arm| walk(&mut arm.body, put));
        }
    }
    walk(&mut function.body, &put);
    function.results.iter_mut().for_each(put);
}

fn join(region: &mut Region) {
    let mut joined: Vec<Statement> = Vec::new();
    for mut statement in std::mem::take(&mut region.statements) {
        statement.arms_mut().iter_mut().for_each(|arm| join(&mut arm.body));
        match (joined.last_mut(), statement) {
            (_, Statement::Block(Block { ops })) if ops.is_empty() => {}
            (Some(Statement::Block(before)), Statement::Block(block)) => before.ops.extend(block.ops),
            (_, statement) => joined.push(statement),
        }
    }
    region.statements = joined;
}
