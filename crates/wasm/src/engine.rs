//! Engines: a module is compiled, then instantiated as often as wanted, then its functions are called; each step apart, so
//! that each can be timed apart.
//!
//! Two engines with one interface: wasmi interprets; wasmtime, an optional feature, compiles. Host functions are linked
//! as the module imports them; imported memories are made.

mod interpreter;
#[cfg(feature = "wasmtime")]
mod jit;
mod link;

use crate::error::RunError;
use crate::host::{HOST_FUNCTIONS, Outside};

pub use crate::engine_kind::EngineKind;

/// A number that a function takes or gives.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the names are WebAssembly's")]
pub enum Number {
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
}

/// An exported function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Its name.
    pub name: String,
    /// Types of its parameters; `None` if one is no number.
    pub params: Option<Vec<NumberType>>,
    /// Its parameters and results as they are written: `(i32, i32) -> (i32)`.
    pub ty: String,
}

/// The type of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are WebAssembly's")]
pub enum NumberType {
    I32,
    I64,
    F32,
    F64,
}

/// A module that an engine has compiled.
pub trait Compiled {
    /// The functions that it exports.
    fn exports(&self) -> Vec<Export>;

    /// A new instance, after its start function, with the state outside of it.
    fn instantiate(&self, outside: Outside) -> Result<Box<dyn Instance>, RunError>;
}

/// An instance of a module: its memory and its outside state.
pub trait Instance {
    /// Calls an exported function.
    fn call(&mut self, name: &str, arguments: &[Number]) -> Result<Vec<Number>, RunError>;

    /// Its memory: the exported one, or the one it imports.
    fn memory(&self) -> Result<&[u8], RunError>;

    /// Writes into its memory, which grows if it has to.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), RunError>;

    /// An exported global of type i32.
    fn global(&mut self, name: &str) -> Option<i32>;

    /// State outside of the module.
    fn outside(&self) -> &Outside;
}

/// Memory may not grow beyond this.
const MEMORY_BYTES_MAX: usize = 1 << 30;

/// Most elements of a table: a module of somebody else may ask for 2³² of them.
const TABLE_ELEMENTS_MAX: usize = 1 << 20;

impl EngineKind {
    /// Compiles a module completely. With `fuel` every call may execute about that many instructions and then traps. An engine that
    /// this build has not is refused.
    pub fn compile(self, module: &[u8], fuel: Option<u64>) -> Result<Box<dyn Compiled>, RunError> {
        match self {
            EngineKind::Wasmi => interpreter::compile(module, fuel),
            #[cfg(feature = "wasmtime")]
            EngineKind::Wasmtime => jit::compile(module, fuel),
            #[cfg(not(feature = "wasmtime"))]
            EngineKind::Wasmtime => Err(RunError::NotBuiltIn { engine: self }),
        }
    }
}

impl NumberType {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            NumberType::I32 => "i32",
            NumberType::I64 => "i64",
            NumberType::F32 => "f32",
            NumberType::F64 => "f64",
        }
    }
}

impl Number {
    /// Its type.
    pub const fn ty(self) -> NumberType {
        match self {
            Number::I32(_) => NumberType::I32,
            Number::I64(_) => NumberType::I64,
            Number::F32(_) => NumberType::F32,
            Number::F64(_) => NumberType::F64,
        }
    }
}

/// The function to call, and that it takes these arguments.
fn check_call<'a>(exports: &'a [Export], name: &str, arguments: &[Number]) -> Result<&'a Export, RunError> {
    let known = || {
        let mut names: Vec<&str> = exports.iter().map(|export| export.name.as_str()).collect();
        // Engines list exports in orders of their own.
        names.sort_unstable();
        if names.is_empty() { "it exports none".to_owned() } else { format!("it exports {}", names.join(", ")) }
    };
    let found = exports.iter().find(|export| export.name == name);
    let export = found.ok_or_else(|| RunError::Export { name: name.to_owned(), known: known() })?;
    let given: Vec<NumberType> = arguments.iter().map(|argument| argument.ty()).collect();
    if export.params.as_ref() == Some(&given) {
        return Ok(export);
    }
    let given = given.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(", ");
    Err(RunError::Arguments { name: name.to_owned(), expected: export.ty.clone(), given: format!("({given})") })
}

/// The host function that an import of a function means; types as (parameters, results), all i32.
fn host_function(module: &str, name: &str, shape: Option<(usize, usize)>, ty: &str) -> Result<usize, RunError> {
    let fits = |function: &crate::host::HostFunction| {
        shape.is_some_and(|(params, results)| {
            params == function.params && (results == usize::from(function.gives) || results == 0)
        })
    };
    let found = HOST_FUNCTIONS.iter().position(|function| module == "env" && name == function.name && fits(function));
    found.ok_or_else(|| unknown_import(module, name, ty))
}

fn unknown_import(module: &str, name: &str, ty: &str) -> RunError {
    let known = |function: &crate::host::HostFunction| {
        let params = ["i32"; 4][..function.params].join(", ");
        format!("env.{}({params}){}", function.name, if function.gives { " -> i32" } else { "" })
    };
    let known = HOST_FUNCTIONS.iter().map(known).collect::<Vec<_>>().join(", ");
    RunError::Import { module: module.to_owned(), name: name.to_owned(), ty: ty.to_owned(), known }
}

/// Pages that memory of `memory_bytes` has to grow by so that a range fits.
fn pages_missing(memory_bytes: usize, address: u64, size_bytes: usize) -> Result<u64, RunError> {
    let (there, wanted) = (memory_bytes as u64, size_bytes as u64);
    let range = RunError::Range { address, size_bytes: wanted, memory_bytes: there };
    let end = address.checked_add(wanted).filter(|&end| end <= MEMORY_BYTES_MAX as u64).ok_or(range)?;
    Ok(end.saturating_sub(there).div_ceil(crate::lower::PAGE_BYTES))
}

/// `(i32, i32) -> (i32)`.
fn type_text(params: &[String], results: &[String]) -> String {
    format!("({}) -> ({})", params.join(", "), results.join(", "))
}
