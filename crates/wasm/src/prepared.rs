//! A lowered program, compiled and instantiated: calldata in, outcome out, any number of times. It also runs modules of
//! others with the same input and output.

use residue_ir::Outcome;

use crate::engine::{Compiled, EngineKind, Instance, Number};
use crate::error::RunError;
use crate::host::Outside;
use crate::lower::{ENDED, FAILED, Lowered, MAIN};

/// A program ready to run.
pub struct Prepared {
    instance: Box<dyn Instance>,
    function: String,
    input: u64,
    output: usize,
}

impl Prepared {
    /// Compiles and instantiates a lowered program.
    pub fn new(lowered: &Lowered, engine: EngineKind) -> Result<Self, RunError> {
        Self::instance(engine.compile(&lowered.module, None)?.as_ref(), MAIN)
    }

    /// An instance of a module that is compiled already: a lowered program has its start in the function [`MAIN`], others may
    /// have several. It takes the number of bytes at the exported address `input`, and gives that at `output`.
    pub fn instance(compiled: &dyn Compiled, function: &str) -> Result<Self, RunError> {
        let mut instance = compiled.instantiate(Outside::default())?;
        let mut address = |name: &str| {
            let global = instance.global(name).and_then(|address| u32::try_from(address).ok());
            global.ok_or_else(|| RunError::Module(format!("it exports no address {name:?}, so it is none of ours")))
        };
        let (input, output) = (address("input")?.into(), address("output")? as usize);
        Ok(Self { instance, function: function.to_owned(), input, output })
    }

    /// Runs the program on `calldata`.
    pub fn run(&mut self, calldata: &[u8]) -> Result<Outcome, RunError> {
        self.instance.write(self.input, calldata)?;
        let size = i32::try_from(calldata.len()).map_err(|_| RunError::Range {
            address: self.input,
            size_bytes: calldata.len() as u64,
            memory_bytes: 0,
        })?;
        let results = self.instance.call(&self.function, &[Number::I32(size)])?;
        match results.as_slice() {
            [Number::I32(FAILED)] => Ok(Outcome::Failed),
            [Number::I32(ENDED)] => Ok(Outcome::Ended),
            [Number::I32(size)] => {
                let memory = self.instance.memory()?;
                let end = usize::try_from(*size).ok().and_then(|size| self.output.checked_add(size));
                let output = end.and_then(|end| memory.get(self.output..end));
                let output =
                    output.ok_or_else(|| RunError::Trap(format!("its output of {size} bytes is no output")))?;
                Ok(Outcome::Returned(output.to_vec()))
            }
            other => Err(RunError::Trap(format!("`{}` gave {other:?}", self.function))),
        }
    }

    /// Calls of host functions so far.
    pub fn host_calls(&self) -> Vec<(&'static str, u64)> {
        self.instance.outside().counts()
    }

    /// Bytes of the instance's memory.
    pub fn memory_bytes(&self) -> Result<usize, RunError> {
        Ok(self.instance.memory()?.len())
    }
}
