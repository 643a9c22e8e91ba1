//! The factory: which engine a block gets, and an EVM made of it.

use std::sync::Arc;

use alloy_evm::precompiles::PrecompilesMap;
use alloy_evm::{Database, EvmEnv, EvmFactory};
use residue_engine::revm::context::result::{EVMError, HaltReason};
use residue_engine::revm::context::{BlockEnv, Context, DBErrorMarker, TxEnv};
use residue_engine::revm::inspector::{Inspector, NoOpInspector};
use residue_engine::revm::precompile::{PrecompileSpecId, Precompiles};
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::{Journal, context::CfgEnv};
use residue_engine::{Engine, EngineConfig, EngineError};
use residue_isa::Revision;
use thiserror::Error;

use crate::evm::{FieldBlockEvm, FieldContext};

/// From when on blocks have field instructions, and which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activation {
    /// Block times, in seconds, of this and above; 0 is from the beginning.
    pub time: u64,
    /// Revision, schedule and replaced precompiles. Its fork counts for nothing here: that is the block's.
    pub engine: EngineConfig,
}

/// Activations that make no factory.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FactoryError {
    /// A configuration that cannot be executed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Two begin at one time.
    #[error("two revisions begin at block time {time}")]
    SameTime {
        /// The block time.
        time: u64,
    },
}

/// Makes EVMs for blocks: with the field instructions of the last activation at or before the time of the block, and as the
/// fork has them before the first one. Clones share their engines, and so all plans.
#[derive(Debug, Clone)]
pub struct FieldEvmFactory {
    plain: Arc<Engine>,
    /// By time, earliest first.
    engines: Arc<[(u64, Engine)]>,
}

impl FieldEvmFactory {
    /// The factory of activations in any order; of none it is that of the EVM without field instructions.
    pub fn new(activations: impl IntoIterator<Item = Activation>) -> Result<Self, FactoryError> {
        let engine = |Activation { time, engine }| Ok::<_, EngineError>((time, Engine::new(engine)?));
        let mut engines = activations.into_iter().map(engine).collect::<Result<Vec<_>, _>>()?;
        engines.sort_by_key(|(time, _)| *time);
        if let Some(pair) = engines.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(FactoryError::SameTime { time: pair[0].0 });
        }
        // Which revision it has not come to makes no difference.
        let plain = Engine::new(EngineConfig::default_for(Revision::Eip6690_2024))?.before_its_revision();
        Ok(Self { plain: Arc::new(plain), engines: engines.into() })
    }

    /// The engine of blocks of a time; none before the first activation.
    pub fn engine_at(&self, time: u64) -> Option<&Engine> {
        let begun = self.engines.iter().rev().find(|(from, _)| *from <= time);
        begun.map(|(_, engine)| engine)
    }

    /// The engines with the block times that they begin at, earliest first.
    pub fn engines(&self) -> &[(u64, Engine)] {
        &self.engines
    }

    fn evm<DB: Database>(&self, db: DB, env: EvmEnv) -> residue_engine::FieldEvm<FieldContext<DB>, (), PrecompilesMap> {
        let EvmEnv { cfg_env, block_env } = env;
        let spec = cfg_env.spec;
        let engine = self.engine_at(block_env.timestamp.saturating_to()).unwrap_or(&self.plain);
        let context = Context::<BlockEnv, TxEnv, CfgEnv, DB, Journal<DB>, ()>::new(db, spec);
        engine.evm(context.with_block(block_env).with_cfg(cfg_env)).with_precompiles(precompiles(spec))
    }
}

/// The precompiles of a fork, to be changed and given to an EVM.
pub fn precompiles(spec: SpecId) -> PrecompilesMap {
    PrecompilesMap::from_static(Precompiles::new(PrecompileSpecId::from_spec_id(spec)))
}

impl EvmFactory for FieldEvmFactory {
    type Evm<DB: Database, I: Inspector<FieldContext<DB>>> = FieldBlockEvm<DB, I>;
    type Context<DB: Database> = FieldContext<DB>;
    type Tx = TxEnv;
    type Error<DBError: DBErrorMarker> = EVMError<DBError>;
    type HaltReason = HaltReason;
    type Spec = SpecId;
    type BlockEnv = BlockEnv;
    type Precompiles = PrecompilesMap;

    fn create_evm<DB: Database>(&self, db: DB, env: EvmEnv) -> FieldBlockEvm<DB, NoOpInspector> {
        FieldBlockEvm::new(self.evm(db, env), NoOpInspector {}, false)
    }

    fn create_evm_with_inspector<DB: Database, I: Inspector<FieldContext<DB>>>(
        &self,
        db: DB,
        env: EvmEnv,
        inspector: I,
    ) -> FieldBlockEvm<DB, I> {
        FieldBlockEvm::new(self.evm(db, env), inspector, true)
    }
}

/// Requirements of reth on a factory (`reth-ethereum-evm`, `EthEvmConfig`'s `ConfigureEvm`), for transactions with and
/// without sidecars. A factory that does not meet them does not compile.
const _: () = {
    use alloy_consensus::{EthereumTxEnvelope, TxEip4844, TxEnvelope};
    use alloy_evm::block::BlockExecutorFactory;
    use alloy_evm::eth::EthBlockExecutorFactory;
    use alloy_evm::eth::receipt_builder::AlloyReceiptBuilder;
    use alloy_evm::{FromRecoveredTx, FromTxWithEncoded, TransactionEnvMut};

    const fn fits_reth<F>()
    where
        F: EvmFactory<
                Tx: TransactionEnvMut
                        + FromRecoveredTx<EthereumTxEnvelope<TxEip4844>>
                        + FromTxWithEncoded<EthereumTxEnvelope<TxEip4844>>
                        + FromRecoveredTx<TxEnvelope>
                        + FromTxWithEncoded<TxEnvelope>,
                Spec = SpecId,
                BlockEnv = BlockEnv,
                Precompiles = PrecompilesMap,
            > + Clone
            + std::fmt::Debug
            + Send
            + Sync
            + Unpin
            + 'static,
    {
    }
    const fn executes_blocks<F: BlockExecutorFactory>() {}
    fits_reth::<FieldEvmFactory>();
    executes_blocks::<EthBlockExecutorFactory<AlloyReceiptBuilder, crate::ChainRules, FieldEvmFactory>>();
};
