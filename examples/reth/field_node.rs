//! A reth whose blocks have the instructions of EIP-6690 from a block time on. reth is not on the crate registry, so this file is built by
//! nobody here; put it beside `examples/custom-evm` of reth with `residue-alloy`, `residue-engine` and `residue-isa` among the dependencies. What reth
//! asks of a factory is asserted in `crates/alloy/src/factory.rs`; the reth must be one that is built on alloy-evm 0.39 and revm 43.

use reth_ethereum::chainspec::ChainSpec;
use reth_ethereum::cli::interface::Cli;
use reth_ethereum::evm::EthEvmConfig;
use reth_ethereum::node::api::{FullNodeTypes, NodeTypes};
use reth_ethereum::node::builder::{BuilderContext, components::ExecutorBuilder};
use reth_ethereum::node::{EthereumAddOns, EthereumNode};
use reth_ethereum::EthPrimitives;
use residue_alloy::{Activation, FieldEvmFactory};
use residue_engine::EngineConfig;
use residue_isa::Revision;

/// Gives the node the factory.
#[derive(Debug, Clone)]
struct FieldExecutor(FieldEvmFactory);

impl<Node> ExecutorBuilder<Node> for FieldExecutor
where
    Node: FullNodeTypes<Types: NodeTypes<ChainSpec = ChainSpec, Primitives = EthPrimitives>>,
{
    type EVM = EthEvmConfig<ChainSpec, FieldEvmFactory>;

    async fn build_evm(self, context: &BuilderContext<Node>) -> eyre::Result<Self::EVM> {
        Ok(EthEvmConfig::new_with_evm_factory(context.chain_spec(), self.0))
    }
}

fn main() -> eyre::Result<()> {
    // 1,800,000,000: the block time of the transition.
    let engine = EngineConfig::default_for(Revision::Eip6690_2024);
    let factory = FieldEvmFactory::new([Activation { time: 1_800_000_000, engine }])?;
    Cli::parse_args().run(|builder, _| async move {
        let components = EthereumNode::components().executor(FieldExecutor(factory));
        let node = builder.with_types::<EthereumNode>().with_components(components);
        node.with_add_ons(EthereumAddOns::default()).launch().await?.wait_for_node_exit().await
    })
}
