//! Precompiles whose results are remembered while one entry runs under all rules.
//!
//! They are revm's under every rule set, and a few tests spend nearly all of their time in them (a BLAKE2 of four billion
//! rounds), which would be spent again for each revision. A result depends on the input alone as long as gas covers it.

use std::cell::RefCell;
use std::collections::HashMap;

use residue_engine::revm::context::ContextTr;
use residue_engine::revm::context_interface::Cfg;
use residue_engine::revm::handler::{EthPrecompiles, PrecompileProvider, precompile_output_to_interpreter_result};
use residue_engine::revm::interpreter::{CallInputs, InstructionResult, InterpreterResult};
use residue_engine::revm::precompile::PrecompileOutput;
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::primitives::{Address, AddressSet, Bytes};

/// Cheaper results are computed again.
const GAS_MIN: u64 = 2000;
/// Inputs that are kept of each precompile at most: those that come again and again come soon.
const INPUTS_MAX: usize = 32;

/// Results of precompiles by address, with the inputs that gave them.
#[derive(Debug, Default)]
pub struct Results(HashMap<Address, Vec<Successful>>);

#[derive(Debug)]
struct Successful {
    input: Vec<u8>,
    gas_used: u64,
    output: Bytes,
}

/// revm's precompiles with what is remembered of them.
#[derive(Debug)]
pub struct Remembered<'a> {
    precompiles: EthPrecompiles,
    results: &'a RefCell<Results>,
}

impl<'a> Remembered<'a> {
    /// The precompiles of a fork. `results` belong to it.
    pub fn new(spec: SpecId, results: &'a RefCell<Results>) -> Self {
        Self { precompiles: EthPrecompiles::new(spec), results }
    }
}

impl<CTX: ContextTr> PrecompileProvider<CTX> for Remembered<'_>
where
    EthPrecompiles: PrecompileProvider<CTX, Output = InterpreterResult>,
{
    type Output = InterpreterResult;

    fn set_spec(&mut self, spec: <CTX::Cfg as Cfg>::Spec) -> bool {
        PrecompileProvider::<CTX>::set_spec(&mut self.precompiles, spec)
    }

    fn run(&mut self, context: &mut CTX, inputs: &CallInputs) -> Result<Option<InterpreterResult>, String> {
        if !self.precompiles.contains(&inputs.bytecode_address) {
            return Ok(None);
        }
        let address = inputs.bytecode_address;
        if let Some(found) = self.results.borrow().find(address, &inputs.input.as_bytes(context))
            && found.gas_used <= inputs.gas_limit
        {
            let output = PrecompileOutput::new(found.gas_used, found.output.clone(), inputs.reservoir);
            return Ok(Some(precompile_output_to_interpreter_result(output, inputs.gas_limit)));
        }
        // Copying the input costs as much as a cheap precompile.
        let has_room = self.results.borrow().has_room(address) && inputs.gas_limit >= GAS_MIN;
        let input = has_room.then(|| inputs.input.as_bytes(context).to_vec());
        let result = self.precompiles.run(context, inputs)?;
        if let (Some(input), Some(InterpreterResult { result: InstructionResult::Return, output, gas })) =
            (input, &result)
        {
            let result = Successful { input, gas_used: gas.total_gas_spent(), output: output.clone() };
            self.results.borrow_mut().keep(address, result);
        }
        Ok(result)
    }

    fn warm_addresses(&self) -> &AddressSet {
        self.precompiles.warm_addresses()
    }
}

impl Results {
    fn find(&self, address: Address, input: &[u8]) -> Option<&Successful> {
        self.0.get(&address)?.iter().find(|result| result.input == input)
    }

    fn has_room(&self, address: Address) -> bool {
        self.0.get(&address).is_none_or(|results| results.len() < INPUTS_MAX)
    }

    fn keep(&mut self, address: Address, result: Successful) {
        if result.gas_used >= GAS_MIN {
            self.0.entry(address).or_default().push(result);
        }
    }
}
