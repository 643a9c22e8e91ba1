//! The checker: do the emitted bytes of each block mean what the block means?
//!
//! It reads the finished code back through the revision's decoder and numbers values on both sides: two values get the
//! same number if they are the same operation on the same numbers, operands of sums and products in either order. That is
//! exact for every modulus and every degree, and complete as long as passes only share, drop, reorder, fuse and place
//! operations; a pass that rewrites formulas will need random evaluation beside it. What happens between blocks (copies,
//! calls, loops) is judged by running whole programs.

use crate::allocate::{Allocation, Placement, Slot};
use crate::error::CompileError;
use crate::lower::LoweredBlock;
use crate::target::{Target, arithmetic};
use residue_ir::program::{Block, Function, Operand, Program, Region, Statement, Value};
use residue_isa::assembly::Code;
use residue_isa::{Arithmetic, FieldInstruction, Revision};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A number that stands for a field value: equal numbers, equal values.
type Number = usize;

/// What a number stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Meaning {
    /// A value that no operation defines.
    Given(Value),
    /// A constant, by its place in the pool.
    Constant(u32),
    Operation(Arithmetic, Number, Number),
    /// What a slot holds that nobody said anything about.
    Unknown(Slot),
}

#[derive(Default)]
struct Numbering {
    numbers: HashMap<Meaning, Number>,
}

impl Numbering {
    fn number(&mut self, meaning: Meaning) -> Number {
        let meaning = match meaning {
            Meaning::Operation(operation @ (Arithmetic::Add | Arithmetic::Mul), x, y) => {
                Meaning::Operation(operation, x.min(y), x.max(y))
            }
            other => other,
        };
        let next = self.numbers.len();
        *self.numbers.entry(meaning).or_insert(next)
    }

    /// Numbers every value of `function`, as its source text defines them.
    fn source(&mut self, function: &Function) -> Vec<Number> {
        let mut of: Vec<Number> =
            (0..function.value_count).map(|value| self.number(Meaning::Given(Value(value)))).collect();
        function.body.for_each_block(&mut |block| {
            for &(value, op) in &block.ops {
                let mut read = |operand| match operand {
                    Operand::Value(value) => of[value.0 as usize],
                    Operand::Constant(id) => self.number(Meaning::Constant(id.0)),
                };
                let (x, y) = (read(op.x), read(op.y));
                of[value.0 as usize] = self.number(Meaning::Operation(arithmetic(op.kind), x, y));
            }
        });
        of
    }
}

/// All that the checker compares.
pub struct Evidence<'a> {
    /// The program as it was given.
    pub source: &'a Program,
    /// The program as it was lowered.
    pub lowered: &'a Program,
    /// Where its values are said to be.
    pub allocation: &'a Allocation,
    /// Where its blocks are said to be.
    pub blocks: &'a [LoweredBlock],
    /// The bytes.
    pub code: &'a Code,
    /// The revision that reads them.
    pub revision: Revision,
    /// The slot of the first constant of the pool.
    pub first_constant: Slot,
    /// Tells slots from memory offsets.
    pub target: &'a dyn Target,
}

/// Checks every block; an error names the function and the value.
pub fn check(evidence: &Evidence<'_>) -> Result<(), CompileError> {
    let mut numbering = Numbering::default();
    for (number, function) in evidence.lowered.functions.iter().enumerate() {
        let source = numbering.source(&evidence.source.functions[number]);
        let mut blocks: BTreeMap<Value, &Block> = BTreeMap::new();
        function.body.for_each_block(&mut |block| {
            blocks.extend(block.ops.first().map(|&(first, _)| (first, block)));
        });
        let fail = |what: String| CompileError::Judged { function: function.name.clone(), what };
        let mut lowered: BTreeSet<Value> = BTreeSet::new();
        for part in evidence.blocks.iter().filter(|part| part.function == number) {
            let block =
                blocks.get(&part.first).ok_or_else(|| fail(format!("no block begins with v{}", part.first.0)))?;
            let placement = &evidence.allocation.functions[number];
            check_block(evidence, &mut numbering, &source, block, placement, part).map_err(fail)?;
            lowered.insert(part.first);
        }
        if let Some(missing) = reachable(&function.body).difference(&lowered).next() {
            return Err(fail(format!("the block of v{} was not lowered", missing.0)));
        }
    }
    Ok(())
}

/// First values of the blocks of `region` that lowering must have reached: those before anything that ends the program.
fn reachable(region: &Region) -> BTreeSet<Value> {
    let mut firsts = BTreeSet::new();
    for statement in &region.statements {
        match statement {
            Statement::Block(block) => firsts.extend(block.ops.first().map(|&(first, _)| first)),
            Statement::Branch(branch) => {
                firsts.extend(reachable(&branch.then));
                firsts.extend(reachable(&branch.otherwise));
            }
            Statement::ReturnWord { .. } | Statement::ReturnElements { .. } => break,
            // A loop with a constant count of 0 is not lowered; its body is looked at only where it was.
            _ => {}
        }
    }
    firsts
}

fn check_block(
    evidence: &Evidence<'_>,
    numbering: &mut Numbering,
    source: &[Number],
    block: &Block,
    placement: &Placement,
    part: &LoweredBlock,
) -> Result<(), String> {
    let number_of = |value: Value| source[value.0 as usize];
    let behind = &placement.behind_block[&part.first];
    let defined: BTreeSet<Value> = block.ops.iter().map(|&(value, _)| value).collect();
    let needed: Vec<Value> = behind.ones().map(|value| Value(u32::try_from(value).expect("values are u32"))).collect();

    let mut slots: HashMap<Slot, Number> = HashMap::new();
    let through = needed.iter().copied().filter(|value| !defined.contains(value));
    for value in through.chain(block.inputs()) {
        let number = number_of(value);
        if slots.insert(placement.slot(value), number).is_some_and(|other| other != number) {
            return Err(format!("v{} shares its slot with another value before the block", value.0));
        }
    }
    for (slot, id) in (evidence.first_constant..).zip(0..evidence.lowered.constants.len()) {
        let id = u32::try_from(id).expect("the number of constants was checked");
        slots.insert(slot, numbering.number(Meaning::Constant(id)));
    }

    let bytes = item_bytes(evidence.code, part)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let (instruction, length) = evidence.revision.decode(rest).ok_or("the bytes are no field instruction")?;
        execute(evidence, numbering, &mut slots, &instruction)?;
        rest = &rest[length..];
    }
    for value in needed {
        if slots.get(&placement.slot(value)) != Some(&number_of(value)) {
            return Err(format!("slot {} does not hold v{} behind the block", placement.slot(value), value.0));
        }
    }
    Ok(())
}

/// The bytes of a block's items, which are neighbours.
fn item_bytes<'a>(code: &'a Code, part: &LoweredBlock) -> Result<&'a [u8], String> {
    let range = |item| code.item_range(item).ok_or_else(|| format!("item {item} has no bytes"));
    let (first, last) = (range(part.items.start)?, range(part.items.end - 1)?);
    Ok(&code.bytes[first.start..last.end])
}

/// All lanes are read before any is written.
fn execute(
    evidence: &Evidence<'_>,
    numbering: &mut Numbering,
    slots: &mut HashMap<Slot, Number>,
    instruction: &FieldInstruction,
) -> Result<(), String> {
    let mut results = Vec::new();
    for lane in evidence.target.lanes(instruction).ok_or_else(|| format!("{instruction:?} is not on slots"))? {
        let mut read = |slot| match slots.get(&slot) {
            Some(&number) => number,
            None => numbering.number(Meaning::Unknown(slot)),
        };
        let (x, y) = (read(lane.x), read(lane.y));
        results.push((lane.out, numbering.number(Meaning::Operation(lane.operation, x, y))));
    }
    slots.extend(results);
    Ok(())
}
