//! Requests that are not valid HTTP. They never reach the router: `hyper` answers them itself, without
//! a body, so the body is added on the way out.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream on which error responses without a body get the JSON body of all other errors.
pub(crate) struct WithErrorBodies<S> {
    stream: S,
    /// What is written instead of the response, and how much of it has been written.
    replacement: Option<(Vec<u8>, usize)>,
}

impl<S> WithErrorBodies<S> {
    pub(crate) fn new(stream: S) -> WithErrorBodies<S> {
        WithErrorBodies { stream, replacement: None }
    }
}

/// The response to write instead of one without a body; `None` for all other bytes.
fn with_body(response: &[u8]) -> Option<Vec<u8>> {
    const EMPTY: &str = "content-length: 0\r\n";
    let status = response.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let message = match status {
        b"400" => "The request is not valid HTTP",
        b"414" => "The address is too long",
        b"431" => "The headers are too large",
        _ => return None,
    };
    let head = std::str::from_utf8(response).ok()?;
    if !head.ends_with("\r\n\r\n") || !head.contains(EMPTY) {
        return None;
    }
    let body = serde_json::json!({ "error": message }).to_string();
    let length = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    Some((head.replacen(EMPTY, &length, 1) + &body).into_bytes())
}

impl<S: AsyncRead + Unpin> AsyncRead for WithErrorBodies<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WithErrorBodies<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let WithErrorBodies { stream, replacement } = &mut *self;
        if replacement.is_none() {
            *replacement = with_body(bytes).map(|response| (response, 0));
        }
        let Some((response, written)) = replacement else {
            return Pin::new(stream).poll_write(context, bytes);
        };
        while *written < response.len() {
            match ready!(Pin::new(&mut *stream).poll_write(context, &response[*written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => *written += count,
            }
        }
        *replacement = None;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match slices {
            [bytes] => self.poll_write(context, bytes),
            slices => Pin::new(&mut self.stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_without_a_body_are_changed() {
        let head = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n";
        let changed = with_body(format!("{head}content-length: 0\r\n\r\n").as_bytes()).unwrap();
        let changed = String::from_utf8(changed).unwrap();
        let (head, body) = changed.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("connection: close") && head.contains("application/json"), "{head}");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
        for kept in [
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
            "HTTP/1.1 4",
            "",
        ] {
            assert_eq!(with_body(kept.as_bytes()), None, "{kept}");
        }
    }
}
