//! Connections: accepted up to a limit per address, closed when idle, and ended within a deadline
//! at shutdown.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::{Method, Uri};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use super::guard::{Bucket, Recent};
use super::malformed::WithErrorBodies;
use crate::client::{Address, Client};
use crate::quota::{Permit, Quota};

/// How long a client may take to send the header of a request, and how long a connection without
/// requests stays open.
const HEADER_TIME: Duration = Duration::from_secs(15);

/// How many TLS handshakes an address may start, in a burst and per second: they cost the server more than
/// the client.
const HANDSHAKE_BURST: f64 = 400.0;
const HANDSHAKES_PER_SECOND: f64 = 40.0;

/// How long a client may go without reading what was sent to it.
const WRITE_TIME: Duration = Duration::from_secs(30);

/// How long pending requests may take at shutdown.
pub(crate) const CLOSING_TIME: Duration = Duration::from_secs(10);

/// The maximum size of a request header, in bytes.
const HEADER_BYTES: usize = 32 * 1024;

/// The pause after a failure to accept a connection, usually because too many files are open.
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
    quota: Quota,
    is_proxy: impl Fn(SocketAddr) -> bool,
    tls: Option<TlsAcceptor>,
    stop: impl Future<Output = ()>,
) -> Connections {
    let (tasks, closing) = (TaskTracker::new(), CancellationToken::new());
    let mut handshakes = Recent::new(Duration::from_mins(1));
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
        let client = Client { address, visitor: None };
        let Ok(permit) = quota.acquire(&client) else { continue };
        let may_handshake = |address: Address| {
            let bucket = handshakes.of(address, || Bucket::full(HANDSHAKE_BURST));
            bucket.take(1.0, HANDSHAKES_PER_SECOND, HANDSHAKE_BURST).is_ok()
        };
        if tls.is_some() && !address.is_none_or(may_handshake) {
            continue;
        }
        tasks.spawn(accept(stream, tls.clone(), peer, router.clone(), closing.clone(), permit));
    }
}

/// Performs the TLS handshake, if the server speaks TLS, and serves the connection.
async fn accept(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    peer: SocketAddr,
    router: Router,
    closing: CancellationToken,
    permit: Permit,
) {
    // Moves are small and urgent.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return connection(stream, peer, router, closing, permit).await };
    tokio::select! {
        handshake = timeout(HEADER_TIME, tls.accept(stream)) => match handshake {
            Ok(Ok(stream)) => connection(stream, peer, router, closing, permit).await,
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
    _permit: Permit,
) {
    let read_rate = ReadRate::default();
    let latest = Arc::<LatestRequest>::default();
    let request_line = Arc::clone(&latest);
    let stream = WithErrorBodies::new(LimitedStream::new(stream, WRITE_TIME, read_rate.clone()));
    let service = service_fn(move |mut request: Request<Incoming>| {
        *lock(&latest) = Some((request.method().clone(), request.uri().clone()));
        request.extensions_mut().insert(ConnectInfo(peer));
        request.extensions_mut().insert(read_rate.clone());
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
                let latest = lock(&request_line).clone();
                let request = latest.map(|(method, uri)| format!("{method} {}", uri.path()));
                let request = request.as_deref().unwrap_or("none");
                tracing::warn!(%peer, request, "Closed a connection that was not finished in time");
                return;
            };
            ended
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "A connection ended with an error");
    }
}

/// The maximum rate at which a connection is read, in bytes per second; 0 for no limit. Requests are
/// handled one after another, so only WebSockets need a limit.
#[derive(Clone, Default)]
pub(crate) struct ReadRate(Arc<AtomicUsize>);

impl ReadRate {
    pub(crate) fn limit(&self, bytes_per_second: usize) {
        self.0.store(bytes_per_second, Ordering::Relaxed);
    }

    fn get(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64
    }
}

/// A stream that is read at a limited rate, and on which writing fails if the client reads nothing for
/// some time.
struct LimitedStream<S> {
    stream: S,
    time: Duration,
    /// Set while the client does not read.
    deadline: Option<Pin<Box<Sleep>>>,
    read_rate: ReadRate,
    /// Set while nothing may be read.
    pause: Option<Pin<Box<Sleep>>>,
}

impl<S> LimitedStream<S> {
    fn new(stream: S, time: Duration, read_rate: ReadRate) -> LimitedStream<S> {
        LimitedStream { stream, time, deadline: None, read_rate, pause: None }
    }

    /// Turns a pending write into an error after the deadline.
    fn limit<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let sleep = || Box::pin(tokio::time::sleep(self.time));
        let deadline = self.deadline.get_or_insert_with(sleep);
        deadline.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LimitedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        let (bytes, rate) = (buffer.filled().len() - before, self.read_rate.get());
        if bytes > 0 && rate > 0.0 {
            let pause = Duration::from_secs_f64(bytes as f64 / rate);
            self.pause = Some(Box::pin(tokio::time::sleep(pause)));
        }
        Poll::Ready(read)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LimitedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limit(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.limit(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.limit(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.limit(context, shut)
    }
}

/// The method and address of the latest request of a connection.
type LatestRequest = Mutex<Option<(Method, Uri)>>;

fn lock(latest: &LatestRequest) -> MutexGuard<'_, Option<(Method, Uri)>> {
    latest.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn respond(mut router: Router, request: Request<Incoming>) -> Result<Response, Infallible> {
    router.call(request).await
}

/// Raises the limit of open files, which bounds the number of connections, as far as the system
/// allows. Returns the limit, if there is one.
pub(crate) fn raise_file_limit() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::debug!(%error, "Failed to raise the limit of open files");
        }
        getrlimit(Resource::Nofile).current
    }
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_client_that_does_not_read_is_disconnected() {
        const TIME: Duration = Duration::from_secs(2);
        let (ours, mut theirs) = tokio::io::duplex(1000);
        let mut ours = LimitedStream::new(ours, TIME, ReadRate::default());
        // A slow reader is not disconnected.
        let slow = async {
            for _ in 0..25 {
                tokio::time::sleep(TIME / 20).await;
                theirs.read_exact(&mut [0; 100]).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(ours.write_all(&[1; 3000]), slow);
        written.unwrap();
        let started = Instant::now();
        let error = ours.write_all(&[1; 3000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() >= TIME, "{:?}", started.elapsed());
    }

    #[tokio::test]
    async fn a_client_is_read_at_a_limited_rate() {
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let read_rate = ReadRate::default();
        let mut ours = LimitedStream::new(ours, WRITE_TIME, read_rate.clone());
        theirs.write_all(&vec![1; 100_000]).await.unwrap();
        let mut read = vec![0; 50_000];
        ours.read_exact(&mut read).await.unwrap();
        read_rate.limit(10_000);
        let started = Instant::now();
        for _ in 0..21 {
            ours.read_exact(&mut read[..1000]).await.unwrap();
        }
        assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
    }
}
