//! The `residue-node` binary: a node of the command line, served until it is interrupted.

#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use residue_node::node::Node;
use residue_node::options::{Options, mine_every};
use residue_node::server::serve;
use tracing_subscriber::EnvFilter;

/// What the shell is told when the command line, a file or the data folder is at fault.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let options = Options::parse();
    let default = if options.quiet { "warn" } else { "info" };
    let filter = EnvFilter::try_from_env("RESIDUE_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false).init();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(USAGE)
        }
    }
}

fn run(options: &Options) -> anyhow::Result<()> {
    let node = Arc::new(options.node()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let address = SocketAddr::new(options.host, options.port);
        let served = serve(Arc::clone(&node), address).await;
        let (bound, handle) = served.map_err(|error| anyhow::anyhow!("--port {}: {error}", options.port))?;
        if !options.quiet {
            welcome(&node);
        }
        println!("Listening on {bound}");
        if let Some(seconds) = options.block_time {
            tokio::spawn(mine_every(Arc::clone(&node), seconds));
        }
        interrupted().await;
        let _ = handle.stop();
        handle.stopped().await;
        // A block that is being written is written to its end.
        drop(node.lock());
        tracing::info!("stopped");
        Ok(())
    })
}

/// Says which accounts there are.
fn welcome(node: &Node) {
    for (address, secret) in node.keys.secrets() {
        println!("{address} {secret}");
    }
    println!("Chain ID: {}", node.chain.rules().chain_id());
    for (time, engine) in node.chain.factory().engines() {
        let config = engine.config();
        println!("Revision: {} with schedule {} from block time {time}", config.revision, config.schedule.name());
    }
}

async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
