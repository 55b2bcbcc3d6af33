//! HTTPS without a proxy, and HSTS.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use claimeven_server::{CheckStatus, Config, Server, check_readiness, doctor};
use futures_util::StreamExt;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::test_server::TestServer;

/// Writes one of two self-signed certificates for `localhost` to two files. They were made by
/// `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500`.
fn certificate(folder: &Path, name: &str) -> (CertificateDer<'static>, [PathBuf; 2]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/certificates");
    let files = [folder.join("server.pem"), folder.join("server.key")];
    std::fs::copy(source.join(format!("{name}.pem")), &files[0]).unwrap();
    std::fs::copy(source.join(format!("{name}.key")), &files[1]).unwrap();
    (CertificateDer::from_pem_file(&files[0]).unwrap(), files)
}

fn with_tls([certificate, key]: &[PathBuf; 2]) -> Config {
    Config {
        tls_certificate: certificate.display().to_string(),
        tls_key: key.display().to_string(),
        ..Config::default()
    }
}

/// A connection that trusts only this certificate.
async fn connect(
    addr: SocketAddr,
    trusted: &CertificateDer<'static>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, TcpStream::connect(addr).await?).await
}

async fn request(
    addr: SocketAddr,
    trusted: &CertificateDer<'static>,
    head: &str,
    body: &str,
) -> String {
    let mut stream = connect(addr, trusted).await.unwrap();
    let text = format!(
        "{head} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn games_are_played_over_https_and_a_new_certificate_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let (trusted, files) = certificate(folder.path(), "first");
    let server = TestServer::sqlite(with_tls(&files)).await;
    let new = json!({ "seats": [{ "kind": "human" }, { "kind": "human" }], "first": 0 });
    let response = request(server.addr, &trusted, "POST /api/games", &new.to_string()).await;
    assert!(response.starts_with("HTTP/1.1 201"), "{response}");
    assert!(response.contains("strict-transport-security: max-age=31536000"), "{response}");
    let cookie = response.lines().find(|line| line.starts_with("set-cookie: ")).unwrap();
    assert!(cookie.contains("; Secure"), "{cookie}");
    let id = response.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap();

    // A WebSocket over the same certificate.
    let url = format!("wss://localhost/api/games/{id}/live");
    let stream = connect(server.addr, &trusted).await.unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    let message = socket.next().await.unwrap().unwrap();
    assert!(message.to_text().unwrap().contains("\"type\":\"game\""), "{message}");

    // Plain HTTP is rejected without affecting others.
    let mut plain = TcpStream::connect(server.addr).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut response = Vec::new();
    let _ = plain.read_to_end(&mut response).await;
    assert!(!response.starts_with(b"HTTP"), "{response:?}");
    let silent = TcpStream::connect(server.addr).await.unwrap();

    let config = Config { addr: server.addr, ..server.config.clone() };
    let ready = check_readiness(&config).await;
    assert_eq!(ready.status, CheckStatus::Ok, "{ready:?}");
    for result in doctor(&config).await {
        assert_ne!(result.status, CheckStatus::Failed, "{result:?}");
    }

    // An invalid file keeps the old certificate in use; a new certificate is loaded soon.
    std::fs::write(&files[0], "nonsense").unwrap();
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(connect(server.addr, &trusted).await.is_ok());
    let (renewed, _) = certificate(folder.path(), "second");
    let started = Instant::now();
    while connect(server.addr, &renewed).await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(20), "the new certificate is not served");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(connect(server.addr, &trusted).await.is_err());
    let response = request(server.addr, &renewed, &format!("GET /api/games/{id}"), "").await;
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");

    // A connection without a handshake does not delay the shutdown.
    let started = Instant::now();
    server.stop().await;
    assert!(started.elapsed() < Duration::from_secs(11), "{:?}", started.elapsed());
    drop(silent);
}

#[tokio::test]
async fn bad_certificates_are_reported_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let (_, files) = certificate(folder.path(), "first");
    let other = tempfile::tempdir().unwrap();
    let (_, others) = certificate(other.path(), "second");
    let nonsense = folder.path().join("nonsense.pem");
    std::fs::write(&nonsense, "nonsense").unwrap();
    let nothing = folder.path().join("nothing.pem");
    let [certificate, key] = &files;
    let cases = [
        ([certificate, &PathBuf::new()], "must be set together"),
        ([&nothing, key], "nothing.pem: No such file"),
        ([certificate, &nothing], "nothing.pem: No such file"),
        ([&nonsense, key], "nonsense.pem: no certificate in PEM format"),
        ([certificate, &nonsense], "nonsense.pem: no private key in PEM format"),
        ([certificate, &others[1]], "do not match"),
    ];
    for (files, expected) in cases {
        let database = format!("sqlite:{}", folder.path().join("games.sqlite").display());
        let addr = SocketAddr::from(([127, 0, 0, 1], 0));
        let config = Config { addr, database, ..with_tls(&files.map(Clone::clone)) };
        let error = Server::start(config.clone()).await.err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
        let found = doctor(&config).await;
        assert!(found.iter().any(|result| result.message.contains(expected)), "{found:?}");
    }
}

#[tokio::test]
async fn hsts_is_sent_if_a_trusted_proxy_uses_https() {
    let trusted_proxies = "127.0.0.1".to_owned();
    let server = TestServer::sqlite(Config { trusted_proxies, ..Config::default() }).await;
    let ada = server.visitor();
    let hsts = async |headers: &[(&str, &str)]| {
        let reply = ada.send(Method::GET, "/healthz", headers, None).await;
        reply.headers.contains_key("strict-transport-security")
    };
    assert!(hsts(&[("x-forwarded-proto", "https")]).await);
    assert!(!hsts(&[("x-forwarded-proto", "http")]).await);
    assert!(!hsts(&[]).await);
    let server = TestServer::sqlite(Config::default()).await;
    let reply = server.visitor();
    let reply = reply.send(Method::GET, "/healthz", &[("x-forwarded-proto", "https")], None).await;
    assert!(!reply.headers.contains_key("strict-transport-security"), "anyone can send the header");
}

#[tokio::test]
async fn every_response_has_a_request_id_and_only_proxies_may_choose_it() {
    let server = TestServer::sqlite(Config::default()).await;
    let name = async |server: &TestServer, given: &str| {
        let headers = [("x-request-id", given)];
        let reply = server.visitor().send(Method::GET, "/api/nothing", &headers, None).await;
        reply.headers["x-request-id"].to_str().unwrap().to_owned()
    };
    let one = name(&server, "mine").await;
    assert_eq!(one.len(), 16);
    assert_ne!(one, name(&server, "mine").await);
    let trusted_proxies = "127.0.0.1".to_owned();
    let server = TestServer::sqlite(Config { trusted_proxies, ..Config::default() }).await;
    assert_eq!(name(&server, "a-1_2.3").await, "a-1_2.3");
    for wrong in ["a b", "", "a\"b", &"a".repeat(65)] {
        assert_eq!(name(&server, wrong).await.len(), 16, "{wrong}");
    }
    // An internal error contains the id of the request.
    let ada = server.visitor();
    let game = ada.create(json!([{ "kind": "human" }, { "kind": "human" }])).await;
    let file = server.config.database_file().unwrap().to_owned();
    let mut database = <sqlx::SqliteConnection as sqlx::Connection>::connect(&file).await.unwrap();
    sqlx::query("DROP TABLE moves").execute(&mut database).await.unwrap();
    let body = json!({ "column": 1, "ply": 0 }).to_string().into_bytes();
    let headers = [("x-request-id", "abc"), ("content-type", "application/json")];
    let path = format!("/api/games/{game}/moves");
    let reply = ada.send(Method::POST, &path, &headers, Some(body)).await;
    let response = reply.expect(500);
    assert_eq!(response, json!({ "error": "Internal server error", "request_id": "abc" }));
}

#[tokio::test(flavor = "multi_thread")]
#[cfg(target_os = "linux")]
async fn tls_handshakes_of_one_address_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let (trusted, files) = certificate(folder.path(), "first");
    let server = TestServer::sqlite(with_tls(&files)).await;
    let started = Instant::now();
    let mut refused = 0;
    for _ in 0..2000 {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let mut stream = socket.connect(server.addr).await.unwrap();
        // The server sends an alert if this is not a handshake, and nothing over an excess connection.
        let mut response = Vec::new();
        let _ = stream.write_all(b"no handshake").await;
        let _ = stream.read_to_end(&mut response).await;
        refused += u64::from(response.is_empty());
    }
    let max = 400 + 40 * (started.elapsed().as_secs() + 1);
    assert!(2000 - refused <= max, "{} of at most {max}", 2000 - refused);
    assert!(connect(server.addr, &trusted).await.is_ok(), "another address is refused");
}
