//! The `residue-node` binary: a node of the command line, served until it is interrupted.

#![forbid(unsafe_code)]

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use residue_node::node::Node;
use residue_node::options::Options;
use residue_node::server::serve;
use tracing_subscriber::EnvFilter;

/// What the shell is told when the command line, a file or the data folder is at fault.
const USAGE: u8 = 2;
/// Bytes of the stack of a thread.
const STACK_BYTES: usize = 32 << 20;

fn main() -> ExitCode {
    let options = Options::parse();
    match log(&options).and_then(|()| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(USAGE)
        }
    }
}

/// Writes what happens to standard error, as `RESIDUE_LOG` says how much of it; in colour on a terminal that has some.
fn log(options: &Options) -> anyhow::Result<()> {
    let default = if options.quiet { "warn" } else { "info" };
    let filter = match std::env::var("RESIDUE_LOG") {
        Ok(given) => EnvFilter::try_new(&given).map_err(|error| anyhow::anyhow!("RESIDUE_LOG={given}: {error}"))?,
        Err(_) => EnvFilter::new(default),
    };
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_colour = std::io::stderr().is_terminal()
        && !is_set("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|name| name != "dumb");
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    log.with_target(false).with_ansi(has_colour).init();
    Ok(())
}

fn run(options: &Options) -> anyhow::Result<()> {
    let node = Arc::new(options.node()?);
    // Traces are as deep as calls, and written down by recursion.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK_BYTES).build()?;
    runtime.block_on(async {
        let address = SocketAddr::new(options.host, options.port);
        let served = serve(Arc::clone(&node), address).await;
        let (bound, handle) = served.map_err(|error| anyhow::anyhow!("--port {}: {error}", options.port))?;
        if !options.quiet {
            welcome(&node);
            println!("Listening on {bound}");
        }
        tokio::spawn(Arc::clone(&node).mine_by_the_clock());
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
