//! The server as a process: kills, restarts and operators' commands.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A server process that is killed at the end of the test.
struct Process {
    child: Child,
    addr: String,
}

impl Process {
    fn start(database: &Path) -> Process {
        Process::start_with(database, &["--log", "error"], Stdio::inherit())
    }

    fn start_with(database: &Path, options: &[&str], errors: Stdio) -> Process {
        let mut child = Command::new(env!("CARGO_BIN_EXE_claimeven"))
            .args(["serve", "--addr", "127.0.0.1:0", "--database"])
            .arg(format!("sqlite:{}", database.display()))
            .args(["--set", "requests_per_second=0", "--set", "games_per_minute=0"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let addr =
            line.strip_prefix("Listening on http://").and_then(|rest| rest.split(' ').next());
        let addr = addr.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Process { child, addr }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs an admin command; returns its exit code, output and errors.
fn operate(database: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_claimeven"))
        .args(arguments)
        .args(["--database", &format!("sqlite:{}", database.display())])
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// One request; `None` if the server was killed before it answered.
fn request(
    addr: &str,
    cookie: &str,
    method: &str,
    path: &str,
    body: &str,
) -> Option<(u16, String, Value)> {
    let mut stream = TcpStream::connect(addr).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\nCookie: {cookie}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, content) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.and_then(|cookie| cookie.split(';').next()).unwrap_or_default().to_owned();
    Some((status, cookie, serde_json::from_str(content).ok()?))
}

/// A local game, as far as its player has received confirmation.
struct Player {
    cookie: String,
    id: String,
    acknowledged: Vec<u64>,
}

impl Player {
    fn new(addr: &str) -> Player {
        let new = json!({
            "seats": [{ "kind": "human" }, { "kind": "human" }], "first": 0,
            // Nobody can win, so that the game is as long as possible.
            "setup": { "cols": 9, "rows": 9, "connect": 10 },
        });
        let (status, cookie, game) =
            request(addr, "", "POST", "/api/games", &new.to_string()).unwrap();
        assert_eq!(status, 201, "{game}");
        Player { cookie, id: game["id"].as_str().unwrap().to_owned(), acknowledged: Vec::new() }
    }

    fn stored(&self, addr: &str) -> Vec<u64> {
        let path = format!("/api/games/{}", self.id);
        let (status, _, game) = request(addr, &self.cookie, "GET", &path, "").unwrap();
        assert_eq!(status, 200, "{game}");
        let moves = game["moves"].as_array().unwrap();
        moves.iter().map(|played| played["column"].as_u64().unwrap()).collect()
    }

    /// Plays until the server is gone or the board is full.
    fn play(&mut self, addr: &str) {
        for ply in self.acknowledged.len() as u64..81 {
            let column = ply % 9 + 1;
            let body = json!({ "column": column, "ply": ply }).to_string();
            let path = format!("/api/games/{}/moves", self.id);
            match request(addr, &self.cookie, "POST", &path, &body) {
                None => return,
                Some((status, _, game)) => assert_eq!(status, 200, "{game}"),
            }
            self.acknowledged.push(column);
        }
    }
}

#[test]
fn no_acknowledged_move_is_lost_when_the_server_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("games.sqlite");
    let mut players: Vec<Player> = {
        let server = Process::start(&database);
        (0..4).map(|_| Player::new(&server.addr)).collect()
    };
    for wait in [150, 400, 50, 250] {
        let mut server = Process::start(&database);
        for player in &mut players {
            let stored = player.stored(&server.addr);
            let known = player.acknowledged.len();
            assert_eq!(stored[..known], player.acknowledged, "an acknowledged move was lost");
            assert!(stored.len() <= known + 1, "only the move in flight may be stored as well");
            player.acknowledged = stored;
        }
        let addr = server.addr.clone();
        thread::scope(|scope| {
            for player in &mut players {
                scope.spawn(|| player.play(&addr));
            }
            thread::sleep(Duration::from_millis(wait));
            server.kill();
        });
    }
    let played: usize = players.iter().map(|player| player.acknowledged.len()).sum();
    assert!(played > 20, "only {played} moves were played");
    let server = Process::start(&database);
    for player in &mut players {
        let stored = player.stored(&server.addr);
        assert_eq!(stored[..player.acknowledged.len()], player.acknowledged);
        player.acknowledged = stored;
        player.play(&server.addr);
        assert_eq!(player.acknowledged.len(), 81, "the game is played to its end");
    }
}

#[cfg(unix)]
#[test]
fn a_server_shuts_down_promptly() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Process::start(&folder.path().join("games.sqlite"));
    let player = Player::new(&server.addr);
    assert_eq!(player.stored(&server.addr), [0; 0]);
    let terminated = Command::new("kill").arg(server.child.id().to_string()).status().unwrap();
    assert!(terminated.success());
    let start = Instant::now();
    let status = loop {
        if let Some(status) = server.child.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "the server does not stop");
        thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "{status}");
}

#[test]
fn admin_commands_work_next_to_a_running_server() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("games.sqlite");
    let mut server = Process::start(&database);
    let (mut player, other) = (Player::new(&server.addr), Player::new(&server.addr));
    player.play(&server.addr);
    assert_eq!(player.acknowledged.len(), 81);
    let done = |arguments: &[&str]| {
        let (code, output, errors) = operate(&database, arguments);
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{arguments:?}");
        output
    };
    let games: Value = serde_json::from_str(&done(&["admin", "games", "--json"])).unwrap();
    assert_eq!(games.as_array().unwrap().len(), 2);
    let playing = done(&["admin", "games", "--status", "playing"]);
    assert!(playing.contains(&other.id) && !playing.contains(&player.id), "{playing}");
    assert!(done(&["admin", "games", "show", &player.id]).contains("moves        81"));
    assert_eq!(done(&["admin", "visitors"]).lines().count(), 3);
    assert_eq!(done(&["admin", "jobs"]).lines().count(), 1);
    assert_eq!(done(&["admin", "runs", "list", "--json"]), "[]\n");
    done(&["admin", "games", "delete", &other.id]);
    let (code, _, errors) = operate(&database, &["admin", "games", "delete", &other.id]);
    assert_eq!((code, errors), (Some(1), format!("error: game '{}' not found\n", other.id)));
    done(&["admin", "ban", "203.0.113.7", "--for", "7d", "--reason", "spam"]);
    assert!(done(&["admin", "bans"]).contains("203.0.113.7/32"));
    done(&["admin", "unban", "203.0.113.7"]);
    assert!(done(&["admin", "prune", "--older-than", "90d"]).starts_with("Deleted 0 games"));
    let checks = done(&["doctor", "--addr", &server.addr]);
    assert!(checks.contains("is served by Claimeven, which is ready"), "{checks}");
    assert_eq!(
        done(&["doctor", "--ready", "--addr", &server.addr]),
        "ok       readiness: the server is ready\n"
    );

    let backup = folder.path().join("games.backup").display().to_string();
    assert!(done(&["admin", "backup", &backup]).starts_with("Saved 1 game and"));
    let (code, _, errors) = operate(&database, &["admin", "restore", &backup, "--force"]);
    assert!(code == Some(1) && errors.contains("another server is using it"), "{errors}");
    server.kill();
    let (code, _, errors) = operate(&database, &["admin", "restore", &backup]);
    assert!(code == Some(1) && errors.contains("use --force to replace its contents"), "{errors}");
    let (code, output, _) = operate(&database, &["doctor", "--ready", "--addr", &server.addr]);
    assert!(code == Some(1) && output.contains("no server responds"), "{output}");

    // The next step: the games of the backup continue elsewhere, with the same key.
    let other = folder.path().join("other.sqlite");
    let (code, output, errors) = operate(&other, &["admin", "restore", &backup]);
    assert!(code == Some(0) && output.starts_with("Restored 1 game and"), "{output} {errors}");
    std::fs::copy(folder.path().join("games.sqlite.key"), folder.path().join("other.sqlite.key"))
        .unwrap();
    let server = Process::start(&other);
    assert_eq!(player.stored(&server.addr), player.acknowledged);
    let path = format!("/api/games/{}/rematch", player.id);
    let (status, _, rematch) = request(&server.addr, &player.cookie, "POST", &path, "{}").unwrap();
    assert_eq!(status, 200, "{rematch}");
}

#[test]
fn the_log_names_requests_and_no_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("games.sqlite");
    let log = folder.path().join("log");
    let options = ["--log", "trace", "--log-format", "json", "--set", "trusted_proxies=127.0.0.1"];
    let errors = std::fs::File::create(&log).unwrap().into();
    let mut server = Process::start_with(&database, &options, errors);
    let mut player = Player::new(&server.addr);
    player.play(&server.addr);
    let mut stream = TcpStream::connect(&server.addr).unwrap();
    let head = "GET /api/games/nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Request-Id: from-the-proxy\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("x-request-id: from-the-proxy"), "{answer}");
    server.kill();

    let log = std::fs::read_to_string(log).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let spans = lines.iter().filter(|line| line["span"]["id"] == "from-the-proxy");
    let spans: Vec<&Value> = spans.collect();
    assert!(spans.iter().any(|line| line["fields"]["status"] == 404), "{log}");
    let key = std::fs::read_to_string(folder.path().join("games.sqlite.key")).unwrap();
    let cookie = player.cookie.strip_prefix("claimeven=").unwrap();
    for secret in [key.trim(), cookie.split('.').next().unwrap()] {
        assert!(secret.len() >= 32 && !log.contains(secret), "the log contains a secret");
    }
}

/// The requests of the documents, in their order; `ID` stands for the latest game.
#[test]
fn the_documented_requests_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(&folder.path().join("games.sqlite"));
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let mut id = String::new();
    let mut count = 0;
    let mut ask = |line: &str| -> Value {
        let command =
            line.trim().replace("localhost:8080", &server.addr).replace("/ID", &format!("/{id}"));
        let command = command.replacen("curl", "curl -sS --fail-with-body", 1);
        let shell = Command::new("sh").args(["-c", &command]).current_dir(folder.path()).output();
        let output = shell.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{command}: {text}");
        let answer: Value = serde_json::from_str(&text).unwrap();
        if command.ends_with("/api/games") {
            id = answer["id"].as_str().unwrap().to_owned();
        }
        count += 1;
        answer
    };
    let read = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(format!("{docs}/{name}")).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("    curl "));
        lines.map(str::to_owned).collect()
    };
    // Six times, because a random choice of the first player would fail only sometimes.
    let game = read("server.md");
    for _ in 0..6 {
        for line in &game {
            ask(line);
        }
    }
    ask(
        "curl -b jar -H 'content-type: application/json' -d '{}' localhost:8080/api/games/ID/resign",
    );
    for line in read("study.md") {
        ask(&line);
    }
    assert_eq!(count, 6 * 3 + 1 + 4);
}

/// The log's reader exits: every line that is logged after that fails.
#[cfg(unix)]
#[test]
fn a_log_that_cannot_be_written_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.sqlite");
    // Each request is logged.
    let mut server = Process::start_with(&file, &["--log", "debug"], Stdio::piped());
    drop(server.child.stderr.take());
    let seats = r#"{"seats": [{"kind": "human"}, {"kind": "human"}]}"#;
    let (status, cookie, game) = request(&server.addr, "", "POST", "/api/games", seats).unwrap();
    assert_eq!(status, 201, "{game}");
    let path = format!("/api/games/{}/moves", game["id"].as_str().unwrap());
    for ply in 0..4 {
        let body = json!({ "column": 1 + ply % 2, "ply": ply }).to_string();
        let (status, _, game) = request(&server.addr, &cookie, "POST", &path, &body).unwrap();
        assert_eq!(status, 200, "{game}");
    }
    let id = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}
