//! From a program to a module: a function for each function, values at fixed addresses, words on the operand stack.
//!
//! The module exports `memory`, the addresses `input` and `output` as globals, and `main`: with calldata written at `input`
//! (memory grown to hold it) `main(size)` returns the number of bytes at `output`, −1 if the program halted exceptionally
//! or had no memory left, −2 if it came to its end without output. It may be called again and again.
//!
//! Values are placed by `residue_passes::allocate`, which shares places between values and functions; so a function of
//! the module takes and gives nothing, and returns 1 if the program ended in it.

mod control;
mod lanes;
mod layout;
mod routine;
mod routines;
mod scratch;
mod words;

use num_bigint::BigUint;
use residue_ir::Effect;
use residue_ir::program::{FieldOp, Program, WordDef};
use residue_modular::PrimeField;
use residue_modular::fields::Bls12_381FpModulus;
use residue_passes::rows::rows;
use residue_passes::simplify::simplify;
use residue_passes::specialise::specialise;
use residue_passes::{Allocation, Limits, allocate};
use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, EntityType, ExportKind, ExportSection, Function, FunctionSection,
    GlobalSection, GlobalType, ImportSection, MemorySection, MemoryType, Module, TypeSection, ValType,
};

use crate::error::LowerError;
use crate::field::{self, Field, WIDTH_LIMBS_MAX};
use layout::Layout;
use routines::{ROUTINES, Signature};

/// Form of field arithmetic in the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// The module itself.
    SelfContained,
    /// The host: `env.bignum_f1m_add`, `env.bignum_f1m_sub` and `env.bignum_f1m_mul`.
    HostFunctions,
}

/// A program as a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lowered {
    /// The module.
    pub module: Vec<u8>,
    /// Its form.
    pub form: Form,
    /// Bytes of memory for any input; calldata and arrays without a fixed size come on top.
    pub memory_bytes: u32,
}

impl Form {
    /// Both.
    pub const ALL: [Form; 2] = [Form::SelfContained, Form::HostFunctions];

    /// As layers of measurements and users name it.
    pub const fn name(self) -> &'static str {
        match self {
            Form::SelfContained => "self-contained",
            Form::HostFunctions => "host-functions",
        }
    }
}

/// Lowers `program`.
pub fn lower(program: &Program, form: Form) -> Result<Lowered, LowerError> {
    residue_ir::verify(program)?;
    // A module has no other moduli, so none of the features that programs ask for. Functions that are not called are no reason to refuse.
    let program = &specialise(program, |_| false);
    let modulus = require_modulus(program, form)?;
    require_expressible(program)?;
    let mut program = program.clone();
    simplify(&mut program);
    let field = Field::new(modulus, form == Form::SelfContained);
    let limits = Limits { values_max: usize::MAX, gap_bytes_max: 0, moved_whole: None };
    let allocation = allocate(&program, &rows(&program, &limits), VALUES_MAX, None)?;
    let layout = Layout::new(&program, &field, allocation.slots_used)?;
    let lowering = Lowering { program: &program, allocation: &allocation, layout: &layout, field: &field };
    Ok(Lowered { module: lowering.module(form), form, memory_bytes: layout.input })
}

/// Places for values, at most: more than any program of ours needs.
const VALUES_MAX: u32 = 4096;

fn require_modulus(program: &Program, form: Form) -> Result<&BigUint, LowerError> {
    let modulus = program.modulus.known().ok_or(LowerError::OtherModuli)?;
    if !modulus.bit(0) {
        return Err(LowerError::EvenModulus);
    }
    if modulus.bits() > 64 * WIDTH_LIMBS_MAX as u64 {
        return Err(LowerError::Width { bits: modulus.bits() });
    }
    let host: Vec<u64> = Bls12_381FpModulus::MODULUS.to_vec();
    if form == Form::HostFunctions && modulus.iter_u64_digits().collect::<Vec<_>>() != host {
        return Err(LowerError::ForeignField);
    }
    Ok(modulus)
}

/// Rejects programs that modules cannot express.
fn require_expressible(program: &Program) -> Result<(), LowerError> {
    let mut refused = None;
    for word in program.functions.iter().flat_map(|function| function.words_read()) {
        match word {
            WordDef::ModOp(..) => return Err(LowerError::WordModulus),
            WordDef::LeadingZeros(_) => return Err(LowerError::Effect("clz")),
            _ => {}
        }
    }
    program.for_each_effect(&mut |effect| {
        let error = match effect {
            effect if effect.pieces().is_some() => LowerError::Hash,
            Effect::Enter { .. } => LowerError::OtherModuli,
            Effect::Lookup { .. }
            | Effect::TakeRow { .. }
            | Effect::TakeElement { .. }
            | Effect::FillFrom { .. }
            | Effect::ElementOf { .. }
            | Effect::WordOf { .. }
            | Effect::High { .. } => LowerError::Effect(effect.name()),
            Effect::Invert { .. } | Effect::Less { .. } | Effect::ReturnWords { .. } | Effect::ReturnLast { .. } => {
                LowerError::Effect(effect.name())
            }
            Effect::Keccak256Scratch { .. }
            | Effect::Sha256Scratch { .. }
            | Effect::TakeScratch { .. }
            | Effect::PutScratch { .. }
            | Effect::Precompile { .. }
            | Effect::ReturnPrecompile { .. }
            | Effect::ReturnAccount { .. } => LowerError::Effect(effect.name()),
            _ => return,
        };
        refused.get_or_insert(error);
    });
    refused.map_or(Ok(()), Err)
}

/// The text of a function over a field.
type Text = fn(&Field) -> Function;

/// The functions that the arithmetic is in, imported or not: the first three, with the names of the imports.
const OPERATIONS: [(FieldOp, &str, Text); 3] = [
    (FieldOp::Add, "bignum_f1m_add", field::add),
    (FieldOp::Sub, "bignum_f1m_sub", field::sub),
    (FieldOp::Mul, "bignum_f1m_mul", field::mul),
];

/// The function that computes `kind`.
fn operation(kind: FieldOp) -> u32 {
    let index = OPERATIONS.iter().position(|row| row.0 == kind).expect("the table has every kind");
    narrow(index)
}

/// The global with the number of bytes of calldata.
const CALLDATA_BYTES: u32 = 0;
/// Global with the result of `main` if the program ended.
const OUTCOME: u32 = 1;
/// The global with the address of the first record of the unbounded arrays.
const RECORDS: u32 = 2;
/// The exported globals.
const INPUT: u32 = 3;
const OUTPUT: u32 = 4;

/// The function that a program starts in.
pub const MAIN: &str = "main";
/// Result of `main` if the program halted exceptionally.
pub(crate) const FAILED: i32 = -1;
/// Result of `main` if the program ended without output.
pub(crate) const ENDED: i32 = -2;

struct Lowering<'a> {
    program: &'a Program,
    allocation: &'a Allocation,
    layout: &'a Layout,
    field: &'a Field,
}

impl Lowering<'_> {
    /// The function of the module for a function of the program.
    fn function_index(number: usize) -> u32 {
        narrow(OPERATIONS.len() + ROUTINES.len() + number)
    }

    fn module(&self, form: Form) -> Vec<u8> {
        let is_imported = form == Form::HostFunctions;
        let mut types = TypeSection::new();
        for signature in Signature::ALL {
            let (params, results) = signature.types();
            types.ty().function(params.iter().copied(), results.iter().copied());
        }
        let mut imports = ImportSection::new();
        let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
        for (_, name, text) in OPERATIONS {
            if is_imported {
                imports.import("env", name, EntityType::Function(Signature::Operation.index()));
            } else {
                functions.function(Signature::Operation.index());
                code.function(&text(self.field));
            }
        }
        for routine in ROUTINES {
            functions.function(routine.signature.index());
            code.function(&(routine.text)(self.field));
        }
        for number in 0..self.program.functions.len() {
            functions.function(Signature::Function.index());
            code.function(&self.function(number));
        }
        functions.function(Signature::Main.index());
        code.function(&self.main());

        let mut module = Module::new();
        module.section(&types);
        if is_imported {
            module.section(&imports);
        }
        module.section(&functions).section(&self.memory()).section(&self.globals()).section(&self.exports());
        module.section(&code).section(&self.data());
        module.finish()
    }

    fn memory(&self) -> MemorySection {
        let mut memories = MemorySection::new();
        let minimum = u64::from(self.layout.input).div_ceil(PAGE_BYTES);
        memories.memory(MemoryType { minimum, maximum: None, memory64: false, shared: false, page_size_log2: None });
        memories
    }

    fn globals(&self) -> GlobalSection {
        let mut globals = GlobalSection::new();
        let addresses = [self.layout.input, self.layout.output].map(|address| (false, address));
        for (mutable, value) in [(true, 0); 3].into_iter().chain(addresses) {
            let ty = GlobalType { val_type: ValType::I32, mutable, shared: false };
            globals.global(ty, &ConstExpr::i32_const(value.cast_signed()));
        }
        globals
    }

    fn exports(&self) -> ExportSection {
        let mut exports = ExportSection::new();
        exports.export("memory", ExportKind::Memory, 0);
        exports.export("input", ExportKind::Global, INPUT).export("output", ExportKind::Global, OUTPUT);
        exports.export(MAIN, ExportKind::Func, Self::function_index(self.program.functions.len()));
        exports
    }

    /// The constants of the program, then those that change the form of values.
    fn data(&self) -> DataSection {
        let constants = self.program.constants.iter().map(|constant| self.field.to_mont(constant));
        let bytes: Vec<u8> = constants.chain(self.field.conversions()).flatten().collect();
        let mut data = DataSection::new();
        data.active(0, &ConstExpr::i32_const(self.layout.constants.cast_signed()), bytes);
        if self.layout.has_round_constants() {
            let address = self.layout.round_constants.cast_signed();
            data.active(0, &ConstExpr::i32_const(address), scratch::round_constants());
        }
        data
    }

    /// `main`: forgets the run before, and runs the program's start.
    fn main(&self) -> Function {
        let mut function = Function::new([]);
        let layout = self.layout;
        let code = &mut function.instructions();
        code.local_get(0).global_set(CALLDATA_BYTES);
        let after_input = layout.input + 7;
        code.local_get(0).i32_const(after_input.cast_signed()).i32_add().i32_const(-8).i32_and().global_set(RECORDS);
        code.i32_const(layout.variables.cast_signed()).i32_const(0);
        code.i32_const((layout.output - layout.variables).cast_signed()).memory_fill(0);
        code.call(Self::function_index(self.program.functions.len() - 1));
        code.if_(wasm_encoder::BlockType::Result(ValType::I32)).global_get(OUTCOME);
        code.else_().i32_const(ENDED).end().end();
        function
    }
}

/// Bytes of a page of memory.
pub(crate) const PAGE_BYTES: u64 = 1 << 16;

/// Numbers of functions, locals and the like, which the module counts in 32 bits.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("a module has fewer than 2³² parts of a kind")
}
