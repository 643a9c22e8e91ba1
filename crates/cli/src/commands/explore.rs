//! `residue explore`: the page of `site/`, served from its folder of static files and opened.

use std::env;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use serde_json::json;
use tiny_http::{Header, Method, Request, Response, Server};

use crate::output;
use crate::verdict::Verdict;

/// Options of `explore`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  residue explore --port 8080 --no-open

The page is a folder of static files, which any file server serves: `cargo run -p residue-site -- build` builds it.")]
pub struct ExploreArgs {
    /// The folder of the page; site/dist of the project that this program was built in, or is started in or below, without it.
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// The port, on this machine alone; 0 for any that is free.
    #[arg(long, value_name = "PORT", default_value_t = 4242)]
    pub port: u16,
    /// Do not open a browser.
    #[arg(long)]
    pub no_open: bool,
}

/// Serves the page until it is interrupted.
pub fn explore(args: &ExploreArgs, json: bool) -> Result<Verdict> {
    let folder = folder(args.folder.as_deref())?;
    let server = Server::http((Ipv4Addr::LOCALHOST, args.port))
        .map_err(|error| anyhow!("{error}"))
        .with_context(|| format!("listening on port {}", args.port))?;
    let address = server.server_addr().to_ip().context("the address of the server")?;
    let url = format!("http://{address}/");
    if json {
        output::json(&json!({ "url": url, "folder": folder.to_string_lossy() }))?;
    } else {
        output::result(&format!("{url} serves {}, until it is interrupted", folder.display()))?;
    }
    if !args.no_open && open::that_detached(&url).is_err() {
        output::message("note", "no browser could be started: open the address in one");
    }
    for request in server.incoming_requests() {
        // Who asked may have left.
        let _ = answer(request, &folder);
    }
    Ok(Verdict::Good)
}

/// The folder of the page, with its first file.
fn folder(given: Option<&Path>) -> Result<PathBuf> {
    let build = "`cargo run -p residue-site -- build` builds it";
    if let Some(given) = given {
        ensure!(
            given.join("index.html").is_file(),
            "{} is not the folder of a page: it has no index.html; {build}",
            given.display()
        );
        return Ok(given.to_owned());
    }
    let own = env::current_exe().ok().and_then(|own| own.canonicalize().ok());
    let mut starts = own.into_iter().chain(env::current_dir());
    let in_folders_around = |start: PathBuf| {
        let mut folders = start.ancestors().map(|around| around.join("site/dist"));
        folders.find(|folder| folder.join("index.html").is_file())
    };
    starts
        .find_map(in_folders_around)
        .with_context(|| format!("the page is not built: {build}, or --folder says where it is"))
}

/// Sends the file that a request names, if it is one of the folder.
fn answer(request: Request, folder: &Path) -> std::io::Result<()> {
    if !matches!(request.method(), Method::Get | Method::Head) {
        return request.respond(Response::empty(405));
    }
    let found = file(request.url()).and_then(|name| Some((content_type(&name)?, fs::read(folder.join(&name)).ok()?)));
    match found {
        None => request.respond(Response::from_string("there is no such file").with_status_code(404)),
        Some((kind, bytes)) => {
            let header = |name: &str, value: &str| Header::from_bytes(name, value).expect("both are ASCII");
            let response = Response::from_data(bytes)
                .with_header(header("Content-Type", kind))
                .with_header(header("Cache-Control", "no-cache"))
                .with_header(header("X-Content-Type-Options", "nosniff"));
            request.respond(response)
        }
    }
}

/// The name of a file in the folder, of the path of a URL; none of a path that leaves it, or that no file of a page has.
fn file(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next().unwrap_or_default().strip_prefix('/')?;
    let is_plain = |part: &str| {
        !part.starts_with('.')
            && !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    match path {
        "" => Some("index.html".to_owned()),
        path => path.split('/').all(is_plain).then(|| path.to_owned()),
    }
}

/// The type of a file of a page by the end of its name.
fn content_type(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_folder_have_names() {
        assert_eq!(file("/").as_deref(), Some("index.html"));
        assert_eq!(file("/assets/page-1_a.js?x=/../y").as_deref(), Some("assets/page-1_a.js"));
        for path in ["", "x", "/../x.js", "/a/../x.js", "/%2e%2e/x.js", "//x.js", "/.git/x.js", "/a\\b.js", "/a/"] {
            assert_eq!(file(path), None, "{path}");
        }
        assert_eq!(content_type("a.wasm"), Some("application/wasm"));
        assert_eq!(content_type("a.key"), None);
    }
}
