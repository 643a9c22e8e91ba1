//! The `residue-node` binary: a node of the command line, served until it is interrupted.

#![forbid(unsafe_code)]

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use residue_node::node::Node;
use residue_node::options::Options;
use residue_node::server::serve;
use residue_workbench::output;
use tracing_subscriber::EnvFilter;

/// Bytes of the stack of a thread.
const STACK_BYTES: usize = 32 << 20;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => return output::usage(&error.to_string(), error.use_stderr(), || error.print()),
    };
    match log(&options).and_then(|()| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        // The command line, a file or the data folder is at fault, or stdout cannot be written.
        Err(error) => output::refused(&format!("{error:#}")),
    }
}

/// Writes what happens to standard error, as `RESIDUE_LOG` says how much of it; in colour on a terminal that has some.
fn log(options: &Options) -> anyhow::Result<()> {
    let default = if options.quiet { "warn" } else { "info" };
    let filter = match std::env::var("RESIDUE_LOG") {
        Ok(given) => EnvFilter::try_new(&given).map_err(|error| anyhow::anyhow!("RESIDUE_LOG={given}: {error}"))?,
        Err(_) => EnvFilter::new(default),
    };
    let has_colour = std::io::stderr().is_terminal() && output::colours_allowed();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A log that cannot be written has nowhere to say so.
    log.with_target(false).with_ansi(has_colour).log_internal_errors(false).init();
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
            say(&welcome(&node))?;
            say(&format!("Listening on {bound}\n"))?;
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

/// Prints a text. Its reader may have gone away.
fn say(text: &str) -> anyhow::Result<()> {
    output::to_stdout(text.as_bytes()).context("writing to stdout")
}

/// The accounts that there are, and the rules.
fn welcome(node: &Node) -> String {
    let mut text: String = node.keys.secrets().map(|(address, secret)| format!("{address} {secret}\n")).collect();
    text += &format!("Chain ID: {}\n", node.chain.rules().chain_id());
    for (time, engine) in node.chain.factory().engines() {
        let (revision, schedule) = (engine.config().revision, engine.config().schedule.name());
        text += &format!("Revision: {revision} with schedule {schedule} from block time {time}\n");
    }
    text
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
