//! The `residue-node` binary: a node of the command line, served until it is interrupted.

#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use residue_node::node::Node;
use residue_node::options::{Options, mine_every};
use residue_node::server::serve;
use residue_workbench::output;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => return output::usage(&error.to_string(), error.use_stderr(), || error.print()),
    };
    let default = if options.quiet { "warn" } else { "info" };
    let filter = EnvFilter::try_from_env("RESIDUE_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    // A log that cannot be written has nowhere to say so.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    log.log_internal_errors(false).init();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        // The command line, a file or the data folder is at fault, or stdout cannot be written.
        Err(error) => output::refused(&format!("{error:#}")),
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
            say(&welcome(&node))?;
        }
        say(&format!("Listening on {bound}\n"))?;
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
