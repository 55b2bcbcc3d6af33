//! Fills a database with finished games, for measurements.
//!
//! Run it with `cargo xtask fill DATABASE GAMES`. With 0 games it only counts the existing ones.

use std::error::Error;
use std::fmt::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use claimeven_arena::{Review, ReviewOptions};
use claimeven_game::{Column, Game, Outcome, Ruleset, Setup};
use claimeven_server::{Admin, Config, Server};
use fastrand::Rng;
use serde_json::{Value, json};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, Row};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Roughly how many games per million each visitor has whose cookie is stored.
const KNOWN: [u32; 6] = [1, 10, 100, 1_000, 10_000, 50_000];

/// Other visitors.
const STRANGERS: usize = 50_000;

/// Games between deterministic programs, which repeat the same moves, and how many of them have a
/// review.
const REPEATED: usize = 300;
const REVIEWED: usize = 20;

const YEAR_MS: i64 = 365 * 24 * 3_600_000;

const AGENTS: [&str; 8] = [
    "level:1",
    "level:2",
    "level:3",
    "level:5",
    "level:8",
    "alphabeta:depth=6",
    "mcts:sims=2000",
    "perfect",
];

const NAMES: [&str; 8] = ["", "", "", "", "Ada", "Grace", "Emmy", "Sofja"];

#[tokio::main]
async fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, games] = &arguments[..] else { return Err("usage: fill DATABASE GAMES".into()) };
    let games: u32 = games.parse()?;
    let started = Instant::now();
    sqlx::any::install_default_drivers();
    if games == 0 {
        return count(database).await;
    }

    // The server creates the tables, the visitors and a tournament.
    let running = RunningServer::start(database).await?;
    let mut connection = AnyConnection::connect(database).await?;
    let mut rng = Rng::with_seed(7);
    let mut visitors = Visitors { known: Vec::new(), strangers: Vec::new() };
    let mut cookies = Vec::new();
    for share in KNOWN {
        let (cookie, key) = running.visitor(&mut connection).await?;
        visitors.known.push((key, f64::from(share) / 1e6));
        cookies.push(json!({ "share": share, "cookie": cookie }));
    }
    visitors.strangers = (0..STRANGERS).map(|_| text(&mut rng, b"0123456789abcdef", 40)).collect();
    let cookie = cookies.last().and_then(|visitor| visitor["cookie"].as_str()).unwrap_or_default();
    let tournament = running.tournament(cookie).await?;
    running.stop().await?;
    let contents = json!({ "visitors": cookies, "tournament": tournament }).to_string();
    let sql = "INSERT INTO settings (name, content) VALUES ('filled', $1) \
               ON CONFLICT (name) DO UPDATE SET content = excluded.content";
    sqlx::query(sql).bind(contents).execute(&mut connection).await?;
    println!("{:>6.1} s: visitors and a tournament", started.elapsed().as_secs_f64());

    if database.starts_with("sqlite:") {
        let pragmas = "PRAGMA synchronous = OFF; PRAGMA cache_size = -500000;";
        connection.execute(sqlx::raw_sql(pragmas)).await?;
    }
    let lines = Lines::new(&mut rng);
    println!("{:>6.1} s: reviews", started.elapsed().as_secs_f64());
    let now = jiff::Timestamp::now().as_millisecond();
    let mut batch = Batch::default();
    for number in 0..games {
        let created = now - YEAR_MS + i64::from(number) * YEAR_MS / i64::from(games.max(1));
        batch.add(created, &lines, &visitors, &mut rng);
        if (number + 1) % 500 == 0 || number + 1 == games {
            batch.write(&mut connection).await?;
        }
        if (number + 1) % 100_000 == 0 {
            println!("{:>6.1} s: {} games", started.elapsed().as_secs_f64(), number + 1);
        }
    }

    drop(connection);
    count(database).await?;
    println!("{:>6.1} s: counted", started.elapsed().as_secs_f64());
    Ok(())
}

/// Counts the games in the statistics.
async fn count(database: &str) -> Fallible<()> {
    let mut connection = AnyConnection::connect(database).await?;
    if database.starts_with("sqlite:") {
        connection.execute(sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)")).await?;
    }
    let config = Config { database: database.to_owned(), ..Config::default() };
    Admin::open(&config).await?.count_games().await?;
    if !database.starts_with("sqlite:") {
        connection.execute(sqlx::raw_sql("VACUUM ANALYZE")).await?;
    }
    Ok(())
}

/// A server in this process.
struct RunningServer {
    addr: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), claimeven_server::ServerError>>,
}

impl RunningServer {
    async fn start(database: &str) -> Fallible<RunningServer> {
        let config = Config {
            database: database.to_owned(),
            addr: SocketAddr::from(([127, 0, 0, 1], 0)),
            // The server that reads the database later must know the visitors' cookies.
            secret: "filled".to_owned(),
            games_per_minute: 0,
            // A single thread, so that no games are reviewed in the meantime.
            threads: 1,
            ..Config::default()
        };
        let server = Server::start(config).await?;
        let addr = server.addr()?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.run(async move { drop(stopped.await) }));
        Ok(RunningServer { addr, stop, task })
    }

    async fn stop(self) -> Fallible<()> {
        drop(self.stop);
        Ok(self.task.await??)
    }

    /// A new visitor: the cookie, and the key under which games store their owner.
    async fn visitor(&self, connection: &mut AnyConnection) -> Fallible<(String, String)> {
        let new = json!({ "seats": [{ "kind": "human" }, { "kind": "human" }] });
        let request = reqwest::Client::new().post(format!("http://{}/api/games", self.addr));
        let response = request.json(&new).send().await?.error_for_status()?;
        let cookie = response.headers().get("set-cookie").ok_or("no cookie")?.to_str()?.to_owned();
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        let game: Value = response.json().await?;
        let row = sqlx::query("SELECT owner FROM games WHERE id = $1")
            .bind(game["id"].as_str().unwrap_or_default().to_owned())
            .fetch_one(connection)
            .await?;
        Ok((cookie, row.try_get(0)?))
    }

    /// Plays a tournament of 2000 games; returns its id.
    async fn tournament(&self, cookie: &str) -> Fallible<String> {
        let client = reqwest::Client::new();
        let players = [json!({ "agent": "random" }), json!({ "agent": "level:1" })];
        let url = format!("http://{}/api/arena", self.addr);
        let request = client.post(&url).header("cookie", cookie);
        let new = request.json(&json!({ "players": players, "games": 2000 })).send().await?;
        let mut cup: Value = new.error_for_status()?.json().await?;
        let id = cup["id"].as_str().ok_or("no id")?.to_owned();
        while ["queued", "running"].map(Value::from).contains(&cup["state"]) {
            tokio::time::sleep(Duration::from_millis(500)).await;
            cup = client.get(format!("{url}/{id}")).send().await?.json().await?;
        }
        Ok(id)
    }
}

struct Visitors {
    /// Visitors with their shares of all games.
    known: Vec<(String, f64)>,
    strangers: Vec<String>,
}

impl Visitors {
    fn any(&self, rng: &mut Rng) -> &str {
        let mut point = rng.f64();
        for (key, share) in &self.known {
            if point < *share {
                return key;
            }
            point -= share;
        }
        // Some return often, most do not.
        &self.strangers[low(self.strangers.len(), rng)]
    }
}

/// Games that are played repeatedly.
struct Lines {
    repeated: Vec<Game>,
    /// The reviews of the first of them, with the accuracies.
    reviews: Vec<(String, [Option<f64>; 2])>,
}

impl Lines {
    fn new(rng: &mut Rng) -> Lines {
        let repeated: Vec<Game> = (0..REPEATED).map(|_| play(Setup::STANDARD, rng)).collect();
        let reviews = repeated.iter().take(REVIEWED).map(|game| {
            let time_per_position = Some(Duration::from_millis(50));
            let review =
                Review::of(game, &ReviewOptions { time_per_position, ..ReviewOptions::default() });
            let accuracy = review.players_after(0).map(|player| player.accuracy);
            (serde_json::to_string(&review).unwrap_or_default(), accuracy)
        });
        Lines { reviews: reviews.collect(), repeated }
    }
}

/// A game between players who prefer the centre, win when they can, and block most threats.
fn play(setup: Setup, rng: &mut Rng) -> Game {
    let mut game = Game::new(setup);
    while game.position().outcome().is_none() {
        let position = *game.position();
        let wins = |position: &claimeven_game::Position, column: Column| {
            let mut next = *position;
            next.play(column).is_ok() && next.outcome().is_some()
        };
        let legal: Vec<Column> = position.legal_from_centre().collect();
        let winning = legal.iter().find(|&&column| wins(&position, column));
        let likely = low(legal.len(), rng);
        let column = match winning {
            Some(&column) if rng.u8(..10) > 0 => column,
            _ => legal[likely],
        };
        if game.play(column).is_err() {
            break;
        }
    }
    game
}

/// The rows of some games as SQL.
#[derive(Default)]
struct Batch {
    games: String,
    moves: String,
    reviews: String,
}

impl Batch {
    fn add(&mut self, created: i64, lines: &Lines, visitors: &Visitors, rng: &mut Rng) {
        let small = Setup::new(6, 5, 4, Ruleset::Standard).unwrap_or(Setup::STANDARD);
        let lines_setup = Setup::new(7, 6, 4, Ruleset::Lines).unwrap_or(Setup::STANDARD);
        let repeated = (rng.u8(..10) == 0).then(|| rng.usize(..lines.repeated.len()));
        let setup = match rng.u8(..20) {
            0 | 1 => small,
            2 => lines_setup,
            _ => Setup::STANDARD,
        };
        let game = match repeated {
            Some(index) => lines.repeated[index].clone(),
            None => play(setup, rng),
        };
        let setup = game.position().setup();
        let id = text(rng, b"abcdefghijkmnpqrstuvwxyz23456789", 10);
        let first = rng.usize(..2);
        let owner = visitors.any(rng).to_owned();
        // Between agents, against an agent, between people, local.
        let holders = match rng.u8(..10) {
            0..5 => [None, None],
            5..8 => [Some(owner.clone()), None],
            8 => [Some(owner.clone()), Some(visitors.any(rng).to_owned())],
            _ => [Some(owner.clone()), Some(owner.clone())],
        };
        let agents = holders.each_ref().map(|holder| match holder {
            Some(_) => None,
            None => Some(AGENTS[rng.usize(..AGENTS.len())]),
        });
        let names = agents.map(|agent| agent.unwrap_or(NAMES[rng.usize(..NAMES.len())]));
        let kinds = agents.map(|agent| if agent.is_some() { "agent" } else { "human" });
        let is_listed = agents.iter().all(Option::is_some) || rng.u8(..20) == 0;
        let winner = game.position().outcome().and_then(Outcome::winner);
        let winner = winner.map(|winner| (winner.index() + first) % 2);
        let is_line = winner.is_some() && setup.ruleset() == Ruleset::Standard;
        let reason = if is_line { "line" } else { "board-full" };
        let line = game.move_text();
        let quoted =
            |text: Option<&str>| text.map_or("NULL".to_owned(), |text| format!("'{text}'"));
        separate(&mut self.games);
        let _ = write!(
            self.games,
            "('{id}', {}, {created}, {}, '{owner}', '{}', '{}', {}, {}, '{}', '{}', {}, {}, \
             {}, {}, {}, '{}', {first}, {}, 0, 'finished', {}, '{reason}', {}, '{line}', \
             '{{\"undone\":[],\"offers\":{{\"draw\":null,\"undo\":null,\"rematch\":null}}}}')",
            game.moves().len() + 1,
            created + 120_000,
            kinds[0],
            kinds[1],
            quoted(holders[0].as_deref()),
            quoted(holders[1].as_deref()),
            names[0],
            names[1],
            quoted(agents[0]),
            quoted(agents[1]),
            setup.cols(),
            setup.rows(),
            setup.connect(),
            setup.ruleset().name(),
            rng.i64(..),
            winner.map_or("NULL".to_owned(), |winner| winner.to_string()),
            i32::from(is_listed),
        );
        for (ply, column) in game.moves().iter().enumerate() {
            separate(&mut self.moves);
            let column = column.number();
            let _ = if agents[(ply + first) % 2].is_some() {
                let (took, nodes) = (rng.u32(100..300_000), rng.u32(10..100_000));
                write!(self.moves, "('{id}', {ply}, {column}, {took}, {nodes}, '0.{}')", nodes % 99)
            } else {
                let took = rng.u32(500_000..20_000_000);
                write!(self.moves, "('{id}', {ply}, {column}, {took}, NULL, NULL)")
            };
        }
        if let Some((content, accuracy)) = repeated.and_then(|index| lines.reviews.get(index)) {
            let [one, other] = if first == 0 { *accuracy } else { [accuracy[1], accuracy[0]] };
            let number = |share: Option<f64>| share.map_or("NULL".to_owned(), |s| s.to_string());
            separate(&mut self.reviews);
            let (one, other) = (number(one), number(other));
            let _ = write!(self.reviews, "('{id}', '{line}', {one}, {other}, '{content}')");
        }
    }

    async fn write(&mut self, connection: &mut AnyConnection) -> Fallible<()> {
        let games = "games (id, version, created, touched, owner, kind0, kind1, holder0, holder1, \
            name0, name1, agent0, agent1, board_cols, board_rows, connect, ruleset, first_player, \
            seed, opening, status, winner, reason, listed, line, pending)";
        let moves = "moves (game, ply, board_col, took, nodes, said)";
        let reviews = "reviews (game, line, accuracy0, accuracy1, content)";
        let mut sql = "BEGIN;".to_owned();
        for (table, rows) in
            [(games, &mut self.games), (moves, &mut self.moves), (reviews, &mut self.reviews)]
        {
            if !rows.is_empty() {
                let _ = write!(sql, "INSERT INTO {table} VALUES {rows};");
                rows.clear();
            }
        }
        sql.push_str("COMMIT;");
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await?;
        Ok(())
    }
}

fn separate(rows: &mut String) {
    if !rows.is_empty() {
        rows.push_str(", ");
    }
}

/// A number below a limit, usually a low one.
fn low(limit: usize, rng: &mut Rng) -> usize {
    (0..2).fold(rng.usize(..limit), |max, _| rng.usize(..=max))
}

fn text(rng: &mut Rng, letters: &[u8], length: usize) -> String {
    (0..length).map(|_| char::from(letters[rng.usize(..letters.len())])).collect()
}
