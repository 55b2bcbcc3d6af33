//! Connections: accepted up to a limit per address, closed when idle, and ended within a deadline
//! at shutdown.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::client::Address;
use crate::places::{Place, Places};

/// How long a client may take to send the header of a request, and how long a connection without
/// requests stays open.
const HEADER_TIME: Duration = Duration::from_secs(15);

/// How long pending requests may take at shutdown.
pub(crate) const CLOSING_TIME: Duration = Duration::from_secs(10);

/// The maximum size of a request header, in bytes.
const HEADER_BYTES: usize = 32 * 1024;

/// The pause after a connection could not be accepted, usually because too many files are open.
const PAUSE: Duration = Duration::from_millis(50);

/// The connections that are open at shutdown.
pub(crate) struct Connections {
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl Connections {
    /// Waits for pending responses, for at most [`CLOSING_TIME`].
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Serves until `stop` completes.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    places: Places,
    is_proxy: impl Fn(SocketAddr) -> bool,
    tls: Option<TlsAcceptor>,
    stop: impl Future<Output = ()>,
) -> Connections {
    let (tasks, closing) = (TaskTracker::new(), CancellationToken::new());
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => return Connections { tasks, closing },
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "Failed to accept a connection");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // A proxy's connections belong to many clients.
        let address = (!is_proxy(peer)).then(|| Address::new(peer.ip()));
        // Excess connections are closed at once, because a response would keep them open.
        let Ok(place) = places.take(address) else { continue };
        tasks.spawn(accept(stream, tls.clone(), peer, router.clone(), closing.clone(), place));
    }
}

/// Does the TLS handshake, if the server speaks TLS, and serves the connection.
async fn accept(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    peer: SocketAddr,
    router: Router,
    closing: CancellationToken,
    place: Place,
) {
    // Moves are small and urgent.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return connection(stream, peer, router, closing, place).await };
    tokio::select! {
        shaken = timeout(HEADER_TIME, tls.accept(stream)) => match shaken {
            Ok(Ok(stream)) => connection(stream, peer, router, closing, place).await,
            Ok(Err(error)) => tracing::debug!(%error, %peer, "A TLS handshake failed"),
            Err(_) => {}
        },
        () = closing.cancelled() => {}
    }
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    router: Router,
    closing: CancellationToken,
    _place: Place,
) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        respond(router.clone(), request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(HEADER_BYTES);
    let mut connection =
        pin!(builder.serve_connection(TokioIo::new(stream), service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let Ok(ended) = timeout(CLOSING_TIME, connection).await else {
                tracing::warn!(%peer, "Closed a connection with an unfinished request");
                return;
            };
            ended
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "A connection ended with an error");
    }
}

async fn respond(mut router: Router, request: Request<Incoming>) -> Result<Response, Infallible> {
    router.call(request).await
}

/// Raises the limit of open files, which bounds the number of connections, as far as the system
/// allows.
pub(crate) fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::debug!(%error, "The limit of open files stays as it is");
        }
    }
}
