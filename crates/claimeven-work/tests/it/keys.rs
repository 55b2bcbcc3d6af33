//! Authentication: TLS, nkeys and credentials.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use claimeven_work::{Connection, WorkError};
use nkeys::{KeyPair, KeyPairType};
use serde_json::{Value, json};

use super::fleet::{Fleet, RunningWorker, TEST_TIMEOUT, collect, expected, no_fault};
use super::hash_work::Hashes;
use super::server::Server;

/// A file of one of the two self-signed certificates for `localhost`, which the tests of the server
/// use, too.
fn certificate(name: &str) -> PathBuf {
    let folder = "../claimeven-server/tests/it/certificates";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name).canonicalize().unwrap()
}

/// A key made from a number.
fn key(kind: KeyPairType, number: u8) -> KeyPair {
    KeyPair::new_from_raw(kind, [number; 32]).unwrap()
}

fn write(fleet: &Fleet, name: &str, text: &str) -> PathBuf {
    let path = fleet.folder.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

fn seed(fleet: &Fleet, name: &str, key: &KeyPair) -> PathBuf {
    write(fleet, name, &format!("{}\n", key.seed().unwrap()))
}

/// The error of a job that cannot start.
fn refusal(fleet: &Fleet, connection: Connection) -> String {
    let nats = fleet.nats_of(connection);
    match collect(&nats, 19, 3, no_fault) {
        Err(WorkError::Broker(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

fn await_log(fleet: &Fleet, text: &str) {
    let started = Instant::now();
    while !fleet.has_logged(text) {
        assert!(started.elapsed() < TEST_TIMEOUT, "{text}: {:?}", fleet.log.lock().unwrap());
        thread::sleep(Duration::from_millis(20));
    }
}

/// The configuration that docs/fleet.md recommends, with real keys and files.
fn documented_configuration(keys: [&KeyPair; 3]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet.md");
    let text = fs::read_to_string(path).unwrap();
    let begin = text.find("    # nats.conf").unwrap();
    let block =
        text[begin..].lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    let mut text: String = block.flat_map(|line| [line, "\n"]).collect();
    let files = [certificate("first.pem"), certificate("first.key")];
    let [certificate, key] = files.map(|file| file.display().to_string());
    let [server, coordinator, worker] = keys.map(KeyPair::public_key);
    for (documented, real) in [
        ("jetstream { store_dir: /var/lib/nats }", ""),
        ("/etc/nats/cert.pem", &certificate),
        ("/etc/nats/key.pem", &key),
        ("USERVER…", &server),
        ("UCOORDINATOR…", &coordinator),
        ("UWORKER…", &worker),
    ] {
        assert_eq!(text.matches(documented).count(), 1, "{documented}");
        text = text.replace(documented, real);
    }
    text
}

#[test]
fn the_documented_configuration_admits_only_the_right_keys() {
    let [web, coordinator, worker, stranger] = [1, 2, 3, 4].map(|n| key(KeyPairType::User, n));
    let configuration = documented_configuration([&web, &coordinator, &worker]);
    let Some(server) = Server::start_with(&configuration, None) else { return };
    let fleet = Fleet::new();
    let url = format!("tls://localhost:{}", server.port());
    let trusted = certificate("first.pem");
    let connection = |key: Option<PathBuf>, trusted: &Path| {
        fleet.connection(&url).with_nkey(key).with_certificates(Some(trusted.to_owned()))
    };
    let [own, of_worker, of_stranger] =
        [("coordinator.nk", &coordinator), ("worker.nk", &worker), ("stranger.nk", &stranger)]
            .map(|(name, key)| seed(&fleet, name, key));

    // Coordinators create the streams.
    let first = fleet.nats_of(connection(Some(own.clone()), &trusted));
    assert_eq!(collect(&first, 19, 20, no_fault).unwrap().0, expected(20));
    assert!(fleet.has_logged("computing locally"));
    let worker = worker_with(&fleet, connection(Some(of_worker.clone()), &trusted));
    await_log(&fleet, "threads for hashes at tls://localhost");
    let nats = fleet.nats_of(connection(Some(own.clone()), &trusted)).with_check_share(0.0);
    fleet.log.lock().unwrap().clear();
    assert_eq!(collect(&nats, 20, 100, no_fault).unwrap().0, expected(100));
    assert!(!fleet.has_logged("computing locally"), "{:?}", fleet.log);
    assert!(!fleet.has_logged("Permissions Violation"), "{:?}", fleet.log);
    worker.stop().unwrap();

    // A worker's key cannot start a job.
    let error = refusal(&fleet, connection(Some(of_worker), &trusted));
    assert!(fleet.has_logged("Permissions Violation for Publish"), "{error} {:?}", fleet.log);

    // Errors name what is wrong.
    let error = refusal(&fleet, connection(Some(of_stranger.clone()), &trusted));
    let file = of_stranger.display().to_string();
    let expected_error = format!("cannot connect to {url}: authorization violation");
    assert!(
        error.starts_with(&expected_error) && error.ends_with(&format!("in {file})")),
        "{error}"
    );
    let error = refusal(&fleet, connection(None, &trusted));
    assert!(error.starts_with(&expected_error) && error.ends_with("(without a key)"), "{error}");
    let wrong = certificate("second.pem");
    let error = refusal(&fleet, connection(Some(own.clone()), &wrong));
    let named = format!("(trusting the certificates in {})", wrong.display());
    assert!(error.contains("certificate") && error.ends_with(&named), "{error}");
    let error = refusal(&fleet, fleet.connection(&url).with_nkey(Some(own.clone())));
    assert!(error.ends_with("(trusting the system's certificates)"), "{error}");
    let missing = fleet.folder.path().join("missing");
    let missing_key = refusal(&fleet, connection(Some(missing.clone()), &trusted));
    let missing_authority = refusal(&fleet, connection(Some(own.clone()), &missing));
    for error in [missing_key, missing_authority] {
        assert!(error.contains(&format!("{}: No such file", missing.display())), "{error}");
    }
    let nonsense = write(&fleet, "nonsense", "nonsense");
    let error = refusal(&fleet, connection(Some(nonsense.clone()), &trusted));
    assert!(error.ends_with(&format!("{}: not an nkey seed", nonsense.display())), "{error}");
    let error = refusal(&fleet, connection(Some(own), &nonsense));
    let named = format!("{}: not a certificate file", nonsense.display());
    assert!(error.ends_with(&named), "{error}");

    // A worker keeps trying and logs why.
    let worker = worker_with(&fleet, connection(Some(of_stranger), &trusted));
    await_log(&fleet, &format!("(using the key in {file}); trying again"));
    worker.stop().unwrap();
    let worker = worker_with(&fleet, connection(None, &wrong));
    await_log(&fleet, &format!("(trusting the certificates in {}); trying again", wrong.display()));
    worker.stop().unwrap();
}

fn worker_with(fleet: &Fleet, connection: Connection) -> RunningWorker {
    fleet.worker_of::<Hashes<false>>(connection, 2)
}

/// A NATS JWT.
fn jwt(issuer: &KeyPair, subject: &KeyPair, nats: &Value) -> String {
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let head = part(&json!({ "typ": "JWT", "alg": "ed25519-nkey" }));
    let claims = part(&json!({
        "jti": subject.public_key(), "iat": 1_700_000_000, "name": "test",
        "iss": issuer.public_key(), "sub": subject.public_key(), "nats": nats,
    }));
    let signed = format!("{head}.{claims}");
    let signature = BASE64_URL_SAFE_NO_PAD.encode(issuer.sign(signed.as_bytes()).unwrap());
    format!("{signed}.{signature}")
}

/// The credentials file of a user of an account.
fn credentials(fleet: &Fleet, name: &str, account: &KeyPair, user: &KeyPair) -> PathBuf {
    let claims = json!({
        "type": "user", "version": 2, "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1,
    });
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        jwt(account, user, &claims),
        user.seed().unwrap()
    );
    write(fleet, name, &text)
}

#[test]
fn decentralised_accounts_and_their_credentials() {
    let operator = key(KeyPairType::Operator, 1);
    let [system, account, other] = [2, 3, 4].map(|number| key(KeyPairType::Account, number));
    let user = key(KeyPairType::User, 5);
    let claims = |storage: i64| {
        json!({ "type": "account", "version": 2, "limits": {
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
            "conn": -1, "leaf": -1, "mem_storage": storage, "disk_storage": storage,
            "streams": storage, "consumer": storage,
        } })
    };
    let configuration = format!(
        "operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n{}: {}\n{}: {}\n}}\n",
        jwt(&operator, &operator, &json!({ "type": "operator", "version": 2 })),
        system.public_key(),
        system.public_key(),
        jwt(&operator, &system, &claims(0)),
        account.public_key(),
        jwt(&operator, &account, &claims(-1)),
    );
    let Some(server) = Server::start_with(&configuration, None) else { return };
    let fleet = Fleet::new();
    let connection =
        |file: &Path| fleet.connection(&server.url()).with_credentials(Some(file.into()));
    let good = credentials(&fleet, "good.creds", &account, &user);
    let _worker = worker_with(&fleet, connection(&good));
    await_log(&fleet, "threads for hashes at nats://");
    let nats = fleet.nats_of(connection(&good)).with_check_share(0.0);
    assert_eq!(collect(&nats, 21, 100, no_fault).unwrap().0, expected(100));
    assert!(!fleet.has_logged("computing locally"), "{:?}", fleet.log);

    // An account that the operator has not signed, a missing file, and a file that has no
    // credentials.
    let bad = credentials(&fleet, "bad.creds", &other, &user);
    let error = refusal(&fleet, connection(&bad));
    let named = format!("(using the credentials in {})", bad.display());
    assert!(error.contains("authorization violation") && error.ends_with(&named), "{error}");
    let missing = fleet.folder.path().join("missing");
    let error = refusal(&fleet, connection(&missing));
    assert!(error.contains(&format!("{}: No such file", missing.display())), "{error}");
    let nonsense = write(&fleet, "nonsense", "nonsense");
    let error = refusal(&fleet, connection(&nonsense));
    let named = format!("{}: not a credentials file", nonsense.display());
    assert!(error.ends_with(&named), "{error}");
}
