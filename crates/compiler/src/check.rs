//! Checker of compiled code: the emitted bytes of each block must compute the same as the block.
//!
//! It reads the finished code back through the revision's decoder and numbers values on both sides: two values get the
//! same number if they are the same operation on the same numbers, operands of sums and products in either order, the
//! same small multiple of a number, or sums of the same few products. That is exact for every modulus and every degree,
//! and complete as long as passes only share, drop, reorder, fuse and place operations and make small multiples; a pass
//! that rewrites formulas in other ways will need random evaluation beside it. Code between blocks (copies, calls,
//! loops) is tested by running whole programs.

mod held;
mod made;

use crate::error::CompileError;
use crate::lower::{HeldEnds, HeldWay, LoweredBlock};
use crate::target::wide::Wide;
use crate::target::words::Words;
use crate::target::{FusedOps, Target};
use crate::wide::read::{Text, targets};
use crate::words::read::{Element, Elements, Made};
use foldhash::{HashMap, HashMapExt};
use num_bigint::BigUint;
use residue_ir::program::{Block, Control, ControlKind, Function, Operand, Program, Region, Statement, Value, WordDef};
use residue_isa::FieldOp;
use residue_isa::assembly::Code;
use residue_isa::field_instruction::SUM_PRODUCTS_MAX;
use residue_passes::SlotOp;
use residue_passes::fp2::SlotFp2;
use residue_passes::fp6::SlotFp6;
use residue_passes::multiples::MULTIPLE_END;
use residue_passes::sums::SlotSum;
use residue_passes::{Allocation, Placement, Slot};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A number that stands for a field value: equal numbers, equal values.
type Number = usize;

/// Meaning of a value number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Meaning {
    /// A value that no operation defines.
    Given(Value),
    /// A constant, by the first place that it has in the pool.
    Constant(u32),
    Operation(FieldOp, Number, Number),
    /// Multiple of a number that is no multiple itself, in any order of additions.
    Multiple(Number, u64),
    /// Sum of these products, ascending, in any order of additions.
    Products(Vec<Term>),
}

/// A product, and whether it is subtracted.
type Term = (Number, bool);

struct Numbering<'a> {
    numbers: HashMap<Meaning, Number>,
    /// Numbers that are multiples, with their base and factor.
    multiples: HashMap<Number, (Number, u64)>,
    /// The products of the numbers that are one, or a sum of a few.
    products: HashMap<Number, Vec<Term>>,
    /// The numbers of small constants.
    small: HashMap<Number, u64>,
    constants: &'a [BigUint],
}

impl<'a> Numbering<'a> {
    fn new(constants: &'a [BigUint]) -> Self {
        let (numbers, multiples, products, small) = Default::default();
        Self { numbers, multiples, products, small, constants }
    }

    fn number(&mut self, meaning: Meaning) -> Number {
        let meaning = match meaning {
            Meaning::Operation(operation @ (FieldOp::Add | FieldOp::Mul), x, y) => {
                let multiple = self.as_multiple(operation, x, y).or_else(|| self.as_products(operation, x, y));
                multiple.unwrap_or(Meaning::Operation(operation, x.min(y), x.max(y)))
            }
            Meaning::Operation(FieldOp::Sub, x, y) => self.as_products(FieldOp::Sub, x, y).unwrap_or(meaning),
            Meaning::Constant(id) => Meaning::Constant(self.first_place(id)),
            other => other,
        };
        let next = self.numbers.len();
        let number = *self.numbers.entry(meaning.clone()).or_insert(next);
        match meaning {
            Meaning::Operation(FieldOp::Mul, ..) => {
                self.products.insert(number, vec![(number, false)]);
            }
            Meaning::Products(terms) => {
                self.products.insert(number, terms);
            }
            Meaning::Multiple(of, factor) => {
                self.multiples.insert(number, (of, factor));
            }
            Meaning::Constant(id) => {
                let value = u64::try_from(&self.constants[id as usize]).ok().filter(|&value| value < MULTIPLE_END);
                self.small.extend(value.map(|value| (number, value)));
            }
            _ => {}
        }
        number
    }

    /// First place in the pool of the constant at place `id`. Equal constants may share a slot.
    fn first_place(&self, id: u32) -> u32 {
        let constant = &self.constants[id as usize];
        let place = self.constants.iter().position(|other| other == constant);
        place.and_then(|place| u32::try_from(place).ok()).unwrap_or(id)
    }

    /// The sum or product of two numbers as a small multiple, if it is one.
    fn as_multiple(&self, operation: FieldOp, x: Number, y: Number) -> Option<Meaning> {
        let multiple = |number| self.multiples.get(&number).copied().unwrap_or((number, 1));
        let (of, factor) = match operation {
            FieldOp::Add => {
                let ((a, times_a), (b, times_b)) = (multiple(x), multiple(y));
                (a == b).then_some((a, times_a + times_b))?
            }
            _ => {
                // Of two constants always the same one counts as the factor.
                let (least, most) = (x.min(y), x.max(y));
                let factors = [(least, most), (most, least)];
                let (number, times) = factors.iter().find_map(|(a, b)| Some((*a, *self.small.get(b)?)))?;
                let (of, factor) = multiple(number);
                (of, factor * times)
            }
        };
        (2..MULTIPLE_END).contains(&factor).then_some(Meaning::Multiple(of, factor))
    }

    /// The sum or difference of two numbers as one of a few products, if it is that.
    fn as_products(&self, operation: FieldOp, x: Number, y: Number) -> Option<Meaning> {
        let (x, y) = (self.products.get(&x)?, self.products.get(&y)?);
        if operation == FieldOp::Mul || x.len() + y.len() > SUM_PRODUCTS_MAX {
            return None;
        }
        let is_difference = operation == FieldOp::Sub;
        let subtracted = y.iter().map(|&(product, is_subtracted)| (product, is_subtracted ^ is_difference));
        Some(Meaning::Products(in_order(x.iter().copied().chain(subtracted))))
    }

    /// Number of `factor` times a number, at least once; `None` if that is no small multiple.
    fn times(&mut self, number: Number, factor: u64) -> Option<Number> {
        let (of, times) = self.multiples.get(&number).copied().unwrap_or((number, 1));
        match factor {
            0 => None,
            1 => Some(number),
            _ if factor * times < MULTIPLE_END => Some(self.number(Meaning::Multiple(of, factor * times))),
            _ => None,
        }
    }

    /// The number of a sum of products, each with whether it is subtracted.
    fn sum(&mut self, products: &[(bool, [Number; 2])]) -> Option<Number> {
        let mut terms = Vec::new();
        for &(is_subtracted, [x, y]) in products {
            let product = self.number(Meaning::Operation(FieldOp::Mul, x, y));
            self.products.get(&product).filter(|terms| terms.len() == 1)?;
            terms.push((product, is_subtracted));
        }
        // Equal products that are added are a multiple in the source.
        if let [(x, false), (y, false)] = terms[..]
            && let Some(multiple) = self.as_multiple(FieldOp::Add, x, y)
        {
            return Some(self.number(multiple));
        }
        Some(self.number(Meaning::Products(in_order(terms))))
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
                of[value.0 as usize] = self.number(Meaning::Operation(op.kind, x, y));
            }
        });
        of
    }
}

fn in_order(terms: impl IntoIterator<Item = Term>) -> Vec<Term> {
    let mut terms: Vec<Term> = terms.into_iter().collect();
    terms.sort_unstable();
    terms
}

/// All that the checker compares.
pub struct Evidence<'a> {
    /// The program as it was given.
    pub source: &'a Program,
    /// The program as it was lowered.
    pub lowered: &'a Program,
    /// Claimed slots of its values.
    pub allocation: &'a Allocation,
    /// Claimed positions of its blocks.
    pub blocks: &'a [LoweredBlock],
    /// Claimed positions of code that moves the state of sequences on the stack.
    pub ways: &'a [HeldWay],
    /// The bytes.
    pub code: &'a Code,
    /// The slots of the constants of the pool.
    pub constant_slots: &'a [Slot],
    /// Tells slots from memory offsets.
    pub target: &'a dyn Target,
}

/// A block whose bytes have been read back and compared with the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedBlock {
    /// Index of its function in its program.
    pub function: usize,
    /// The first value that it defines.
    pub first: Value,
    /// Its bytes.
    pub bytes: Range<usize>,
    /// Operations of the program in it.
    pub operations: usize,
    /// Values that are read after it, all of which were compared.
    pub results: usize,
    /// Operations of stack code, with the offset after the instruction that computes or stores the first one's result, ascending; those
    /// after the first have no instruction of their own, and this is the first that reads them.
    pub made: Vec<(usize, Vec<Value>)>,
}

/// Checks every block; an error names the function and the value.
pub fn check(evidence: &Evidence<'_>) -> Result<Vec<CheckedBlock>, CompileError> {
    let words = evidence.target.words().map(|words| (Judge::Words(words), Elements::new(words.field().clone())));
    let wide = evidence.target.wide().map(|wide| (Judge::Wide(wide), Elements::bare(wide.modulus())));
    let targets = wide.as_ref().map(|_| targets(&evidence.code.bytes)).unwrap_or_default();
    let mut elements = words.or(wide);
    let mut numbering = Numbering::new(&evidence.lowered.constants);
    let mut checked = Vec::new();
    for (number, function) in evidence.lowered.functions.iter().enumerate() {
        let source = match &mut elements {
            Some((_, elements)) => {
                Source::Words(elements.of_function(&evidence.source.functions[number], &evidence.source.constants))
            }
            None => Source::Slots(numbering.source(&evidence.source.functions[number])),
        };
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
            let made = match (&source, &mut elements) {
                (Source::Words(source), Some((words, elements))) => {
                    let made = check_words((*words, elements), (source, evidence, &targets), (block, part), placement);
                    made.map(|made| made::operations(made, elements, (source, &evidence.lowered.constants), block))
                }
                (Source::Slots(source), _) => {
                    check_block(evidence, &mut numbering, source, block, placement, part).map(|()| Vec::new())
                }
                (Source::Words(_), None) => unreachable!("sources are made of elements where there are some"),
            };
            checked.push(CheckedBlock {
                function: number,
                first: part.first,
                made: made.map_err(fail)?,
                bytes: item_span(evidence.code, &part.items).map_err(fail)?,
                operations: block.ops.len(),
                results: placement.live_out[&part.first].ones().count(),
            });
            lowered.insert(part.first);
        }
        if let (Source::Words(source), Some((Judge::Words(words), elements))) = (&source, &mut elements) {
            held::check((*words, elements), (source, evidence), (number, function)).map_err(fail)?;
        }
        if let Some(missing) = reachable(function).difference(&lowered).next() {
            return Err(fail(format!("the block of v{} was not lowered", missing.0)));
        }
    }
    Ok(checked)
}

/// Value numbers of a function.
enum Source {
    /// Numbers of [`Numbering`].
    Slots(Vec<Number>),
    /// Elements of [`Elements`].
    Words(Vec<Element>),
}

/// The readers of blocks that are stack and memory code.
#[derive(Clone, Copy)]
enum Judge<'a> {
    /// Values are words.
    Words(&'a Words),
    /// Values are several words.
    Wide(&'a Wide),
}

/// The same as [`check_block`] where blocks are stack and memory code.
fn check_words(
    (judge, elements): (Judge<'_>, &mut Elements),
    (source, evidence, targets): (&[Element], &Evidence<'_>, &BTreeSet<usize>),
    (block, part): (&Block, &LoweredBlock),
    placement: &Placement,
) -> Result<Made, String> {
    let none = HeldEnds::default();
    let held = part.held.as_ref().unwrap_or(&none);
    let on_stack = |state: &[Operand], value: Value| state.contains(&Operand::Value(value));
    let element = |value: Value| (placement.slot(value), source[value.0 as usize]);
    let after = &placement.live_out[&block.ops[0].0];
    let needed: Vec<Value> = after.ones().map(|value| Value(u32::try_from(value).expect("values are u32"))).collect();
    let defined: BTreeSet<Value> = block.ops.iter().map(|&(value, _)| value).collect();
    let through = needed.iter().copied().filter(|value| !defined.contains(value));
    let in_memory = through.chain(block.inputs()).filter(|&value| !on_stack(&held.before, value));
    let before = in_slots(source, placement, in_memory)?;
    let own = defined.iter().map(|&value| placement.slot(value)).collect();
    let in_memory = needed.iter().filter(|&&value| !on_stack(&held.after, value));
    let after: Vec<(Slot, Element)> = in_memory.map(|&value| element(value)).collect();
    let constants = &evidence.lowered.constants;
    let block = item_span(evidence.code, &part.items)?;
    let code = &evidence.code.bytes;
    match judge {
        Judge::Words(words) => {
            let ends = held::read(elements, (source, constants), held);
            let made = words.judge(elements, &before, &own, &after, ends, &code[block.clone()])?;
            Ok(made.into_iter().map(|(end, element)| (block.start + end, element)).collect())
        }
        Judge::Wide(_) if part.held.is_some() => Err("a state on the stack is of single words only".to_owned()),
        Judge::Wide(wide) => wide.judge(elements, &before, &own, &after, &Text { code, targets, block }),
    }
}

/// First values of the blocks of `function` that lowering must have reached: those before anything that ends the program.
fn reachable(function: &Function) -> BTreeSet<Value> {
    let mut firsts = BTreeSet::new();
    reach(function, &function.body, &mut firsts);
    firsts
}

/// Adds the first values of the blocks that control reaches; whether it reaches the region's end.
fn reach(function: &Function, region: &Region, firsts: &mut BTreeSet<Value>) -> bool {
    for statement in &region.statements {
        match statement {
            Statement::Block(block) => firsts.extend(block.ops.first().map(|&(first, _)| first)),
            Statement::Control(control) if has_no_turn(function, control) => {}
            Statement::Control(control) => {
                let mut goes_on = false;
                for arm in &control.arms {
                    goes_on |= reach(function, &arm.body, firsts);
                }
                if !goes_on && matches!(control.kind, ControlKind::Branch { .. }) {
                    return false;
                }
            }
            Statement::Effect(effect) if effect.ends() => return false,
            Statement::Effect(_) | Statement::Call { .. } => {}
        }
    }
    true
}

/// True if control is a loop with the constant count 0.
fn has_no_turn(function: &Function, control: &Control) -> bool {
    let ControlKind::Repeat { count, .. } = control.kind else { return false };
    matches!(&function.words[count.0 as usize], WordDef::Constant(count) if count.is_zero())
}

fn check_block(
    evidence: &Evidence<'_>,
    numbering: &mut Numbering<'_>,
    source: &[Number],
    block: &Block,
    placement: &Placement,
    part: &LoweredBlock,
) -> Result<(), String> {
    let number_of = |value: Value| source[value.0 as usize];
    let after = &placement.live_out[&part.first];
    let defined: BTreeSet<Value> = block.ops.iter().map(|&(value, _)| value).collect();
    let needed: Vec<Value> = after.ones().map(|value| Value(u32::try_from(value).expect("values are u32"))).collect();

    let mut slots: HashMap<Slot, Number> = HashMap::new();
    let through = needed.iter().copied().filter(|value| !defined.contains(value));
    for value in through.chain(block.inputs()) {
        let number = number_of(value);
        if slots.insert(placement.slot(value), number).is_some_and(|other| other != number) {
            return Err(format!("v{} shares its slot with another value before the block", value.0));
        }
    }
    for (id, &slot) in evidence.constant_slots.iter().enumerate() {
        let id = u32::try_from(id).expect("the number of constants was checked");
        slots.insert(slot, numbering.number(Meaning::Constant(id)));
    }

    // Other slots may hold what a caller, or a part of the function that this block knows nothing of, still needs.
    let own: BTreeSet<Slot> = defined.iter().map(|&value| placement.slot(value)).collect();
    let mut rest = item_bytes(evidence.code, &part.items)?;
    while !rest.is_empty() {
        if let Some((fused, length)) = evidence.target.fused().and_then(|target| target.read_fused(rest)) {
            match &fused {
                FusedOps::Sum(sum) => execute_sum(numbering, &own, &mut slots, sum)?,
                FusedOps::Fp2(products) => execute_fp2(numbering, &own, &mut slots, products)?,
                FusedOps::Fp6(product) => execute_fp6(numbering, &own, &mut slots, product)?,
            }
            rest = &rest[length..];
            continue;
        }
        let (lanes, length) = evidence.target.read(rest).ok_or("the bytes are no operation on slots")?;
        execute(numbering, &own, &mut slots, &lanes)?;
        rest = &rest[length..];
    }
    for value in needed {
        if slots.get(&placement.slot(value)) != Some(&number_of(value)) {
            return Err(format!("slot {} does not hold v{} after the block", placement.slot(value), value.0));
        }
    }
    Ok(())
}

/// The elements of these values by their slots, where all stand in memory.
fn in_slots(
    source: &[Element],
    placement: &Placement,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<(Slot, Element)>, String> {
    let mut elements: BTreeMap<Slot, Element> = BTreeMap::new();
    for value in values {
        let element = source[value.0 as usize]; // u32 to usize widens
        if elements.insert(placement.slot(value), element).is_some_and(|other| other != element) {
            return Err(format!("v{} shares its slot with another value before the block", value.0));
        }
    }
    Ok(elements.into_iter().collect())
}

/// The bytes of items that are neighbours.
fn item_bytes<'a>(code: &'a Code, items: &Range<usize>) -> Result<&'a [u8], String> {
    Ok(&code.bytes[item_span(code, items)?])
}

/// Byte range of items that are neighbours.
fn item_span(code: &Code, items: &Range<usize>) -> Result<Range<usize>, String> {
    if items.is_empty() {
        return Ok(0..0);
    }
    let range = |item| code.item_range(item).ok_or_else(|| format!("item {item} has no bytes"));
    Ok(range(items.start)?.start..range(items.end - 1)?.end)
}

/// All lanes are read before any is written. Reads defined slots only and writes the slots `own` only.
fn execute(
    numbering: &mut Numbering<'_>,
    own: &BTreeSet<Slot>,
    slots: &mut HashMap<Slot, Number>,
    lanes: &[SlotOp],
) -> Result<(), String> {
    let mut results = Vec::new();
    for lane in lanes {
        let read =
            |slot| slots.get(&slot).copied().ok_or_else(|| format!("slot {slot} is read and holds no known value"));
        let (x, y) = (read(lane.x)?, read(lane.y)?);
        if !own.contains(&lane.out) {
            return Err(format!("slot {} is written and belongs to no value of the block", lane.out));
        }
        results.push((lane.out, numbering.number(Meaning::Operation(lane.operation, x, y))));
    }
    slots.extend(results);
    Ok(())
}

/// All products are read before the sum is written; as [`execute`] otherwise.
fn execute_sum(
    numbering: &mut Numbering<'_>,
    own: &BTreeSet<Slot>,
    slots: &mut HashMap<Slot, Number>,
    sum: &SlotSum,
) -> Result<(), String> {
    let number = number_of_sum(numbering, own, slots, sum)?;
    slots.insert(sum.out, number);
    Ok(())
}

/// Value number of a sum of products, which may be written to its slot. Fails if the slot belongs to no value of the
/// block.
fn number_of_sum(
    numbering: &mut Numbering<'_>,
    own: &BTreeSet<Slot>,
    slots: &HashMap<Slot, Number>,
    sum: &SlotSum,
) -> Result<Number, String> {
    if !own.contains(&sum.out) {
        return Err(format!("slot {} is written and belongs to no value of the block", sum.out));
    }
    let mut products = Vec::new();
    for &(is_subtracted, [x, y]) in &sum.products {
        let read =
            |slot| slots.get(&slot).copied().ok_or_else(|| format!("slot {slot} is read and holds no known value"));
        products.push((is_subtracted, [read(x)?, read(y)?]));
    }
    Ok(numbering.sum(&products).ok_or("a sum has a term that is a multiple and no product")?)
}

/// All lanes are read before any is written: each product is two sums, x₀·y₀ − x₁·y₁ and x₀·y₁ + x₁·y₀.
fn execute_fp2(
    numbering: &mut Numbering<'_>,
    own: &BTreeSet<Slot>,
    slots: &mut HashMap<Slot, Number>,
    products: &[SlotFp2],
) -> Result<(), String> {
    let mut results = Vec::new();
    for &SlotFp2 { out, x: [x0, x1], y: [y0, y1] } in products {
        let sums = [[(false, [x0, y0]), (true, [x1, y1])], [(false, [x0, y1]), (false, [x1, y0])]];
        for (out, products) in out.into_iter().zip(sums) {
            let sum = SlotSum { out, products: products.to_vec() };
            results.push((out, number_of_sum(numbering, own, slots, &sum)?));
        }
    }
    slots.extend(results);
    Ok(())
}

/// All operands are read before a result is written: six sums of six products, those that go round times v³ = a + b·u.
fn execute_fp6(
    numbering: &mut Numbering<'_>,
    own: &BTreeSet<Slot>,
    slots: &mut HashMap<Slot, Number>,
    product: &SlotFp6,
) -> Result<(), String> {
    let read =
        |slot: Slot| slots.get(&slot).copied().ok_or_else(|| format!("slot {slot} is read and holds no known value"));
    let element = |slots: [Slot; 6]| -> Result<Vec<[Number; 2]>, String> {
        slots.chunks_exact(2).map(|pair| Ok([read(pair[0])?, read(pair[1])?])).collect()
    };
    let (x, y) = (element(product.x)?, element(product.y)?);
    let round = [times_nonresidue(numbering, y[1], product.xi)?, times_nonresidue(numbering, y[2], product.xi)?];
    let mut results = Vec::new();
    for (k, out) in product.out.chunks_exact(2).enumerate() {
        let (mut real, mut imaginary) = (Vec::new(), Vec::new());
        for (i, &[x0, x1]) in x.iter().enumerate() {
            // xᵢ·yⱼ with i + j = k, or k + 3.
            let [y0, y1] = if i <= k { y[k - i] } else { round[k + 2 - i] };
            real.extend([(false, [x0, y0]), (true, [x1, y1])]);
            imaginary.extend([(false, [x0, y1]), (false, [x1, y0])]);
        }
        for (&out, products) in out.iter().zip([real, imaginary]) {
            if !own.contains(&out) {
                return Err(format!("slot {out} is written and belongs to no value of the block"));
            }
            results.push((out, numbering.sum(&products).ok_or("a sum has a term that is a multiple and no product")?));
        }
    }
    slots.extend(results);
    Ok(())
}

/// (re + im·u)(a + b·u) = a·re − b·im + (a·im + b·re)·u.
fn times_nonresidue(
    numbering: &mut Numbering<'_>,
    [re, im]: [Number; 2],
    [a, b]: [u8; 2],
) -> Result<[Number; 2], String> {
    let mut times = |number, factor: u8| numbering.times(number, factor.into()).ok_or("a multiple is no small one");
    if b == 0 {
        return Ok([times(re, a)?, times(im, a)?]);
    }
    let (a_re, b_im, a_im, b_re) = (times(re, a)?, times(im, b)?, times(im, a)?, times(re, b)?);
    let re = numbering.number(Meaning::Operation(FieldOp::Sub, a_re, b_im));
    Ok([re, numbering.number(Meaning::Operation(FieldOp::Add, a_im, b_re))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carry_out::carry_out;
    use crate::lower::{HeldWay, HeldWord, Way};
    use crate::pipeline::Interface;
    use crate::target::words::Rules;
    use crate::{Built, Dialect, Prepared, SmallMultiples, Specialised, build};
    use residue_ir::text;
    use residue_isa::{GasSchedule, Revision};

    /// Blocks before, in and after a loop and in a called function; no operation is superfluous.
    const TEXT: &str = r#"
program "judged" modulus 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab
constant c0 = 0x5
function f0 "f" (v0 v1) -> (v3) values 4 {
  block { v2 = mul v0 v1 v3 = sub v2 v0 }
}
function f1 "start" () -> () values 20 {
  word w0 = 0x0
  word w1 = 0x8
  word w2 = 0x4
  word w3 = defined
  parse w0 bytes 7 -> v0
  parse w1 bytes 7 -> v1
  block {
    v2 = add v0 v1 v3 = mul v0 v1 v4 = sub v0 v1 v5 = sub v1 v0 v6 = mul v2 c0
  }
  call f0 (v2 v3) -> (v7)
  repeat w2 index w3 (v8 v9) = (v7 v4) {
    block { v10 = mul v8 v9 v11 = sub v10 v5 }
    give (v9 v11)
  } -> (v12 v13)
  block { v14 = sub v12 v13 v15 = mul v12 v14 v16 = add v15 v6 v17 = add v16 v5 v18 = sub v17 v16 v19 = mul v18 v4 }
  return_elements (v19 v17) bytes 48
}
"#;

    fn built(program: &Program, revision: Revision) -> Built {
        let schedule = GasSchedule::default_for(revision).unwrap();
        build(&as_written(program, revision), &schedule, &Rules::default()).unwrap()
    }

    /// A program that is made no other for a revision.
    fn as_written(program: &Program, revision: Revision) -> Specialised<'_> {
        let Prepared { stage, fusions, plans } = Prepared::new(program, SmallMultiples::AsWritten).unwrap();
        let interface = Interface::new(revision, Dialect::default());
        Specialised { stage, interface, is_as_written: true, fusions, plans }
    }

    fn check(evidence: &Evidence<'_>) -> Result<(), CompileError> {
        super::check(evidence).map(drop)
    }

    fn evidence<'a>(built: &'a Built, source: &'a Program) -> Evidence<'a> {
        built.evidence(source).next().unwrap()
    }

    /// The revisions that have the program's modulus.
    fn revisions(program: &Program) -> Vec<Revision> {
        let schedule = |revision| GasSchedule::default_for(revision).unwrap();
        let has = |revision: &Revision| {
            let built = build(&as_written(program, *revision), &schedule(*revision), &Rules::default());
            !matches!(built, Err(CompileError::OnlyWidth { .. }))
        };
        Revision::ALL.iter().copied().filter(has).collect()
    }

    /// The operations that `bytes` perform one after the other, if they are field instructions on slots.
    fn lanes(built: &Built, mut bytes: &[u8]) -> Option<Vec<Vec<SlotOp>>> {
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let (lanes, length) = built.units[0].target.read(bytes)?;
            all.push(lanes);
            bytes = &bytes[length..];
        }
        Some(all)
    }

    /// Slots after `lanes`, from pseudo-random values: distinct maps differ with high probability, modulo a 32-bit
    /// prime.
    fn run(lanes: &[Vec<SlotOp>]) -> Vec<u64> {
        const M: u64 = 4_294_967_291;
        let mut slots: Vec<u64> =
            (1..600u64).map(|slot| slot.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) % M).collect();
        for lanes in lanes {
            let of = |lane: &SlotOp| {
                let (x, y) = (slots[lane.x as usize], slots[lane.y as usize]);
                match lane.operation {
                    FieldOp::Add => (x + y) % M,
                    FieldOp::Sub => (x + M - y) % M,
                    FieldOp::Mul => x * y % M,
                }
            };
            let results: Vec<(Slot, u64)> = lanes.iter().map(|lane| (lane.out, of(lane))).collect();
            for (out, result) in results {
                slots[out as usize] = result;
            }
        }
        slots
    }

    /// Turns every bit of every block. Each turn that changes a slot with a later reader, or a slot outside the block,
    /// must be found.
    #[test]
    fn every_turned_bit_of_a_block_that_matters_is_found() {
        let program = text::parse(TEXT).unwrap();
        for revision in revisions(&program) {
            let built = built(&program, revision);
            assert_eq!(check(&evidence(&built, &program)), Ok(()));
            let mut found = 0;
            for part in built.units[0].blocks.clone() {
                let start = built.listing.code.item_range(part.items.start).unwrap().start;
                let range = start..built.listing.code.item_range(part.items.end - 1).unwrap().end;
                let right = lanes(&built, &built.listing.code.bytes[range.clone()]).unwrap();
                let placement = &built.units[0].allocation.functions[part.function];
                let after = placement.live_out[&part.first].ones();
                let needed: BTreeSet<usize> = after.map(|value| placement.slot_of[value] as usize).collect();
                let own: BTreeSet<usize> = right.iter().flatten().map(|lane| lane.out as usize).collect();
                let same = |changed: &[Vec<SlotOp>]| {
                    let in_range =
                        |lane: &SlotOp| [lane.out, lane.x, lane.y].iter().all(|&slot| slot < built.units[0].slots);
                    let differs = |(slot, (a, b)): (usize, (u64, u64))| {
                        a != b && (needed.contains(&slot) || !own.contains(&slot))
                    };
                    changed.iter().flatten().all(in_range)
                        && !run(&right).into_iter().zip(run(changed)).enumerate().any(differs)
                };
                let mut bytes = built.listing.code.bytes.clone();
                for (at, bit) in range.clone().flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                    bytes[at] ^= 1 << bit;
                    let changed = lanes(&built, &bytes[range.clone()]);
                    let code = Code { bytes: bytes.clone(), ..built.listing.code.clone() };
                    let verdict = check(&Evidence { code: &code, ..evidence(&built, &program) });
                    if changed.as_ref() == Some(&right) {
                        // The stride of a single lane, for one, says nothing.
                        assert_eq!(verdict, Ok(()));
                    } else if !changed.is_some_and(|changed| same(&changed)) {
                        let function = &program.functions[part.function].name;
                        let is_judged =
                            matches!(&verdict, Err(CompileError::Judged { function: named, .. }) if named == function);
                        assert!(is_judged, "{revision}: bit {bit} of byte {at}: {verdict:?}");
                        found += 1;
                    }
                    bytes[at] ^= 1 << bit;
                }
            }
            assert!(found > 200, "{revision}: {found}");
        }
    }

    #[test]
    fn a_block_that_is_missing_is_found() {
        let program = text::parse(TEXT).unwrap();
        for revision in revisions(&program) {
            for missing in 0..4 {
                let mut built = built(&program, revision);
                built.units[0].blocks.remove(missing);
                let verdict = check(&evidence(&built, &program)).unwrap_err().to_string();
                assert!(verdict.contains("was not lowered"), "{revision}: {verdict}");
            }
        }
    }

    #[test]
    fn another_source_is_found() {
        let program = text::parse(TEXT).unwrap();
        for (from, to) in [
            ("v3 = sub v2 v0", "v3 = sub v0 v2"),
            ("v6 = mul v2 c0", "v6 = add v2 c0"),
            ("v11 = sub v10 v5", "v11 = sub v10 v4"),
            ("v19 = mul v18 v4", "v19 = mul v18 v18"),
        ] {
            let other = text::parse(&TEXT.replace(from, to)).unwrap();
            assert_ne!(other, program);
            for revision in revisions(&program) {
                let built = built(&program, revision);
                assert!(
                    matches!(check(&evidence(&built, &other)), Err(CompileError::Judged { .. })),
                    "{revision}: {to}"
                );
            }
        }
        // The order of the operands of a product means nothing.
        let same = text::parse(&TEXT.replace("v19 = mul v18 v4", "v19 = mul v4 v18")).unwrap();
        for revision in revisions(&program) {
            assert_eq!(check(&evidence(&built(&program, revision), &same)), Ok(()));
        }
    }

    /// [`TEXT`] over the base field of BN254, where sums need no reduction for a while.
    fn text_of_words() -> String {
        TEXT.replace(
            "0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
            "0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47",
        )
        .replace("bytes 48", "bytes 32")
    }

    /// Memory after a block's bytes; `None` if they change the stack or read an address without a value.
    fn run_words(code: &[u8], memory: BTreeMap<BigUint, BigUint>) -> Option<BTreeMap<BigUint, BigUint>> {
        let (memory, stack) = carry_out(code, memory, Vec::new())?;
        stack.is_empty().then_some(memory)
    }

    /// The same for blocks that are stack and memory code: each turn that changes the execution must be found.
    #[test]
    fn every_turned_bit_of_a_block_of_words_that_matters_is_found() {
        let program = text::parse(&text_of_words()).unwrap();
        let built = built(&program, Revision::Evm);
        assert_eq!(check(&evidence(&built, &program)), Ok(()));
        let mut found = 0;
        for part in built.units[0].blocks.clone() {
            let start = built.listing.code.item_range(part.items.start).unwrap().start;
            let range = start..built.listing.code.item_range(part.items.end - 1).unwrap().end;
            let memories = [3u32, 5].map(|seed| {
                let word = |place: u32| (BigUint::from(seed + place).pow(97) >> 3u32) % program.modulus.most();
                (0..64u32).map(|place| (BigUint::from(32 * place), word(place))).collect::<BTreeMap<_, _>>()
            });
            let run = |code: &[u8]| memories.clone().map(|memory| run_words(code, memory));
            let right = run(&built.listing.code.bytes[range.clone()]);
            assert!(right.iter().all(Option::is_some));
            let mut bytes = built.listing.code.bytes.clone();
            for (at, bit) in range.clone().flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                bytes[at] ^= 1 << bit;
                if run(&bytes[range.clone()]) != right {
                    let code = Code { bytes: bytes.clone(), ..built.listing.code.clone() };
                    let verdict = check(&Evidence { code: &code, ..evidence(&built, &program) });
                    assert!(matches!(verdict, Err(CompileError::Judged { .. })), "bit {bit} of byte {at}: {verdict:?}");
                    found += 1;
                }
                bytes[at] ^= 1 << bit;
            }
        }
        assert!(found > 1000, "{found}");
    }

    /// A sequence of doublings and additions on y² = x³ + b, and of copies, whose state stays on the stack.
    fn sequence_of_words() -> Program {
        let text = "program \"sequence\" modulus 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47\n\
            function f0 \"start\" () -> () values 38 { word w0 = 0x0 word w1 = 0x20 word w2 = 0x40 word w3 = 0x60 \
            parse w0 bytes 32 -> v0 parse w1 bytes 32 -> v1 parse w2 bytes 32 -> v2 parse w3 bytes 32 -> v3 \
            sequence (0 1 2 0 0 2 1) (v0 v1 v2) { \
            part (v4 v5 v6) { block { v7 = mul v4 v4 v8 = add v7 v7 v9 = add v8 v7 v10 = mul v5 v5 v11 = mul v4 v10 v12 = mul v9 v9 \
            v13 = add v11 v11 v14 = sub v12 v13 v15 = sub v11 v14 v16 = mul v9 v15 v17 = mul v10 v10 v18 = sub v16 v17 v19 = mul v6 v5 } give (v14 v18 v19) } \
            part (v20 v21 v22) { block { v23 = mul v22 v22 v24 = mul v3 v23 v25 = sub v24 v20 v26 = mul v25 v25 v27 = mul v25 v26 \
            v28 = sub v21 v3 v29 = mul v28 v28 v30 = sub v29 v27 v31 = mul v22 v25 } give (v30 v28 v31) } \
            part (v35 v36 v37) { give (v36 v3 v35) } \
            } -> (v32 v33 v34) return_elements (v32 v33 v34) bytes 32 }\n";
        text::parse(text).unwrap()
    }

    #[test]
    fn every_turned_bit_of_a_part_whose_state_is_on_the_stack_is_found() {
        let program = sequence_of_words();
        let built = built(&program, Revision::Evm);
        assert_eq!(check(&evidence(&built, &program)), Ok(()));
        let unit = &built.units[0];
        let mut found = 0;
        let of_blocks = unit.blocks.iter().filter_map(|part| Some((&part.items, part.held.as_ref()?)));
        let pieces: Vec<_> = of_blocks.chain(unit.ways.iter().map(|way| (&way.items, &way.ends))).collect();
        assert_eq!(pieces.len(), 5, "two blocks, the copies, the way in and the way out");
        for (items, ends) in pieces {
            let start = built.listing.code.item_range(items.start).unwrap().start;
            let range = start..built.listing.code.item_range(items.end - 1).unwrap().end;
            let word = |place: u32| (BigUint::from(5 + place).pow(97) >> 3u32) % program.modulus.most();
            let memory: BTreeMap<BigUint, BigUint> = (0..64u32).map(|at| (BigUint::from(32 * at), word(at))).collect();
            let stack: Vec<BigUint> = (0..ends.entry.len()).map(|at| word(100 + at as u32)).collect();
            let run = |code: &[u8]| carry_out(code, memory.clone(), stack.clone());
            let right = run(&built.listing.code.bytes[range.clone()]);
            assert!(right.is_some());
            let mut bytes = built.listing.code.bytes.clone();
            for (at, bit) in range.clone().flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                bytes[at] ^= 1 << bit;
                if run(&bytes[range.clone()]) != right {
                    let code = Code { bytes: bytes.clone(), ..built.listing.code.clone() };
                    let verdict = check(&Evidence { code: &code, ..evidence(&built, &program) });
                    assert!(matches!(verdict, Err(CompileError::Judged { .. })), "bit {bit} of byte {at}: {verdict:?}");
                    found += 1;
                }
                bytes[at] ^= 1 << bit;
            }
        }
        assert!(found > 1000, "{found}");
    }

    /// Parts of a sequence that do not agree in how they hold the state are found.
    #[test]
    fn ends_that_do_not_fit_are_found() {
        let program = sequence_of_words();
        let turned = |change: &dyn Fn(&mut HeldEnds)| {
            let mut built = built(&program, Revision::Evm);
            let part = built.units[0].blocks.iter_mut().find_map(|block| block.held.as_mut()).unwrap();
            change(part);
            check(&evidence(&built, &program))
        };
        assert_eq!(turned(&|_| ()), Ok(()));
        let changes: [&dyn Fn(&mut HeldEnds); 3] =
            [&|ends| ends.entry.swap(1, 2), &|ends| ends.exit.swap(0, 1), &|ends| {
                let Some(HeldWord::Value(_, form)) =
                    ends.entry.iter_mut().find(|word| matches!(word, HeldWord::Value(..)))
                else {
                    panic!("values lie on the stack");
                };
                form.is_negative ^= true;
            }];
        for change in changes {
            assert!(matches!(turned(change), Err(CompileError::Judged { .. })));
        }
        type Change<'a> = &'a dyn Fn(&mut Vec<HeldWay>);
        let changes: [Change<'_>; 4] = [
            &|ways| _ = ways.pop(),
            &|ways| ways[0].way = Way::Through(Value(4)),
            &|ways| ways.iter_mut().for_each(|way| way.ends.entry.reverse()),
            &|ways| ways.iter_mut().for_each(|way| way.ends.after.reverse()),
        ];
        for change in changes {
            let mut built = built(&program, Revision::Evm);
            change(&mut built.units[0].ways);
            assert!(matches!(check(&evidence(&built, &program)), Err(CompileError::Judged { .. })));
        }
    }

    /// A row that a part takes may stand in the slot of a value of the state that the part does not read.
    #[test]
    fn a_row_in_the_slot_of_a_value_that_is_not_read_is_that_row() {
        for (values, part) in [(13, "give (v2 v4)"), (14, "block { v13 = mul v4 v2 } give (v2 v13)")] {
            let text = format!(
                "program \"row\" modulus 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47 \
                 table t0 \"row\" values 1 {{ (0x1234) }} \
                 function f0 \"start\" () -> () values {values} {{ word w0 = 0x0 word w1 = 0x1 \
                 parse w0 bytes 1 -> v0 parse w1 bytes 1 -> v1 \
                 sequence (1 1 1 1 1 1 1 1 row 0 0) (v0 v1) {{ \
                 part (v2 v3) {{ take_row t0 -> (v4) {part} }} \
                 part (v5 v6) {{ block {{ v7 = mul v5 v6 v8 = mul v7 v5 v9 = mul v8 v7 v10 = mul v9 v8 }} give (v9 v10) }} \
                 }} -> (v11 v12) return_elements (v11 v12) bytes 32 }}"
            );
            let program = text::parse(&text).unwrap();
            let built = built(&program, Revision::Evm);
            assert_eq!(check(&evidence(&built, &program)), Ok(()), "{part}");
            // Held there the row would be another word than the checker wants.
            assert!(built.units[0].blocks.iter().all(|block| block.held.is_none()), "{part}");
        }
    }

    /// The form of a state depends on the modulus: four times a short one fits a word, twice a long one does not.
    #[test]
    fn what_was_found_for_one_modulus_is_not_taken_for_another() {
        let sequence = "constant c0 = 0x1 function f0 \"start\" () -> () values 24 { word w0 = defined word w1 = defined \
            get x0 -> w0 element_of (w0) -> v0 block { v1 = add v0 c0 v2 = mul v0 v0 v3 = add v2 v1 } \
            sequence (0 1 0 1 0 0 1 0) (v1 v2 v3) { \
            part (v4 v5 v6) { block { v7 = sub v4 v5 v8 = mul v7 v6 v9 = sub v8 v5 v10 = mul v9 v9 v11 = sub v10 v7 \
            v12 = mul v11 v4 } give (v9 v11 v12) } \
            part (v13 v14 v15) { block { v16 = mul v13 v14 v17 = sub v16 v15 v18 = mul v17 v13 v19 = sub v18 v16 \
            v20 = mul v19 v17 } give (v17 v19 v20) } \
            } -> (v21 v22 v23) word_of v21 from 0 -> w1 set x0 w1 }";
        let moduli = [
            "0x3fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff81",
            "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff43",
            "given limbs 4",
        ];
        let subprograms = moduli
            .iter()
            .enumerate()
            .map(|(number, modulus)| format!("subprogram p{number} \"{number}\" modulus {modulus} {{ {sequence} }}"));
        let text = format!(
            "program \"moduli\" modulus 0x61 variable x0 \"x\" {} function f0 \"start\" () -> () values 0 {{ \
             word w0 = 0x2 word w1 = 0x65 word w2 = defined set x0 w0 enter p0 () enter p1 () enter p2 (w1) \
             get x0 -> w2 return_word w2 }}",
            subprograms.collect::<Vec<_>>().join(" ")
        );
        let program = text::parse(&text).unwrap();
        let built = built(&program, Revision::Evm);
        let verdicts = built.evidence(&program).map(|evidence| check(&evidence));
        assert!(verdicts.into_iter().all(|verdict| verdict == Ok(())));
        let holds = |unit: &crate::Unit| !unit.ways.is_empty();
        assert_eq!(built.units.iter().map(holds).collect::<Vec<_>>(), [false, true, true, false]);
    }

    /// Memoised plans, signs and forms change no code: in a row of sequences, each over several moduli, every one has
    /// the code that it has alone. Some differ only in the frequency of a part, in the order of the state, or in the
    /// words around it.
    #[test]
    fn what_is_remembered_of_sequences_changes_nothing() {
        let moduli = [
            "0x61",
            "0x3fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff81",
            "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff43",
        ];
        let cases = moduli.iter().flat_map(|modulus| ["0x2", "0x3"].map(|constant| (modulus, constant)));
        let cases = cases.flat_map(|(modulus, constant)| ["add", "sub", "mul"].map(|kind| (modulus, constant, kind)));
        let ways = [
            ("0 1 0 1 1 0", "", ["v2 v3", "v6 v5"]),
            ("0 0 0 0 0 1", "", ["v2 v3", "v6 v5"]),
            ("1 1 1 1 1 0", "", ["v2 v3", "v6 v5"]),
            ("0 1 0 1 1 0", "", ["v3 v2", "v5 v6"]),
            ("row 0 0 1 row 1 0", "take_row t0 -> (v14) ", ["v2 v3", "v6 v5"]),
        ];
        let remembering = Rules::default();
        let (mut held, mut programs) = (0, 0);
        for ((modulus, constant, kind), (steps, take, [before, after])) in
            cases.flat_map(|case| ways.map(|way| (case, way)))
        {
            let values = if take.is_empty() { 14 } else { 15 };
            let text = format!(
                "program \"row\" modulus {modulus} constant c0 = {constant} table t0 \"row\" values 1 {{ (0x12) (0x13) }} \
                 function f0 \"start\" () -> () values {values} {{ word w0 = 0x0 \
                 parse w0 bytes 0 -> v0 parse w0 bytes 0 -> v1 sequence ({steps}) (v0 v1) {{ \
                 part ({before}) {{ {take}block {{ v4 = mul v2 v3 v5 = {kind} v4 c0 v6 = sub v5 v2 }} give ({after}) }} \
                 part (v7 v8) {{ block {{ v9 = sub v7 v8 v10 = mul v9 v9 v11 = sub v10 v8 }} give (v11 v10) }} \
                 }} -> (v12 v13) return_elements (v12 v13) bytes 32 }}"
            );
            let program = text::parse(&text).unwrap();
            let written = as_written(&program, Revision::Evm);
            let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
            let [first, again, alone] =
                [&remembering, &remembering, &Rules::default()].map(|rules| build(&written, &schedule, rules).unwrap());
            assert_eq!(first.listing.code.bytes, alone.listing.code.bytes, "{text}");
            assert_eq!(again.listing.code.bytes, alone.listing.code.bytes, "{text}");
            held += usize::from(alone.holds_state());
            programs += 1;
        }
        assert!(2 * held > programs, "{held} of {programs} hold their state on the stack");
    }

    /// The same for random parts, with one or the other frequent.
    #[test]
    fn what_is_remembered_of_sequences_is_by_how_often_parts_come() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut below = |limit: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 40) % limit
        };
        let modulus = "0x3fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff81";
        let remembering = Rules::default();
        let mut different = 0;
        for _ in 0..12 {
            // Values 0 to 3 are parsed, each part has four more and computes six.
            let mut part = |first: u64| {
                let op = |number: u64| {
                    let kind = ["mul", "add", "sub"][below(3) as usize];
                    let operands = [below(4 + number), below(4 + number)].map(|at| first + at);
                    format!("v{} = {kind} v{} v{} ", first + 4 + number, operands[0], operands[1])
                };
                let ops: String = (0..6).map(op).collect();
                let values = |from: u64| (from..from + 4).map(|at| format!("v{at} ")).collect::<String>();
                format!("part ({}) {{ block {{ {ops} }} give ({}) }} ", values(first), values(first + 6))
            };
            let parts = part(4) + &part(14);
            let codes = ["0 0 0 0 0 1", "1 1 1 1 1 0"].map(|steps| {
                let text = format!(
                    "program \"row\" modulus {modulus} function f0 \"start\" () -> () values 28 {{ word w0 = 0x0 \
                     parse w0 bytes 32 -> v0 parse w0 bytes 32 -> v1 parse w0 bytes 32 -> v2 parse w0 bytes 32 -> v3 \
                     sequence ({steps}) (v0 v1 v2 v3) {{ {parts} }} -> (v24 v25 v26 v27) \
                     return_elements (v24 v25 v26 v27) bytes 32 }}"
                );
                let program = text::parse(&text).unwrap();
                let written = as_written(&program, Revision::Evm);
                let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
                let [first, alone] =
                    [&remembering, &Rules::default()].map(|rules| build(&written, &schedule, rules).unwrap());
                assert_eq!(first.listing.code.bytes, alone.listing.code.bytes, "{text}");
                let unit = &alone.units[0];
                unit.blocks.iter().filter_map(|block| block.held.clone()).map(|ends| ends.exit).collect::<Vec<_>>()
            });
            different += usize::from(codes[0] != codes[1]);
        }
        assert!(different > 3, "{different} of 12 hold their state in another way");
    }

    /// A part may take a row and have no state.
    #[test]
    fn a_sequence_without_a_state_leaves_none_on_the_stack() {
        let text = "program \"row\" modulus 0x61 table t0 \"row\" values 1 { (0x12) } \
            function f0 \"start\" () -> () values 3 { word w0 = 0x0 parse w0 bytes 1 -> v0 \
            sequence (row 0 0) () { part () { take_row t0 -> (v1) block { v2 = mul v1 v1 } give () } } -> () \
            return_elements (v0) bytes 1 }";
        let program = text::parse(text).unwrap();
        let built = built(&program, Revision::Evm);
        assert_eq!(check(&evidence(&built, &program)), Ok(()));
        assert!(built.units[0].ways.is_empty());
    }

    #[test]
    fn another_source_of_words_is_found() {
        let program = text::parse(&text_of_words()).unwrap();
        let built = built(&program, Revision::Evm);
        for (from, to) in [
            ("v3 = sub v2 v0", "v3 = sub v0 v2"),
            ("v6 = mul v2 c0", "v6 = add v2 c0"),
            ("v11 = sub v10 v5", "v11 = sub v10 v4"),
            ("v19 = mul v18 v4", "v19 = mul v18 v18"),
        ] {
            let other = text::parse(&text_of_words().replace(from, to)).unwrap();
            assert!(matches!(check(&evidence(&built, &other)), Err(CompileError::Judged { .. })), "{to}");
        }
    }

    /// A product in Fp6 of values 0 to 5 and 6 to 11 with v³ = 1 + u, as six sums of six products.
    fn product_in_fp6() -> Program {
        let parses: String = (0..12).map(|value| format!("parse w0 bytes 7 -> v{value} ")).collect();
        // ξ times the coefficients of v and v².
        let mut ops = "v12 = sub v8 v9 v13 = add v8 v9 v14 = sub v10 v11 v15 = add v10 v11 ".to_owned();
        let (y, round) = ([[6, 7], [8, 9], [10, 11]], [[12, 13], [14, 15]]);
        let (mut next, mut results) = (16, Vec::new());
        for (k, is_real) in (0..3).flat_map(|k| [(k, true), (k, false)]) {
            let mut sum = None;
            for place in 0..6 {
                let [re, im] = if place / 2 <= k { y[k - place / 2] } else { round[k + 2 - place / 2] };
                let factor = if (place % 2 == 0) == is_real { re } else { im };
                ops += &format!("v{next} = mul v{place} v{factor} ");
                if let Some(sum) = sum {
                    let kind = if is_real && place % 2 == 1 { "sub" } else { "add" };
                    ops += &format!("v{} = {kind} v{sum} v{next} ", next + 1);
                }
                next += if sum.is_some() { 2 } else { 1 };
                sum = Some(next - 1);
            }
            results.push(format!("v{}", next - 1));
        }
        let text = format!(
            "program \"fp6\" modulus 0x10000000000000000000000000000000000000000000000000000000000000003\n\
             function f0 \"start\" () -> () values {next} {{ word w0 = 0x0 {parses} block {{ {ops} }} \
             return_elements ({}) bytes 40 }}\n",
            results.join(" ")
        );
        text::parse(&text).unwrap()
    }

    /// Blocks that were fused for other revisions and dialects change no code.
    #[test]
    fn a_program_becomes_the_same_code_whatever_it_was_compiled_for_before() {
        let program = product_in_fp6();
        let prepared = || crate::Prepared::new(&program, crate::SmallMultiples::AsWritten).unwrap();
        let remembering = prepared();
        let mut compiled = 0;
        for &revision in Revision::ALL {
            for portable in [false, true] {
                let dialect = Dialect { portable, ..Dialect::default() };
                let schedule = GasSchedule::default_for(revision).unwrap();
                let [before, alone] =
                    [&remembering, &prepared()].map(|prepared| prepared.compile(revision, &schedule, dialect));
                assert_eq!(before, alone, "{revision}, portable: {portable}");
                compiled += usize::from(alone.is_ok());
            }
        }
        assert!(compiled > 40, "{compiled}");
    }

    #[test]
    fn every_turned_bit_of_a_product_in_fp6_is_found() {
        let program = product_in_fp6();
        let built = built(&program, Revision::XFp6x);
        assert_eq!(check(&evidence(&built, &program)), Ok(()));
        let part = &built.units[0].blocks[0];
        let range = built.listing.code.item_range(part.items.start).unwrap();
        assert_eq!((part.items.len(), built.listing.code.bytes[range.start], range.len()), (1, 0xd7, 21));
        let mut bytes = built.listing.code.bytes.clone();
        for (at, bit) in range.flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            bytes[at] ^= 1 << bit;
            let code = Code { bytes: bytes.clone(), ..built.listing.code.clone() };
            let verdict = check(&Evidence { code: &code, ..evidence(&built, &program) });
            assert!(matches!(verdict, Err(CompileError::Judged { .. })), "bit {bit} of byte {at}: {verdict:?}");
            bytes[at] ^= 1 << bit;
        }
    }
}
