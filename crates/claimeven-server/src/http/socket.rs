//! Live play: a WebSocket per game and visitor.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use tracing::Instrument;

use super::extract::{Id, read_json};
use super::guard::Bucket;
use super::listener::ReadRate;
use super::request::ClientIp;
use super::view::GameView;
use crate::App;
use crate::client::Client;
use crate::error::{Error, ErrorView};
use crate::live_games::{GameEvent, LiveGame, Subscription};
use crate::quota::Permit;
use crate::visitor::Visitor;

/// A message from the client.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
enum ClientMessage {
    Move { column: u64, ply: u64 },
    Ping {},
}

/// A message to the client.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ServerMessage {
    Game { game: Box<GameView> },
    Refused { error: String, game: Option<Box<GameView>> },
    Pong,
    Bye { reason: &'static str },
}

/// Follows and plays a game over a WebSocket.
///
/// The server sends `{"type":"game","game":…}` at once and after each change,
/// `{"type":"thinking","player","depth","nodes","pv","ms"}` while an agent thinks,
/// `{"type":"refused","error","game"}` for a refused move, `{"type":"pong"}` and
/// `{"type":"bye","reason"}`. The client sends `{"type":"move","column","ply"}` and `{"type":"ping"}`.
#[utoipa::path(get, path = "/api/games/{id}/live", params(("id" = String, Path)), responses(
    (status = 101, description = "Switching to the WebSocket protocol."), (status = 400, body = ErrorView),
    (status = 404, body = ErrorView), (status = 503, body = ErrorView),
))]
#[allow(clippy::too_many_arguments, reason = "each is an extractor")]
pub(crate) async fn live(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
    Extension(client): Extension<Client>,
    Extension(ClientIp(ip)): Extension<ClientIp>,
    Extension(read_rate): Extension<ReadRate>,
    Id(id): Id,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Error> {
    let live = app.games.get(&id, &client).await?;
    let upgrade = upgrade.map_err(|_| Error::Bad("This address expects a WebSocket".to_owned()))?;
    let permit = app.guard.socket(&client)?;
    let max = app.config.message_bytes;
    let max = if max == 0 { usize::MAX } else { max };
    let upgrade = upgrade.max_message_size(max).max_frame_size(max);
    // Empty frames are read in a loop that nothing else bounds.
    let upgrade = upgrade.read_buffer_size(READ_BYTES);
    read_rate.limit(usize::from(MESSAGES_PER_SECOND) * max.clamp(READ_BYTES / 2, 1 << 20));
    let span = tracing::Span::current();
    let follow = async move |socket| {
        let subscription = app.games.enter(&live, &who);
        let connection =
            Connection { app, live, who, ip, _subscription: subscription, _permit: permit };
        connection.run(socket).await;
    };
    Ok(upgrade.on_upgrade(move |socket| follow(socket).instrument(span)))
}

/// A visitor's WebSocket to a game.
struct Connection {
    app: Arc<App>,
    live: Arc<LiveGame>,
    who: Visitor,
    ip: IpAddr,
    _subscription: Subscription,
    _permit: Permit,
}

/// How much of a socket is read at once, in bytes.
const READ_BYTES: usize = 4096;

/// How many messages a client may send, in a burst and per second.
const MESSAGE_BURST: f64 = 20.0;
const MESSAGES_PER_SECOND: u16 = 10;

/// The interval of pings.
const PING_INTERVAL: Duration = Duration::from_secs(15);

/// How long a client may be silent before it counts as disconnected.
const MAX_SILENCE: Duration = Duration::from_secs(40);

impl Connection {
    async fn run(self, mut socket: WebSocket) {
        let mut events = self.live.subscribe();
        let mut ping = tokio::time::interval(PING_INTERVAL);
        let mut last_received = Instant::now();
        // Enough for fast play.
        let mut bucket = Bucket::full(MESSAGE_BURST);
        let mut sent = self.send(&mut socket, self.game()).await;
        while sent.is_ok() {
            sent = tokio::select! {
                message = socket.recv() => {
                    last_received = Instant::now();
                    // Pings and pongs count, too.
                    if bucket.take(1.0, MESSAGES_PER_SECOND.into(), MESSAGE_BURST).is_err() {
                        return self.close(socket, close_code::POLICY, "too many messages").await;
                    }
                    match message {
                        Some(Ok(Message::Text(text))) => {
                            if self.app.bans.contains(self.ip) {
                                return self.close(socket, close_code::POLICY, "banned").await;
                            }
                            match self.respond(text.as_bytes()).await {
                                Some(message) => self.send(&mut socket, message).await,
                                None => Ok(()),
                            }
                        }
                        Some(Ok(Message::Binary(_))) => {
                            return self.close(socket, close_code::UNSUPPORTED, "text only").await;
                        }
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
                        Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                    }
                }
                event = events.recv() => match event {
                    // A slow client needs only the latest state.
                    Ok(GameEvent::Changed) | Err(RecvError::Lagged(_)) => {
                        self.send(&mut socket, self.game()).await
                    }
                    Ok(GameEvent::Thought(json)) => {
                        send(&mut socket, Message::text(&*json)).await
                    }
                    Ok(GameEvent::Gone(reason)) => {
                        let _ = self.send(&mut socket, ServerMessage::Bye { reason }).await;
                        return self.close(socket, close_code::AWAY, reason).await;
                    }
                    Err(RecvError::Closed) => return,
                },
                _ = ping.tick() => {
                    if last_received.elapsed() > MAX_SILENCE {
                        return;
                    }
                    if self.app.bans.contains(self.ip) {
                        return self.close(socket, close_code::POLICY, "banned").await;
                    }
                    send(&mut socket, Message::Ping(Bytes::new())).await
                }
            };
        }
    }

    async fn respond(&self, text: &[u8]) -> Option<ServerMessage> {
        match read_json(text) {
            Ok(ClientMessage::Ping {}) => Some(ServerMessage::Pong),
            Ok(ClientMessage::Move { column, ply }) => {
                let who = self.who.clone();
                let change = self
                    .app
                    .games
                    .change(&self.live, move |session, now| session.play(&who, column, ply, now));
                // An accepted move reaches everyone as an event.
                change.await.err().map(|error| self.refused(&error))
            }
            Err(error) => Some(self.refused(&error)),
        }
    }

    fn refused(&self, error: &Error) -> ServerMessage {
        if let Error::Database(cause) | Error::Internal(cause) = error {
            tracing::error!(cause, "Move failed");
        }
        let game = Some(Box::new(self.view()));
        ServerMessage::Refused { error: error.message(), game }
    }

    fn view(&self) -> GameView {
        GameView::of(&self.live, &self.app.config, &self.who)
    }

    fn game(&self) -> ServerMessage {
        ServerMessage::Game { game: Box::new(self.view()) }
    }

    async fn send(&self, socket: &mut WebSocket, message: ServerMessage) -> Result<(), ()> {
        let text = serde_json::to_string(&message).map_err(|_| ())?;
        send(socket, Message::text(text)).await
    }

    async fn close(&self, mut socket: WebSocket, code: u16, reason: &'static str) {
        let frame = CloseFrame { code, reason: reason.into() };
        let _ = send(&mut socket, Message::Close(Some(frame))).await;
    }
}

/// Sends a message, with a timeout for clients that do not read.
async fn send(socket: &mut WebSocket, message: Message) -> Result<(), ()> {
    match tokio::time::timeout(PING_INTERVAL, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_messages_are_refused_with_a_one_line_error() {
        let known = [
            r#"{"type":"move","column":4,"ply":12}"#,
            r#"{"ply":0,"column":1,"type":"move"}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"move","column":18446744073709551615,"ply":1}"#,
        ];
        crate::fuzz::fuzz(
            "socket-messages",
            &crate::fuzz::texts(&known),
            |input| match read_json::<ClientMessage>(input) {
                Ok(_) => true,
                Err(error) => {
                    assert_eq!(error.message().lines().count(), 1, "{}", error.message());
                    false
                }
            },
        );
    }
}
