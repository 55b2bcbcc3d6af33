//! A test server and its visitors.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use claimeven_server::{Config, Server};
use futures_util::{SinkExt, StreamExt};
use reqwest::header::{COOKIE, HeaderMap, SET_COOKIE};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Runs a test on SQLite and, if `CLAIMEVEN_TEST_POSTGRES` names a server, on PostgreSQL.
macro_rules! on_both_databases {
    ($(async fn $name:ident($server:ident: TestServer) $body:block)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                run(TestServer::sqlite(Config::default()).await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                match TestServer::postgres(Config::default()).await {
                    Some(server) => run(server).await,
                    None => println!("skipped: CLAIMEVEN_TEST_POSTGRES names no server"),
                }
            }

            async fn run($server: TestServer) $body
        }
    )*};
}
pub(crate) use on_both_databases;

/// A server with its own database.
pub(crate) struct TestServer {
    pub(crate) config: Config,
    pub(crate) addr: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<()>>,
    /// The folder of the database, deleted on drop.
    folder: Option<tempfile::TempDir>,
}

impl TestServer {
    /// With a new SQLite file.
    pub(crate) async fn sqlite(config: Config) -> TestServer {
        let folder = tempfile::tempdir().unwrap();
        let database = format!("sqlite:{}", folder.path().join("games.sqlite").display());
        TestServer::start(Config { database, ..config }, Some(folder)).await
    }

    /// With a new PostgreSQL database, if there is a server for it.
    pub(crate) async fn postgres(config: Config) -> Option<TestServer> {
        Some(TestServer::start(postgres_config(config).await?, None).await)
    }

    /// With the database in the configuration.
    pub(crate) async fn open(config: Config) -> TestServer {
        TestServer::start(config, None).await
    }

    async fn start(config: Config, folder: Option<tempfile::TempDir>) -> TestServer {
        let addr = SocketAddr::from(([127, 0, 0, 1], 0));
        let config = Config { addr, threads: 2, ..config };
        let server = Server::start(config.clone()).await.unwrap();
        let addr = server.addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(async move {
            let stopped = async move { drop(stopped.await) };
            server.run(stopped).await.unwrap();
        });
        TestServer { config, addr, stop: Some(stop), running: Some(running), folder }
    }

    /// Shuts the server down and starts another on the same database.
    pub(crate) async fn restart(self) -> TestServer {
        self.restart_after(Duration::ZERO).await
    }

    /// The same with a pause in between.
    pub(crate) async fn restart_after(self, down: Duration) -> TestServer {
        let (config, folder) = self.stop().await;
        tokio::time::sleep(down).await;
        TestServer::start(config, folder).await
    }

    /// The same with another configuration.
    pub(crate) async fn restart_with(self, change: impl FnOnce(&mut Config)) -> TestServer {
        let (mut config, folder) = self.stop().await;
        change(&mut config);
        TestServer::start(config, folder).await
    }

    /// Shuts the server down; returns its configuration and the folder of its database.
    pub(crate) async fn stop(mut self) -> (Config, Option<tempfile::TempDir>) {
        self.stop.take();
        self.running.take().unwrap().await.unwrap();
        (self.config.clone(), self.folder.take())
    }

    /// A new visitor.
    pub(crate) fn visitor(&self) -> Visitor {
        self.visitor_from("127.0.0.1")
    }

    /// A new visitor with one of this machine's addresses.
    pub(crate) fn visitor_from(&self, address: &str) -> Visitor {
        Visitor::new(self.addr, address)
    }
}

/// A configuration with a new PostgreSQL database, if there is a server for it.
pub(crate) async fn postgres_config(config: Config) -> Option<Config> {
    use sqlx::Connection;
    let server = std::env::var("CLAIMEVEN_TEST_POSTGRES").ok()?;
    let name = format!("claimeven_{}", fastrand::u64(..));
    let mut connection = sqlx::PgConnection::connect(&server).await.unwrap();
    let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
    sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
    let (start, rest) = server.split_at(server.rfind('/').unwrap() + 1);
    let options = rest.find('?').map_or("", |at| &rest[at..]);
    let database = format!("{start}{name}{options}");
    let (database_connections, secret) = (3, "a secret of this test".to_owned());
    Some(Config { database, database_connections, secret, ..config })
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.take();
    }
}

/// A browser.
pub(crate) struct Visitor {
    pub(crate) addr: SocketAddr,
    client: reqwest::Client,
    cookie: std::sync::Mutex<Option<String>>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The JSON of a response, which must have this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    /// The message of an error, which must have this status.
    #[track_caller]
    pub(crate) fn error(&self, status: u16) -> String {
        self.expect(status)["error"].as_str().expect("an error should have a message").to_owned()
    }
}

impl Visitor {
    /// A new visitor of a server, with one of this machine's addresses.
    pub(crate) fn new(addr: SocketAddr, address: &str) -> Visitor {
        let client = reqwest::Client::builder().local_address(Some(address.parse().unwrap()));
        Visitor { addr, client: client.build().unwrap(), cookie: std::sync::Mutex::default() }
    }

    /// The same browser at the address of another server.
    pub(crate) fn at_addr(&self, addr: SocketAddr) -> Visitor {
        let cookie = std::sync::Mutex::new(self.cookie());
        Visitor { addr, client: self.client.clone(), cookie }
    }

    pub(crate) fn cookie(&self) -> Option<String> {
        self.cookie.lock().unwrap().clone()
    }

    pub(crate) fn set_cookie(&self, cookie: &str) {
        *self.cookie.lock().unwrap() = Some(cookie.to_owned());
    }

    /// The same browser with another server.
    pub(crate) fn at(self, server: &TestServer) -> Visitor {
        Visitor { addr: server.addr, ..self }
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Reply {
        self.try_send(method, path, headers, body).await.unwrap()
    }

    /// Fails if the server is down.
    pub(crate) async fn try_send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Result<Reply, reqwest::Error> {
        let mut request = self.client.request(method, format!("http://{}{path}", self.addr));
        if let Some(cookie) = &*self.cookie.lock().unwrap() {
            request = request.header(COOKIE, cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let response = request.send().await?;
        if let Some(cookie) = response.headers().get(SET_COOKIE) {
            let cookie = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
            *self.cookie.lock().unwrap() = Some(cookie);
        }
        Ok(Reply {
            status: response.status(),
            headers: response.headers().clone(),
            text: response.text().await?,
        })
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        let json = [("content-type", "application/json")];
        self.send(Method::POST, path, &json, Some(body.to_string().into_bytes())).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, path, &[], None).await
    }

    /// Creates a game with two seats in which player 0 moves first; returns its id.
    pub(crate) async fn create(&self, seats: Value) -> String {
        self.create_with(json!({ "seats": seats, "first": 0 })).await
    }

    pub(crate) async fn create_with(&self, game: Value) -> String {
        let game = self.post("/api/games", game).await.expect(201);
        game["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn game(&self, id: &str) -> Value {
        self.get(&format!("/api/games/{id}")).await.expect(200)
    }

    pub(crate) async fn act(&self, id: &str, action: &str, body: Value) -> Reply {
        self.post(&format!("/api/games/{id}/{action}"), body).await
    }

    pub(crate) async fn play(&self, id: &str, column: u64, ply: u64) -> Reply {
        self.act(id, "moves", json!({ "column": column, "ply": ply })).await
    }

    /// Polls a game until it satisfies a condition.
    #[track_caller]
    pub(crate) fn wait(
        &self,
        id: &str,
        condition: impl Fn(&Value) -> bool,
    ) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            let started = Instant::now();
            loop {
                let game = self.game(id).await;
                if condition(&game) {
                    return game;
                }
                assert!(started.elapsed() < Duration::from_mins(1), "{caller}: still {game:#}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Follows a game.
    pub(crate) async fn follow(&self, id: &str) -> Socket {
        self.try_follow(id, &[]).await.expect("the socket should open")
    }

    pub(crate) async fn try_follow(
        &self,
        id: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Socket, u16> {
        use tokio_tungstenite::tungstenite::Error;
        let url = format!("ws://{}/api/games/{id}/live", self.addr);
        let mut request = url.into_client_request().unwrap();
        let cookie = self.cookie.lock().unwrap().clone();
        for (name, value) in headers.iter().copied().chain(cookie.as_deref().map(|c| ("cookie", c)))
        {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        match tokio_tungstenite::connect_async(request).await {
            Ok((stream, _)) => Ok(Socket { stream }),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// Follows a game; `None` if the server is down or refuses.
    pub(crate) async fn follow_if_available(&self, id: &str) -> Option<Socket> {
        let url = format!("ws://{}/api/games/{id}/live", self.addr);
        let (stream, _) = tokio_tungstenite::connect_async(url).await.ok()?;
        Some(Socket { stream })
    }
}

/// A WebSocket.
pub(crate) struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Socket {
    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: String) {
        // The server may have closed the socket already.
        let _ = self.stream.send(Message::text(text)).await;
    }

    pub(crate) async fn play(&mut self, column: u64, ply: u64) {
        self.send(json!({ "type": "move", "column": column, "ply": ply })).await;
    }

    /// The next message; `None` once the server has closed the socket.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        loop {
            let message = tokio::time::timeout(Duration::from_mins(1), self.stream.next()).await;
            match message.expect("the server should send a message")? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// The next message of a type that satisfies a condition.
    pub(crate) async fn receive_type(
        &mut self,
        kind: &str,
        condition: impl Fn(&Value) -> bool,
    ) -> Value {
        let mut others: HashMap<String, usize> = HashMap::new();
        loop {
            let message =
                self.receive().await.unwrap_or_else(|| panic!("closed; received {others:?}"));
            if message["type"] == kind && condition(&message) {
                return message;
            }
            *others.entry(message["type"].to_string()).or_default() += 1;
        }
    }

    /// The next state of the game that satisfies a condition.
    pub(crate) async fn game(&mut self, condition: impl Fn(&Value) -> bool) -> Value {
        let message = self.receive_type("game", |message| condition(&message["game"])).await;
        message["game"].clone()
    }

    pub(crate) async fn close(mut self) {
        self.stream.close(None).await.unwrap();
    }
}
