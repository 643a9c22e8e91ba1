//! Source map of code: the function of the program for each byte, and for bytes of blocks the named stretches of its
//! text ([`residue_ir::scope`]) too.
//!
//! The map is read back from the finished code, and for stack code is what the checker found there; nothing in the compiler has to keep it up to date.

use crate::check::CheckedBlock;
use crate::outline::Outlined;
use crate::target::{FusedInstructions, FusedKind, FusedOps};
use crate::{BlockCheck, Built, Unit};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use residue_ir::program::{Block, Op, Operand, Value};
use residue_isa::FieldOp;
use residue_isa::assembly::{Code, LabelId};
use residue_passes::Slot;
use residue_passes::SlotOp;
use residue_passes::fp2;
use residue_passes::fp6;
use residue_passes::fused::Fused;
use residue_passes::sums::{Sum, readings, sums};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// The functions of a program by the bytes that they became, in the order of the code, and the origin of their operations.
///
/// The target's prologue belongs to the start function. Bytes without a function are data and the jump target of failed
/// requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMap {
    functions: Vec<(String, Range<usize>)>,
    spans: Vec<Span>,
    paths: Vec<Vec<Arc<str>>>,
}

/// One field instruction with the pushes of its operands; in stack code, the instructions after those of the operation before it, to
/// the one that computes or stores its result. There its lanes are this operation and those that have no instruction of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// The path of each of its lanes, for [`SourceMap::path`].
    pub lanes: Vec<usize>,
    /// The paths of the stretches whose first operation is here, once for each stretch.
    pub begins: Vec<usize>,
}

impl SourceMap {
    /// Of functions with their bytes, which do not overlap, and spans in them.
    fn new(mut functions: Vec<(String, Range<usize>)>, mut spans: Vec<Span>, paths: Vec<Vec<Arc<str>>>) -> Self {
        functions.sort_by_key(|(_, range)| (range.start, range.end));
        spans.sort_by_key(|span| span.bytes.start);
        Self { functions, spans, paths }
    }

    /// Names and bytes, ascending.
    pub fn functions(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.functions.iter().map(|(name, range)| (name.as_str(), range.clone()))
    }

    /// Index in [`SourceMap::functions`] of the function that the byte at `offset` belongs to.
    pub fn function_at(&self, offset: usize) -> Option<usize> {
        let before = self.functions.partition_point(|(_, range)| range.start <= offset);
        let last = before.checked_sub(1)?;
        self.functions[last].1.contains(&offset).then_some(last)
    }

    /// Name of a function, and the offset where it is entered. None beyond the last.
    pub fn function(&self, index: usize) -> Option<(&str, usize)> {
        self.functions.get(index).map(|(name, range)| (name.as_str(), range.start))
    }

    /// The span that the byte at `offset` belongs to.
    pub fn span_at(&self, offset: usize) -> Option<&Span> {
        let before = self.spans.partition_point(|span| span.bytes.start <= offset);
        self.spans[..before].last().filter(|span| span.bytes.contains(&offset))
    }

    /// The named stretches of a path, outermost first.
    pub fn path(&self, index: usize) -> &[Arc<str>] {
        self.paths.get(index).map_or(&[], Vec::as_slice)
    }

    /// All spans, ascending.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// All paths, each at its index; the first is that of no stretch.
    pub fn paths(&self) -> &[Vec<Arc<str>>] {
        &self.paths
    }

    /// The names of all stretches; a name may come more than once.
    pub fn stretches(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().flatten().map(|name| &**name)
    }

    /// Source of the byte at `offset`, for people: the function, and the stretches that all lanes of the instruction
    /// share, joined by `/`.
    pub fn name_at(&self, offset: usize) -> Option<String> {
        let (function, _) = self.function(self.function_at(offset)?)?;
        let mut parts = vec![function];
        if let Some(span) = self.span_at(offset)
            && let Some((&first, others)) = span.lanes.split_first()
        {
            let paths: Vec<&[Arc<str>]> = others.iter().map(|&path| self.path(path)).collect();
            let is_shared = |depth: usize, name: &str| {
                paths.iter().all(|path| path.get(depth).is_some_and(|other| **other == *name))
            };
            let shared = self.path(first).iter().enumerate().take_while(|&(depth, name)| is_shared(depth, name));
            parts.extend(shared.map(|(_, name)| &**name));
        }
        Some(parts.join("/"))
    }
}

/// The map of a program that has been built and checked, by the bytes of its outlined code if there is any. Instructions of subroutines that
/// outlining has made have no source.
pub(crate) fn source_map(built: &Built, checked: &[Vec<CheckedBlock>], outlined: Option<&Outlined>) -> SourceMap {
    let paths = HashMap::from_iter([(Vec::new(), 0)]);
    let mut reading = Reading { paths, spans: Vec::new() };
    for (unit, checked) in built.units.iter().zip(checked) {
        for (number, function) in unit.program.functions.iter().enumerate() {
            let mut blocks: BTreeMap<Value, &Block> = BTreeMap::new();
            function.body.for_each_block(&mut |block| {
                blocks.extend(block.ops.first().map(|&(first, _)| (first, block)));
            });
            let mut begun = HashSet::new();
            for part in checked.iter().filter(|part| part.function == number) {
                let Some(block) = blocks.get(&part.first) else { continue };
                if unit.target.words().is_some() || unit.target.wide().is_some() {
                    reading.stack_code((unit, number), part, &mut begun);
                } else {
                    let bytes = &built.listing.code.bytes[part.bytes.clone()];
                    reading.block((unit, number), block, part.bytes.start, bytes, &mut begun);
                }
            }
        }
    }
    let mut paths = vec![Vec::new(); reading.paths.len()];
    for (path, index) in reading.paths {
        paths[index] = path;
    }
    let code = outlined.map_or(&built.listing.code, |outlined| &outlined.listing.code);
    let spans = match outlined {
        Some(outlined) => {
            let moved = |span: Span| Some(Span { bytes: moved(&span.bytes, built, outlined)?, ..span });
            reading.spans.into_iter().filter_map(moved).collect()
        }
        None => reading.spans,
    };
    SourceMap::new(function_ranges(built, code), spans, paths)
}

/// The blocks of a program that were read back, by the bytes of its outlined code if there is any, ascending.
pub(crate) fn checks(built: &Built, checked: Vec<Vec<CheckedBlock>>, outlined: Option<&Outlined>) -> Vec<BlockCheck> {
    let of_unit = |(unit, checked): (&Unit, Vec<CheckedBlock>)| {
        let functions = &unit.program.functions;
        let of_block = |block: CheckedBlock| {
            let bytes = match outlined {
                Some(outlined) => with_calls(&block.bytes, built, outlined),
                None => block.bytes,
            };
            let CheckedBlock { function, operations, results, .. } = block;
            BlockCheck { function: functions[function].name.clone(), bytes, operations, results }
        };
        checked.into_iter().map(of_block).collect::<Vec<_>>()
    };
    let mut checks: Vec<BlockCheck> = built.units.iter().zip(checked).flat_map(of_unit).collect();
    checks.sort_by_key(|check| check.bytes.start);
    checks
}

/// The bytes of outlined code between the last item before these that is still in its place and the first one after them: what stays of
/// them, and calls of what does not.
fn with_calls(bytes: &Range<usize>, built: &Built, outlined: &Outlined) -> Range<usize> {
    let offsets = &built.listing.code.item_offsets;
    let range = |item: usize| outlined.listing.code.item_range(outlined.moved[item]?);
    let [from, to] = [bytes.start, bytes.end].map(|offset| offsets.partition_point(|&start| start < offset));
    let before = (0..from).rev().find_map(range).map_or(0, |range| range.end);
    let after = (to..outlined.moved.len()).find_map(range);
    before..after.map_or(outlined.listing.code.bytes.len(), |range| range.start)
}

/// The bytes of outlined code from the first of these that is still in its place to the last, with calls between them.
fn moved(bytes: &Range<usize>, built: &Built, outlined: &Outlined) -> Option<Range<usize>> {
    let offsets = &built.listing.code.item_offsets;
    let items =
        offsets.partition_point(|&start| start < bytes.start)..offsets.partition_point(|&start| start < bytes.end);
    let mut left = items.filter_map(|item| outlined.listing.code.item_range(outlined.moved[item]?));
    let first = left.next()?;
    let last = left.next_back().unwrap_or_else(|| first.clone());
    Some(first.start..last.end)
}

/// Byte range of each function: the start from 0, the others from their labels to the next one's. Functions of
/// subprograms are prefixed by the subprogram's name.
fn function_ranges(built: &Built, code: &Code) -> Vec<(String, Range<usize>)> {
    let offset = |label: &LabelId| code.labels.get(label).copied().unwrap_or(0);
    let mut starts: Vec<(String, usize)> = Vec::new();
    for (number, unit) in built.units.iter().enumerate() {
        let prefix = if number == 0 { String::new() } else { format!("{}:", unit.program.name) };
        let named = unit.program.functions.iter().zip(&unit.begins);
        starts.extend(named.map(|(function, label)| (format!("{prefix}{}", function.name), offset(label))));
    }
    let end = offset(&built.listing.fail);
    let next =
        |start: usize| starts.iter().map(|&(_, other)| other).filter(|&other| other > start).min().unwrap_or(end);
    starts.iter().map(|(name, start)| (name.clone(), *start..next(*start))).collect()
}

struct Reading {
    /// Paths with their indices.
    paths: HashMap<Vec<Arc<str>>, usize>,
    spans: Vec<Span>,
}

impl Reading {
    /// Reads the instructions of a block and matches them with its operations; equal operations on the same slots keep
    /// their order, as each overwrites the result of the one before. `begun` has the stretches met so far.
    fn block(
        &mut self,
        (unit, function): (&Unit, usize),
        block: &Block,
        start: usize,
        bytes: &[u8],
        begun: &mut HashSet<usize>,
    ) {
        let mut waiting: HashMap<SlotOp, VecDeque<Value>> = HashMap::new();
        let (is_fused, roots) = fused((unit, function), block);
        for (place, &(value, op)) in block.ops.iter().enumerate() {
            if !is_fused.contains(&place) {
                waiting.entry(normal(slot_op((unit, function), value, op))).or_default().push_back(value);
            }
        }
        let mut summed: HashMap<Slot, VecDeque<Value>> = HashMap::new();
        for root in roots {
            let (value, _) = block.ops[root];
            summed.entry(unit.allocation.functions[function].slot(value)).or_default().push_back(value);
        }
        let mut at = 0;
        loop {
            let sum = unit.target.fused().and_then(|target| target.read_fused(&bytes[at..]));
            let by_outs = |(ops, length): &(FusedOps, usize)| {
                let of_out = |out: Slot| SlotOp { operation: FieldOp::Add, out, x: out, y: out };
                (ops.outs().into_iter().map(of_out).collect(), *length)
            };
            let Some((lanes, length)) = sum.as_ref().map(by_outs).or_else(|| unit.target.read(&bytes[at..])) else {
                return;
            };
            let mut span = Span { bytes: start + at..start + at + length, lanes: Vec::new(), begins: Vec::new() };
            for lane in lanes {
                let value = match sum {
                    Some(_) => summed.get_mut(&lane.out).and_then(VecDeque::pop_front),
                    None => waiting.get_mut(&normal(lane)).and_then(VecDeque::pop_front),
                };
                let path = value.map(|value| unit.program.functions[function].origins.of(value));
                self.lane(&mut span, &path.unwrap_or_default(), begun);
            }
            self.spans.push(span);
            at += length;
            if at >= bytes.len() {
                return;
            }
        }
    }

    /// Reads a block of stack code by what the checker found in it.
    fn stack_code(&mut self, (unit, function): (&Unit, usize), part: &CheckedBlock, begun: &mut HashSet<usize>) {
        let origins = &unit.program.functions[function].origins;
        let mut start = part.bytes.start;
        for (end, values) in &part.made {
            let mut span = Span { bytes: start..*end, lanes: Vec::new(), begins: Vec::new() };
            values.iter().for_each(|&value| self.lane(&mut span, &origins.of(value), begun));
            self.spans.push(span);
            start = *end;
        }
        if !part.made.is_empty()
            && let Some(last) = self.spans.last_mut()
        {
            last.bytes.end = part.bytes.end;
        }
    }

    /// Adds the lane of an operation to a span. `begun` has the stretches met so far.
    fn lane(&mut self, span: &mut Span, path: &[(Arc<str>, usize)], begun: &mut HashSet<usize>) {
        for depth in 1..=path.len() {
            if begun.insert(path[depth - 1].1) {
                let begins = self.path(&path[..depth]);
                span.begins.push(begins);
            }
        }
        let lane = self.path(path);
        span.lanes.push(lane);
    }

    fn path(&mut self, stretches: &[(Arc<str>, usize)]) -> usize {
        let next = self.paths.len();
        *self.paths.entry(stretches.iter().map(|(name, _)| Arc::clone(name)).collect()).or_insert(next)
    }
}

/// Operations of a block that instructions do together, and those of them whose results stay.
fn fused((unit, function): (&Unit, usize), block: &Block) -> (HashSet<usize>, Vec<usize>) {
    let within = &unit.program.functions[function];
    let places = 0..block.ops.len();
    match unit.target.fused().map(FusedInstructions::form) {
        None => Default::default(),
        Some(FusedKind::Sums(most)) => {
            let sums = sums(block, &readings(within), most);
            let has = |place: &usize| sums.iter().any(|sum| sum.has(*place));
            (places.filter(has).collect(), sums.iter().map(Sum::root).collect())
        }
        Some(FusedKind::Fp2) => {
            let products = fp2::products_of(within, block);
            let has = |place: &usize| products.iter().any(|product| product.has(*place));
            (places.filter(has).collect(), products.iter().flat_map(|product| product.roots).collect())
        }
        Some(FusedKind::Fp6) => {
            let products = fp6::products_of(within, block);
            let has = |place: &usize| products.iter().any(|product| product.has(*place));
            (places.filter(has).collect(), products.iter().flat_map(|product| product.roots).collect())
        }
    }
}

/// The operation on slots that an operation of a function became.
fn slot_op((unit, function): (&Unit, usize), out: Value, op: Op) -> SlotOp {
    let placement = &unit.allocation.functions[function];
    let slot = |operand: Operand| -> Slot {
        match operand {
            Operand::Value(value) => placement.slot(value),
            Operand::Constant(id) => unit.constant_slots[id.0 as usize],
        }
    };
    SlotOp { operation: op.kind, out: placement.slot(out), x: slot(op.x), y: slot(op.y) }
}

/// The operands of sums and products in order.
fn normal(op: SlotOp) -> SlotOp {
    match op.operation {
        FieldOp::Add | FieldOp::Mul if op.y < op.x => SlotOp { x: op.y, y: op.x, ..op },
        _ => op,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use residue_ir::scope::enter;
    use residue_ir::{Machine, record, text};
    use residue_isa::{GasSchedule, Revision};

    #[test]
    fn every_byte_of_a_function_is_found_and_no_other() {
        let functions = vec![("g".to_owned(), 10..14), ("start".to_owned(), 0..10)];
        let span = Span { bytes: 2..5, lanes: vec![1, 2], begins: vec![] };
        let map = SourceMap::new(
            functions,
            vec![span],
            vec![vec![], vec!["a".into(), "b".into()], vec!["a".into(), "c".into()]],
        );
        let names = [0, 2, 4, 5, 13, 14, usize::MAX].map(|offset| map.name_at(offset));
        let named = |name: &str| Some(name.to_owned());
        let expected = [named("start"), named("start/a"), named("start/a"), named("start"), named("g"), None, None];
        assert_eq!(names, expected);
        assert_eq!(map.function(1), Some(("g", 10)));
        assert_eq!(map.function(2), None);
        assert_eq!(SourceMap::new(Vec::new(), Vec::new(), Vec::new()).name_at(0), None);
    }

    #[test]
    fn instructions_of_stack_code_have_the_lines_of_their_operations() {
        let source = "program \"two\" modulus 0x61\nfunction f0 \"start\" () -> () values 3 { word w0 = 0x0 parse w0 bytes 1 -> v0\nblock {\nv1 = mul v0 v0\nv2 = add v1 v0\n}\nreturn_elements (v2) bytes 1 }";
        let program = text::read_by_line(source).unwrap();
        let lines = |revision: Revision| {
            let map =
                crate::compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap().source_map;
            let names = |span: &Span| span.lanes.iter().map(|&path| map.path(path)[0].to_string()).collect::<Vec<_>>();
            map.spans().iter().flat_map(names).collect::<Vec<_>>()
        };
        for revision in [Revision::Evm, Revision::EvmCallsub, Revision::Eip6690_2024] {
            assert_eq!(lines(revision), ["line 4", "line 5"], "{revision}");
        }
    }

    /// A function called twice; three stretches, one of them within another.
    #[test]
    fn every_operation_is_mapped_to_its_stretch_under_every_revision() {
        let modulus = BigUint::from_bytes_be(&[0xff; 48]);
        // Recorded, and read back from its text.
        let program = |modulus: &BigUint| {
            let program = record("mapped", modulus, |machine| {
                let [x, y] = [0, 48].map(|offset| machine.parse(machine.small(offset), 48));
                let twice = |x| {
                    machine.function("f", x, |_, x| {
                        let _scope = enter("square_and_sum");
                        let square = {
                            let _scope = enter("square");
                            x * x
                        };
                        square + x
                    })
                };
                let (a, b) = (twice(x), twice(y));
                let _scope = enter("last");
                let c = (a - b) * (a + a);
                machine.return_elements(c, 48);
            });
            text::parse(&text::print(&program)).unwrap()
        };
        for revision in Revision::every() {
            let schedule = GasSchedule::default_for(revision).unwrap();
            // Some revisions have one field only, and some no field as wide.
            let moduli = [modulus.clone(), crate::target::evm384::fixed_modulus()];
            let mut compiled = moduli.iter().map(|modulus| crate::compile(&program(modulus), revision, &schedule));
            let Some(map) = compiled.find_map(|compiled| Some(compiled.ok()?.source_map)) else { continue };
            let mut lanes: BTreeMap<String, usize> = BTreeMap::new();
            let mut begins: BTreeMap<String, usize> = BTreeMap::new();
            for span in &map.spans {
                let (function, _) = map.function(map.function_at(span.bytes.start).unwrap()).unwrap();
                let name = |path: &usize| {
                    std::iter::once(function)
                        .chain(map.path(*path).iter().map(|name| &**name))
                        .collect::<Vec<_>>()
                        .join("/")
                };
                span.lanes.iter().for_each(|path| *lanes.entry(name(path)).or_default() += 1);
                span.begins.iter().for_each(|path| *begins.entry(name(path)).or_default() += 1);
            }
            let expected = [("f/square_and_sum", 1), ("f/square_and_sum/square", 1), ("start/last", 3)];
            let expected: BTreeMap<String, usize> = expected.map(|(name, n)| (name.to_owned(), n)).into();
            assert_eq!(lanes, expected, "{revision}");
            assert_eq!(begins, expected.into_keys().map(|name| (name, 1)).collect(), "{revision}");
        }
    }

    /// Loops over equal formulas, of which outlining makes subroutines.
    #[test]
    fn outlined_code_has_its_operations_in_their_functions() {
        let modulus = (BigUint::from(1u8) << 255u32) - 19u8;
        let program = record("mapped", &modulus, |machine| {
            let [x, y] = [0, 32].map(|offset| machine.parse(machine.small(offset), 32));
            let turn = |state: [_; 2]| {
                machine.repeat(machine.small(9), state, |_, _, [a, b]| {
                    let _scope = enter("turn");
                    [(a * b + a) * (b - a), (a + b) * (a * a - b)]
                })
            };
            let [a, b] = turn(turn(turn(turn([x, y]))));
            machine.return_elements(a * b, 32);
        });
        let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
        let deployment = Some(crate::Deployment { gas_a_byte: 100_000, calls: std::num::NonZeroU64::MIN });
        let compiled = |deployment| {
            let dialect = crate::Dialect { deployment, ..crate::Dialect::default() };
            crate::compile_as(&program, Revision::Evm, &schedule, crate::SmallMultiples::AsWritten, dialect).unwrap()
        };
        let [long, short] = [compiled(None), compiled(deployment)];
        assert!(short.code.len() < long.code.len());
        for crate::Compiled { source_map: map, checks, code, .. } in [&long, &short] {
            let within = |bytes: &Range<usize>| {
                let function = |offset| map.function(map.function_at(offset).unwrap()).unwrap().0;
                assert_eq!((function(bytes.start), function(bytes.end - 1)), ("start", "start"));
            };
            let spans = map.spans();
            assert!(spans.windows(2).all(|pair| pair[0].bytes.end <= pair[1].bytes.start), "{spans:?}");
            spans.iter().for_each(|span| within(&span.bytes));
            // A call may be for the end of one and the start of the next.
            assert!(checks.windows(2).all(|pair| pair[0].bytes.start < pair[1].bytes.start), "{checks:?}");
            checks.iter().for_each(|check| within(&check.bytes));
            assert_eq!(checks.iter().map(|check| check.operations).collect::<Vec<_>>(), [8, 8, 8, 8, 1]);
            assert!(spans.last().is_none_or(|span| span.bytes.end <= code.len()));
        }
        // Of the others all is in subroutines, which have no source.
        let is_turn = |span: &&Span| long.source_map.name_at(span.bytes.start).unwrap() == "start/turn";
        assert_eq!(long.source_map.spans().iter().filter(is_turn).count(), 4 * 8);
    }
}
