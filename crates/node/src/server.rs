//! HTTP and WebSocket on one port, with bounds on all that a client may ask for.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use alloy_primitives::bytes::Bytes;
use jsonrpsee::core::BoxError;
use jsonrpsee::core::middleware::{Batch, BatchEntry, Notification, RpcServiceBuilder, RpcServiceT};
use jsonrpsee::server::{
    BatchRequestConfig, HttpBody, HttpRequest, HttpResponse, MethodResponse, PendingSubscriptionSink,
    RandomIntegerIdProvider, RpcModule, Server, ServerConfig, ServerHandle, SubscriptionMessage, http,
};
use jsonrpsee::types::{ErrorObjectOwned, Params as RpcParams, Request};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::sync::broadcast::error::RecvError;
use tower_http::cors::{Any, CorsLayer};

use crate::envelope::{ANSWER_BYTES_MAX, BATCH_MAX, Served};
use crate::node::{Event, Node};
use crate::rpc::error::RpcError;
use crate::rpc::params::Params;
use crate::rpc::{self, filters, format};

/// Bytes of a request.
const REQUEST_BYTES_MAX: u32 = 16 << 20;
/// Connections.
const CONNECTIONS_MAX: u32 = 256;
/// Requests over HTTP that are answered at a time.
const REQUESTS_MAX: usize = 256;
/// Subscriptions of a connection.
const SUBSCRIPTIONS_MAX: u32 = 64;
/// Messages that wait for a slow reader.
const MESSAGES_MAX: u32 = 1024;

/// Serves a node until the handle is stopped.
pub async fn serve(node: Arc<Node>, address: SocketAddr) -> Result<(SocketAddr, ServerHandle), std::io::Error> {
    let config = ServerConfig::builder()
        .max_request_body_size(REQUEST_BYTES_MAX)
        .max_response_body_size(ANSWER_BYTES_MAX as u32) // 64 MiB.
        .max_connections(CONNECTIONS_MAX)
        .max_subscriptions_per_connection(SUBSCRIPTIONS_MAX)
        .set_message_buffer_capacity(MESSAGES_MAX)
        .set_batch_request_config(BatchRequestConfig::Limit(BATCH_MAX as u32))
        .set_id_provider(HexIds)
        .build();
    let cors = CorsLayer::new().allow_origin(Any).allow_methods(Any).allow_headers(Any);
    let served = Served::new(Arc::clone(&node));
    let middleware = tower::ServiceBuilder::new().layer(cors).layer(HttpLayer::new(served.clone()));
    let calls = served.clone();
    let messages = RpcServiceBuilder::new().layer_fn(move |inner| Notifications { inner, served: calls.clone() });
    let server = Server::builder().set_config(config).set_http_middleware(middleware);
    let server = server.set_rpc_middleware(messages).build(address).await?;
    let bound = server.local_addr()?;
    let module = module(node, &served).map_err(|error| std::io::Error::other(error.to_string()))?;
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

/// Answers HTTP requests: JSON-RPC in the body of a POST here, all else by the server below.
#[derive(Debug, Clone)]
struct HttpLayer {
    served: Served,
    places: Arc<Semaphore>,
}

impl HttpLayer {
    fn new(served: Served) -> Self {
        Self { served, places: Semaphore::new(REQUESTS_MAX).into() }
    }
}

impl<S> tower::Layer<S> for HttpLayer {
    type Service = Http<S>;

    fn layer(&self, inner: S) -> Http<S> {
        Http { inner, layer: self.clone() }
    }
}

/// See [`HttpLayer`].
#[derive(Debug, Clone)]
struct Http<S> {
    inner: S,
    layer: HttpLayer,
}

type Answering = Pin<Box<dyn Future<Output = Result<HttpResponse, BoxError>> + Send>>;

impl<S, B> tower::Service<HttpRequest<B>> for Http<S>
where
    S: tower::Service<HttpRequest<B>, Response = HttpResponse, Error = BoxError>,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = HttpResponse;
    type Error = BoxError;
    type Future = Answering;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: HttpRequest<B>) -> Answering {
        if request.method().as_str() != "POST" || !http::content_type_is_json(&request) {
            return Box::pin(self.inner.call(request));
        }
        let HttpLayer { served, places } = self.layer.clone();
        Box::pin(async move {
            let Ok(_place) = places.try_acquire() else { return Ok(http::response::too_many_requests()) };
            let Some(body) = whole(request.into_body()).await? else {
                return Ok(http::response::too_large(REQUEST_BYTES_MAX));
            };
            Ok(match served.answer(&body).await {
                Some(answer) => http::response::ok_response(answer),
                // Notifications only.
                None => HttpResponse::new(HttpBody::empty()),
            })
        })
    }
}

/// The bytes of a body; none if there are too many.
async fn whole<B>(body: B) -> Result<Option<Vec<u8>>, BoxError>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let mut body = std::pin::pin!(body);
    let mut read = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await {
        if let Ok(bytes) = frame.map_err(Into::into)?.into_data() {
            if read.len() + bytes.len() > REQUEST_BYTES_MAX as usize {
                return Ok(None);
            }
            read.extend_from_slice(&bytes);
        }
    }
    Ok(Some(read))
}

/// Carries out notifications over WebSocket, which jsonrpsee drops.
#[derive(Debug, Clone)]
struct Notifications<S> {
    inner: S,
    served: Served,
}

impl<S> Notifications<S> {
    fn carry_out(&self, notification: &Notification<'_>) {
        let given = RpcParams::new(notification.params().as_ref().map(|given| given.get()));
        let (served, method) = (self.served.clone(), notification.method_name().to_owned());
        if let Ok(params) = params(&given) {
            drop(tokio::task::spawn_blocking(move || served.call(&method, &params)));
        }
    }
}

impl<S> RpcServiceT for Notifications<S>
where
    S: RpcServiceT<
            MethodResponse = MethodResponse,
            NotificationResponse = MethodResponse,
            BatchResponse = MethodResponse,
        > + Send
        + Sync
        + 'static,
{
    type MethodResponse = MethodResponse;
    type NotificationResponse = MethodResponse;
    type BatchResponse = MethodResponse;

    fn call<'a>(&self, request: Request<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        self.inner.call(request)
    }

    fn batch<'a>(&self, batch: Batch<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        for entry in batch.iter() {
            if let Ok(BatchEntry::Notification(notification)) = entry {
                self.carry_out(notification);
            }
        }
        self.inner.batch(batch)
    }

    fn notification<'a>(&self, notification: Notification<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        self.carry_out(&notification);
        self.inner.notification(notification)
    }
}

fn module(node: Arc<Node>, served: &Served) -> Result<RpcModule<Node>, jsonrpsee::core::RegisterMethodError> {
    let mut module = RpcModule::from_arc(node);
    for (name, _) in rpc::methods() {
        let served = served.clone();
        module.register_blocking_method(name, move |given, _, _| {
            params(&given).and_then(|params| served.call(name, &params)).map_err(error_object)
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

/// Topic of a subscription.
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

    /// Messages of an event for the subscription.
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
