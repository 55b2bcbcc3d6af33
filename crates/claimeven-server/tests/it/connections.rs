//! Connections: host names, silent and slow clients, shutdown, and a second server.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use claimeven_server::{Config, Server};
use reqwest::Method;
use serde_json::json;
use sqlx::Connection;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::test_server::{TestServer, on_both_databases, postgres_config};

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_host_name_is_rejected() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let seats = json!({ "seats": [{ "kind": "human" }, { "kind": "agent", "agent": "random" }] });
    let rebound = [
        ("host", "evil.example:8080"),
        ("origin", "http://evil.example:8080"),
        ("content-type", "application/json"),
    ];
    for (method, path) in [(Method::POST, "/api/games"), (Method::POST, "/api/training")] {
        let body = Some(seats.to_string().into_bytes());
        let error = ada.send(method, path, &rebound, body).await.error(403);
        assert!(error.contains("'evil.example'"), "{error}");
    }
    assert_eq!(ada.send(Method::GET, "/api/games", &rebound, None).await.status, 403);
    let id = ada.create(seats["seats"].clone()).await;
    let upgrade = [("host", "evil.example"), ("origin", "http://evil.example")];
    assert_eq!(ada.try_follow(&id, &upgrade).await.err(), Some(403));

    let hosts = "play.example, other.example".to_owned();
    let server = TestServer::sqlite(Config { hosts, ..Config::default() }).await;
    let named = [("host", "play.example"), ("origin", "http://play.example"), rebound[2]];
    let body = Some(seats.to_string().into_bytes());
    let made = server.visitor().send(Method::POST, "/api/games", &named, body).await;
    assert_eq!(made.status, 201, "{made:?}");
}

/// A connection from another address of this machine.
async fn connect_from(from: &str, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
    socket.connect(to).await.unwrap()
}

/// Whether the server has closed a connection within a second.
async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    let read = tokio::time::timeout(Duration::from_secs(1), stream.read(&mut byte));
    !matches!(read.await, Err(_) | Ok(Ok(1..)))
}

#[tokio::test(flavor = "multi_thread")]
#[cfg(target_os = "linux")]
async fn idle_connections_of_one_address_leave_room_for_others() {
    let server =
        TestServer::sqlite(Config { connections_per_address: 8, ..Config::default() }).await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        silent.push(connect_from("127.0.0.2", server.addr).await);
    }
    let mut one_more = connect_from("127.0.0.2", server.addr).await;
    assert!(is_closed(&mut one_more).await, "the ninth connection of an address stays open");
    let ada = server.visitor();
    ada.get("/api/agents").await.expect(200);
    // A slot is free as soon as a connection ends.
    silent.clear();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut again = connect_from("127.0.0.2", server.addr).await;
    assert!(!is_closed(&mut again).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_have_a_size_and_a_time_limit() {
    let server = TestServer::sqlite(Config::default()).await;
    let mut slow = TcpStream::connect(server.addr).await.unwrap();
    slow.write_all(b"GET /api/agents HTTP/1.1\r\nHost: local").await.unwrap();
    let long = "x".repeat(500_000);
    let mut large = TcpStream::connect(server.addr).await.unwrap();
    let request = format!("GET /api/agents HTTP/1.1\r\nHost: localhost\r\nX-Long: {long}\r\n\r\n");
    // The server may hang up before everything has been sent.
    let _ = large.write_all(request.as_bytes()).await;
    let mut response = Vec::new();
    let _ = large.read_to_end(&mut response).await;
    assert!(!response.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&response));

    let closed = tokio::time::timeout(Duration::from_secs(30), slow.read(&mut [0])).await;
    assert!(closed.is_ok(), "an incomplete header keeps its connection open");
    server.visitor().get("/api/agents").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_incomplete_request_does_not_delay_the_shutdown() {
    let server = TestServer::sqlite(Config::default()).await;
    let mut halves = Vec::new();
    for half in [
        "GET /api/agents HTTP/1.1\r\nHost: local",
        "POST /api/games HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{\"seats\":",
    ] {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(half.as_bytes()).await.unwrap();
        halves.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let started = Instant::now();
    let server = server.restart().await;
    assert!(started.elapsed() < Duration::from_secs(13), "{:?}", started.elapsed());
    server.visitor().get("/api/agents").await.expect(200);
}

on_both_databases! {
    async fn a_second_server_is_refused(server: TestServer) {
        let error = Server::start(server.config.clone()).await.err().expect("a second server should be refused");
        assert!(error.to_string().contains("another server is using it"), "{error}");
        // The first server is not disturbed, and its successor can start.
        server.visitor().get("/api/agents").await.expect(200);
        let server = server.restart().await;
        server.visitor().get("/api/agents").await.expect(200);
    }
}

/// They never reach the router.
#[tokio::test(flavor = "multi_thread")]
async fn malformed_requests_get_the_documented_error() {
    let server = TestServer::sqlite(Config::default()).await;
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(70_000));
    let large = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(70_000));
    let requests = [
        "GET /api/games/a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "nonsense\r\n\r\n",
        &long,
        &large,
    ];
    for request in requests {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        // The server may hang up before it has read everything.
        let _ = stream.write_all(request.as_bytes()).await;
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response).await;
        let response = String::from_utf8(response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{response}"));
        assert!(head.starts_with("HTTP/1.1 4"), "{head}");
        assert!(head.contains("application/json"), "{head}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert!(body["error"].as_str().is_some_and(|error| !error.is_empty()), "{body}");
    }
    server.visitor().get("/api/agents").await.expect(200);
}

/// A link is another path to the same file.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_is_refused_through_a_link() {
    let server = TestServer::sqlite(Config::default()).await;
    let file = server.config.database.strip_prefix("sqlite:").unwrap();
    let link = format!("{file}.link");
    std::os::unix::fs::symlink(file, &link).unwrap();
    let config = Config { database: format!("sqlite:{link}"), ..server.config.clone() };
    let error = Server::start(config).await.err().expect("a second server should be refused");
    assert!(error.to_string().contains("another server is using it"), "{error}");
}

/// While PostgreSQL restarts, another server may take the lock. Then the first one stops instead of
/// writing the same games.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_stops_when_another_has_taken_over_its_database() {
    let Some(config) = postgres_config(Config::default()).await else { return };
    let server = Server::start(config.clone()).await.unwrap();
    let running = tokio::spawn(server.run(std::future::pending()));
    // As a restart does, but without the other tests noticing.
    let mut other = sqlx::PgConnection::connect(&config.database).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' \
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    sqlx::query(end).execute(&mut other).await.unwrap();
    let take = "SELECT pg_advisory_lock(7164208212674442853)";
    sqlx::query(take).execute(&mut other).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(90), running).await;
    let error = ended.expect("the server should stop").unwrap().unwrap_err().to_string();
    assert!(error.contains("another server has taken over the database"), "{error}");
}

/// Sends as much as the server reads in three seconds; returns the number of bytes.
async fn flood(stream: &mut TcpStream, chunk: &[u8]) -> usize {
    const TIME: Duration = Duration::from_secs(3);
    let mut sent = 0;
    let writing = async {
        while let Ok(bytes) = stream.write(chunk).await {
            sent += bytes;
        }
    };
    // The server may also hang up.
    let _ = tokio::time::timeout(TIME, writing).await;
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_frames_is_read_slowly() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let id = ada.create(json!([{ "kind": "human" }, { "kind": "human" }])).await;
    // A text message continued by empty frames, and pings.
    let (start, empty, ping) = ([1, 128, 0, 0, 0, 0], [0, 128, 0, 0, 0, 0], [137, 128, 0, 0, 0, 0]);
    for (start, frame) in [(start, empty), (ping, ping)] {
        let mut stream = connect_from("127.0.0.2", server.addr).await;
        let request = format!(
            "GET /api/games/{id}/live HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = [0; 12];
        stream.read_exact(&mut response).await.unwrap();
        assert_eq!(&response, b"HTTP/1.1 101");
        stream.write_all(&start).await.unwrap();
        let sent = flood(&mut stream, &frame.repeat(10_000)).await;
        // Most of it is in the system's buffers; without the limit it was more than 50 MB per second.
        assert!(sent < 20_000_000, "{sent} bytes of {frame:?} were read");
        ada.get("/api/agents").await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_requests_is_refused_slowly() {
    let config = Config { requests_per_second: 1, requests_at_once: 1, ..Config::default() };
    let server = TestServer::sqlite(config).await;
    for path in ["/api/agents", "/"] {
        let mut stream = connect_from("127.0.0.2", server.addr).await;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.repeat(1000).as_bytes()).await.unwrap();
        let (mut responses, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
        let read = async {
            while let Ok(bytes @ 1..) = stream.read(&mut buffer).await {
                responses.extend_from_slice(&buffer[..bytes]);
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(3), read).await;
        let text = String::from_utf8_lossy(&responses);
        let [accepted, refused] =
            ["HTTP/1.1 200", "HTTP/1.1 429"].map(|status| text.matches(status).count());
        // Ten files of the page count as a request.
        let max = if path == "/" { 50 } else { 5 };
        assert!((1..=max).contains(&accepted), "{path}: {accepted} accepted");
        assert!((1..=7).contains(&refused), "{path}: {refused} refused");
    }
}
