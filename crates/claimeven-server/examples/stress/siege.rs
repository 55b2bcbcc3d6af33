//! One address floods the server, while a polite visitor at another address keeps playing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::server::{Server, Visitor};
use crate::{Fallible, percentile};

const POLITE: &str = "127.0.0.1";
const HOSTILE: &str = "127.0.0.2";

/// Everything that the hostile address does concurrently, with the number of visitors for each.
const ATTACKS: [(&str, usize); 8] = [
    ("slow games", 12),
    ("games with long clocks", 4),
    ("large trees", 6),
    ("hints", 6),
    ("analyses", 6),
    ("lab", 6),
    ("tournaments", 2),
    ("lists and statistics", 8),
];

/// The number of accepted and refused attacks of each kind.
type Counts = [[AtomicUsize; 2]; ATTACKS.len()];

/// What the polite visitor experienced.
#[derive(Default)]
struct Experience {
    moves: Vec<Duration>,
    others: Vec<Duration>,
    refused: Vec<String>,
}

/// Measures an idle server, then the same server under siege.
pub(crate) async fn run(program: &str, time: Duration) -> Fallible<()> {
    let folder = tempfile::tempdir()?;
    let database = format!("sqlite:{}", folder.path().join("siege.sqlite").display());
    // With the default limits.
    let server = Server::start(program, &database, &[])?;
    let mut quiet = polite(&server.addr, time.min(Duration::from_mins(1))).await?;

    let stop = Arc::new(AtomicBool::new(false));
    let counts: Arc<Counts> = Arc::default();
    let attackers = std::thread::spawn({
        let (addr, stop, counts) = (server.addr.clone(), Arc::clone(&stop), Arc::clone(&counts));
        move || attack_until(&addr, &stop, &counts)
    });
    sleep(Duration::from_secs(5)).await;
    let mut besieged = polite(&server.addr, time).await?;
    stop.store(true, Ordering::Relaxed);
    attackers.join().map_err(|_| "the attack panicked")??;

    println!("what one address got in {} s:", time.as_secs());
    for ((name, _), [accepted, refused]) in ATTACKS.iter().zip(counts.iter()) {
        let [accepted, refused] = [accepted, refused].map(|count| count.load(Ordering::Relaxed));
        println!("  {name:<22} {accepted:>7} accepted {refused:>7} refused");
    }
    println!("the polite visitor:         quiet p50     p99   besieged p50     p99   ratio of p99");
    let rows = [
        ("move and reply (level:3)", &mut quiet.moves, &mut besieged.moves),
        ("hint, analysis, lab, list", &mut quiet.others, &mut besieged.others),
    ];
    let mut holds = true;
    for (name, before, after) in rows {
        let [a, b, c, d] = [
            percentile(before, 50),
            percentile(before, 99),
            percentile(after, 50),
            percentile(after, 99),
        ];
        println!(
            "  {name:<26} {a:>6.0} ms {b:>4.0} ms    {c:>7.0} ms {d:>4.0} ms   {:>6.2}",
            d / b
        );
        holds &= !name.starts_with("move") || d <= 2.0 * b + 50.0;
    }
    println!(
        "  {} moves and {} other requests, {} refused",
        besieged.moves.len(),
        besieged.others.len(),
        besieged.refused.len()
    );
    for refused in besieged.refused.iter().take(5) {
        println!("    {refused}");
    }
    if let Some(memory) = server.memory_mb("VmHWM") {
        println!("peak memory of the server: {memory} MB");
    }
    if !holds {
        return Err("a move and its reply take more than twice as long plus 50 ms".into());
    }
    if besieged.refused.is_empty() { Ok(()) } else { Err("the polite visitor was refused".into()) }
}

/// Plays against `level:3`, with an occasional other request.
async fn polite(addr: &str, time: Duration) -> Fallible<Experience> {
    let end = Instant::now() + time;
    let mut visitor = Visitor::from(POLITE)?;
    let mut seen = Experience::default();
    while Instant::now() < end {
        let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": "level:3" }]);
        let new = json!({ "seats": seats, "first": 0 });
        let (status, mut game) = visitor.request(addr, "/api/games", Some(new)).await?;
        if status != 201 {
            seen.refused.push(format!("a new game: {status} {game}"));
            sleep(Duration::from_secs(1)).await;
            continue;
        }
        let path = format!("/api/games/{}", game["id"].as_str().unwrap_or_default());
        while game["status"] == "playing" && Instant::now() < end {
            let ply = game["ply"].as_u64().ok_or("no ply")?;
            let legal = game["legal"].as_array().ok_or("no columns")?;
            let column = legal[fastrand::usize(..legal.len())].clone();
            let body = json!({ "column": column, "ply": ply });
            let started = Instant::now();
            let (status, response) =
                visitor.request(addr, &format!("{path}/moves"), Some(body)).await?;
            if status != 200 {
                seen.refused.push(format!("a move: {status} {response}"));
                break;
            }
            game = response;
            while game["ply"].as_u64() < Some(ply + 2) && game["status"] == "playing" {
                sleep(Duration::from_millis(5)).await;
                let (status, now) = visitor.request(addr, &path, None).await?;
                match status {
                    200 => game = now,
                    // It polls faster than the page does.
                    429 => sleep(Duration::from_millis(200)).await,
                    _ => seen.refused.push(format!("the game: {status} {now}")),
                }
            }
            seen.moves.push(started.elapsed());
            sleep(Duration::from_millis(fastrand::u64(300..900))).await;
        }
        let requests: [(&str, Option<Value>); 4] = [
            ("/api/games?mine=true", None),
            ("/api/analysis", Some(json!({ "position": { "moves": "4444" } }))),
            ("/api/hint", Some(json!({ "moves": "445566" }))),
            ("/api/lab/search", Some(json!({ "agent": "alphabeta:depth=4", "moves": "44" }))),
        ];
        for (path, body) in requests {
            let started = Instant::now();
            let (status, response) = visitor.request(addr, path, body).await?;
            seen.others.push(started.elapsed());
            if status != 200 {
                seen.refused.push(format!("{path}: {status} {response}"));
            }
        }
    }
    Ok(seen)
}

/// Attacks from a thread with the lowest priority, because real attackers have their own machines.
fn attack_until(addr: &str, stop: &Arc<AtomicBool>, counts: &Arc<Counts>) -> Fallible<()> {
    #[cfg(target_os = "linux")]
    rustix::process::setpriority_process(None, 19)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut attackers = tokio::task::JoinSet::new();
        for (kind, (_, visitors)) in ATTACKS.iter().enumerate() {
            for number in 0..*visitors {
                let visitor = Visitor::from(HOSTILE)?;
                let (addr, counts) = (addr.to_owned(), Arc::clone(counts));
                attackers.spawn(async move {
                    loop {
                        // Without a cookie, each request comes from a new visitor.
                        let accepted = attack(visitor.clone(), &addr, kind, number).await;
                        let refused = usize::from(!accepted.unwrap_or(false));
                        counts[kind][refused].fetch_add(1, Ordering::Relaxed);
                        sleep(Duration::from_millis(50)).await;
                    }
                });
            }
        }
        while !stop.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    })
}

/// One request of the hostile address, by a visitor without a cookie; returns whether it was
/// accepted.
async fn attack(mut visitor: Visitor, addr: &str, kind: usize, number: usize) -> Fallible<bool> {
    let against = |agent: &str, clock: Option<u64>| {
        let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": agent }]);
        let clock = clock.map(|ms| json!({ "initial_ms": ms, "increment_ms": 0 }));
        json!({ "seats": seats, "first": 1, "clock": clock })
    };
    let moves: String = (0..6).map(|_| fastrand::u8(1..=7).to_string()).collect();
    let (path, body) = match ATTACKS[kind].0 {
        "slow games" => ("/api/games", Some(against("timed:ms=10000", None))),
        "games with long clocks" => ("/api/games", Some(against("random", Some(86_400_000)))),
        "large trees" => ("/api/games", Some(against("mcts:sims=1000000", None))),
        "hints" => ("/api/hint", Some(json!({ "moves": moves }))),
        "analyses" => {
            let position = json!({ "moves": moves });
            (
                "/api/analysis",
                Some(json!({ "position": position, "thorough": number.is_multiple_of(2) })),
            )
        }
        "lab" => ("/api/lab/search", Some(json!({ "agent": "minimax:depth=30" }))),
        "tournaments" => {
            let players = [json!({ "agent": "mcts:sims=100000" }), json!({ "agent": "perfect" })];
            ("/api/arena", Some(json!({ "players": players, "games": 1000 })))
        }
        _ => {
            let paths = ["/api/games", "/api/statistics", "/api/explorer?moves=4"];
            (paths[number % paths.len()], None)
        }
    };
    let (status, _) = visitor.request(addr, path, body).await?;
    Ok(status < 300)
}
