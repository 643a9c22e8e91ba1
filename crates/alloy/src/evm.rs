//! One EVM as alloy-evm wants it: the engine's, with an inspector that can be switched on and off.

use alloy_evm::precompiles::PrecompilesMap;
use alloy_evm::{Database, Evm, EvmEnv};
use residue_engine::revm::context::result::{EVMError, HaltReason, ResultAndState};
use residue_engine::revm::context::{BlockEnv, CfgEnv, Context, Journal, TxEnv};
use residue_engine::revm::inspector::{InspectEvm, Inspector, InspectorEvmTr};
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::primitives::{Address, Bytes};
use residue_engine::revm::{ExecuteEvm, SystemCallEvm};
use residue_engine::{FieldEvm, FieldMachine};

use crate::selfdestructs::Selfdestructs;

/// The context that EVMs of the factory run in, and that inspectors see: revm's own with the field contexts as its chain.
pub type FieldContext<DB> = Context<BlockEnv, TxEnv, CfgEnv, DB, Journal<DB>, FieldMachine>;

/// An EVM with the field instructions of the revision that is in force at its block.
#[derive(Debug)]
pub struct FieldBlockEvm<DB: Database, I> {
    inner: FieldEvm<FieldContext<DB>, Selfdestructs<I>, PrecompilesMap>,
    inspects: bool,
}

impl<DB: Database, I> FieldBlockEvm<DB, I> {
    /// `inspects`: whether transactions are observed from the beginning.
    pub(crate) fn new(inner: FieldEvm<FieldContext<DB>, (), PrecompilesMap>, inspector: I, inspects: bool) -> Self {
        Self { inner: inner.with_inspector(Selfdestructs::new(inspector)), inspects }
    }

    /// The engine's EVM.
    pub fn into_inner(self) -> FieldEvm<FieldContext<DB>, Selfdestructs<I>, PrecompilesMap> {
        self.inner
    }

    /// The inspector, with what it has observed.
    pub fn into_inspector(self) -> I {
        self.inner.into_inspector().into_inner()
    }

    /// The context: block, configuration, journal with the database, and the field contexts.
    pub fn context(&self) -> &FieldContext<DB> {
        self.inner.context()
    }
}

impl<DB, I> Evm for FieldBlockEvm<DB, I>
where
    DB: Database,
    I: Inspector<FieldContext<DB>>,
{
    type DB = DB;
    type Tx = TxEnv;
    type Error = EVMError<DB::Error>;
    type HaltReason = HaltReason;
    type Spec = SpecId;
    type BlockEnv = BlockEnv;
    type Precompiles = PrecompilesMap;
    type Inspector = I;

    fn block(&self) -> &BlockEnv {
        &self.context().block
    }

    fn cfg_env(&self) -> &CfgEnv {
        &self.context().cfg
    }

    fn chain_id(&self) -> u64 {
        self.context().cfg.chain_id
    }

    fn transact_raw(&mut self, tx: TxEnv) -> Result<ResultAndState, Self::Error> {
        if self.inspects { self.inner.inspect_tx(tx) } else { self.inner.transact(tx) }
    }

    fn transact_system_call(
        &mut self,
        caller: Address,
        contract: Address,
        data: Bytes,
    ) -> Result<ResultAndState, Self::Error> {
        self.inner.system_call_with_caller(caller, contract, data)
    }

    fn finish(self) -> (DB, EvmEnv) {
        let Context { block: block_env, cfg: cfg_env, journaled_state, .. } = self.inner.into_context();
        (journaled_state.database, EvmEnv { cfg_env, block_env })
    }

    fn set_inspector_enabled(&mut self, enabled: bool) {
        self.inspects = enabled;
    }

    fn components(&self) -> (&DB, &I, &PrecompilesMap) {
        let (context, _, precompiles, _, inspector) = self.inner.all_inspector();
        (&context.journaled_state.database, inspector.inner(), precompiles)
    }

    fn components_mut(&mut self) -> (&mut DB, &mut I, &mut PrecompilesMap) {
        let (context, _, precompiles, _, inspector) = self.inner.all_mut_inspector();
        (&mut context.journaled_state.database, inspector.inner_mut(), precompiles)
    }
}
