//! HTTP and WebSocket on one port, with bounds on all that a client may ask for.

use std::net::SocketAddr;
use std::sync::Arc;

use jsonrpsee::server::{
    BatchRequestConfig, PendingSubscriptionSink, RandomIntegerIdProvider, RpcModule, Server, ServerConfig,
    ServerHandle, SubscriptionMessage,
};
use jsonrpsee::types::{ErrorObjectOwned, Params as RpcParams};
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;
use tower_http::cors::{Any, CorsLayer};

use crate::gate::Gate;
use crate::node::{Event, Node};
use crate::rpc::error::RpcError;
use crate::rpc::params::Params;
use crate::rpc::{self, filters, format};

/// Bytes of a request.
const REQUEST_BYTES_MAX: u32 = 16 << 20;
/// Bytes of an answer.
const RESPONSE_BYTES_MAX: u32 = 64 << 20;
/// Requests of a batch.
const BATCH_MAX: u32 = 1000;
/// Connections.
const CONNECTIONS_MAX: u32 = 256;
/// Subscriptions of a connection.
const SUBSCRIPTIONS_MAX: u32 = 64;
/// Messages that wait for a slow reader.
const MESSAGES_MAX: u32 = 1024;

/// Beginnings of the names of methods that execute code, and make answers as long as what it did.
const EXECUTING: &[&str] =
    &["eth_call", "eth_estimate", "eth_createAccess", "eth_simulate", "debug_trace", "trace_", "residue_"];

/// Serves a node until the handle is stopped.
pub async fn serve(node: Arc<Node>, address: SocketAddr) -> Result<(SocketAddr, ServerHandle), std::io::Error> {
    let config = ServerConfig::builder()
        .max_request_body_size(REQUEST_BYTES_MAX)
        .max_response_body_size(RESPONSE_BYTES_MAX)
        .max_connections(CONNECTIONS_MAX)
        .max_subscriptions_per_connection(SUBSCRIPTIONS_MAX)
        .set_message_buffer_capacity(MESSAGES_MAX)
        .set_batch_request_config(BatchRequestConfig::Limit(BATCH_MAX))
        .set_id_provider(HexIds)
        .build();
    let cors = CorsLayer::new().allow_origin(Any).allow_methods(Any).allow_headers(Any);
    let middleware = tower::ServiceBuilder::new().layer(cors);
    let server = Server::builder().set_config(config).set_http_middleware(middleware).build(address).await?;
    let bound = server.local_addr()?;
    let module = module(node).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok((bound, server.start(module)))
}

/// Subscriptions are named by hexadecimal numbers, as geth's.
#[derive(Debug)]
struct HexIds;

impl jsonrpsee::server::IdProvider for HexIds {
    fn next_id(&self) -> jsonrpsee::types::SubscriptionId<'static> {
        match RandomIntegerIdProvider.next_id() {
            jsonrpsee::types::SubscriptionId::Num(number) => format!("{number:#x}").into(),
            other => other,
        }
    }
}

fn error_object(error: RpcError) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(error.code, error.message, error.data)
}

/// The parameters of a request; an object counts as one parameter.
fn params(given: &RpcParams<'_>) -> Result<Params, RpcError> {
    let value: Option<Value> = given.parse().map_err(|error| RpcError::params(error.message().to_owned()))?;
    Ok(Params(match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(all)) => all,
        Some(other) => vec![other],
    }))
}

fn module(node: Arc<Node>) -> Result<RpcModule<Node>, jsonrpsee::core::RegisterMethodError> {
    let mut module = RpcModule::from_arc(node);
    let gate = Arc::new(Gate::new(std::thread::available_parallelism().map_or(1, usize::from)));
    for (name, method) in rpc::methods() {
        let gate = EXECUTING.iter().any(|beginning| name.starts_with(beginning)).then(|| Arc::clone(&gate));
        module.register_blocking_method(name, move |given, node, _| {
            let _inside = gate.as_ref().map(|gate| gate.enter());
            let answer = params(&given).and_then(|params| method(&node, &params));
            if let Err(error) = &answer {
                tracing::debug!(method = name, code = error.code, error.message, "refused");
            }
            answer.map_err(error_object)
        })?;
    }
    module.register_subscription(
        "eth_subscribe",
        "eth_subscription",
        "eth_unsubscribe",
        |given, sink, node, _| async move {
            let kind = params(&given).and_then(|params| Kind::of(&params));
            match kind {
                Ok(kind) => follow(sink, node, kind).await,
                Err(error) => sink.reject(error_object(error)).await,
            }
        },
    )?;
    Ok(module)
}

/// What a subscription wants.
enum Kind {
    Heads,
    Logs(Box<filters::LogFilter>),
    Pending { whole: bool },
    Nothing,
}

impl Kind {
    fn of(params: &Params) -> Result<Self, RpcError> {
        Ok(match params.get::<String>(0)?.as_str() {
            "newHeads" => Kind::Heads,
            "logs" => Kind::Logs(Box::new(filters::LogFilter::of(params, 1)?)),
            "newPendingTransactions" => Kind::Pending { whole: params.find(1)?.unwrap_or(false) },
            "syncing" => Kind::Nothing,
            other => return Err(RpcError::params(format!("no \"{other}\" subscription in eth namespace"))),
        })
    }

    /// What an event is to the subscription.
    fn messages(&self, node: &Node, event: &Event) -> Result<Vec<Value>, RpcError> {
        let mut found = Vec::new();
        match (self, event) {
            (Kind::Heads, Event::Block(number)) => {
                if let Some(header) = node.chain.store().header(*number)? {
                    let hash = header.hash_slow();
                    found.push(Value::Object(format::header_fields(&header, Some(hash))));
                }
            }
            (Kind::Logs(filter), Event::Block(number)) => filters::logs_of_block(node, *number, filter, &mut found)?,
            (Kind::Pending { whole: false }, Event::Pending(hash)) => found.push(format::bytes(hash)),
            (Kind::Pending { whole: true }, Event::Pending(hash)) => {
                found.push(rpc::answer(node, "eth_getTransactionByHash", &Params(vec![format::bytes(hash)]))?);
            }
            _ => {}
        }
        Ok(found)
    }
}

async fn follow(sink: PendingSubscriptionSink, node: Arc<Node>, kind: Kind) {
    let mut events = node.events();
    let Ok(sink) = sink.accept().await else { return };
    let name = sink.method_name();
    loop {
        let event = tokio::select! {
            () = sink.closed() => return,
            event = events.recv() => event,
        };
        let event = match event {
            Ok(event) => event,
            // What a reader was too slow for is lost to it; it can ask for the blocks.
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let Ok(messages) = kind.messages(&node, &event) else { continue };
        for message in messages {
            let Ok(message) = SubscriptionMessage::new(name, sink.subscription_id(), &message) else { continue };
            if sink.send(message).await.is_err() {
                return;
            }
        }
    }
}
