//! All requests that read a database with many games.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use sqlx::{AnyConnection, Connection, Row};

use crate::{Fallible, percentile};

/// A request that reads the database: its name in the report, its path and the visitor's cookie.
pub(crate) struct Route {
    name: String,
    path: String,
    cookie: String,
}

/// The read requests for a database made by `cargo xtask fill`.
pub(crate) async fn routes(database: &str) -> Fallible<Vec<Route>> {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(database).await?;
    let row = sqlx::query("SELECT content FROM settings WHERE name = 'filled'");
    let row = row.fetch_optional(&mut connection).await?;
    let row = row.ok_or("the database was not filled by `cargo xtask fill`")?;
    let filled: Value = serde_json::from_str(row.try_get(0)?)?;
    let cup = filled["tournament"].as_str().ok_or("no tournament")?;
    let visitors = filled["visitors"].as_array().ok_or("no visitors")?;
    let cookie = |visitor: Option<&Value>| {
        let cookie = visitor.and_then(|visitor| visitor["cookie"].as_str());
        cookie.unwrap_or_default().to_owned()
    };
    let (few, many) = (cookie(visitors.first()), cookie(visitors.last()));
    let mut ids = async |sql: &'static str| -> Fallible<Vec<String>> {
        let rows = sqlx::query(sql).fetch_all(&mut connection).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    };
    // Spread over the whole table.
    let games = ids("SELECT id FROM games WHERE counted = 1 AND id > 'g' ORDER BY id LIMIT 500");
    let games = games.await?;
    let reviewed = ids("SELECT game FROM reviews WHERE game > 'g' ORDER BY game LIMIT 100").await?;
    let middle = ids("SELECT CAST(created - 15000000000 AS TEXT) FROM games WHERE listed = 1 \
                      ORDER BY created DESC, id DESC LIMIT 1");
    let middle = middle.await?.into_iter().next().ok_or("no listed game")?;

    let mut routes = Vec::new();
    let mut add = |name: &str, path: String, cookie: &str| {
        routes.push(Route { name: name.to_owned(), path, cookie: cookie.to_owned() });
    };
    let filters = [
        ("", ""),
        (", an agent", "agent=level:3&"),
        (", a name", "player=ada&"),
        (", a name nobody has", "player=nobody&"),
        (", in progress", "status=playing&"),
        (", from the middle", "before=MIDDLE-x&"),
    ];
    for (name, filter) in filters {
        let filter = filter.replace("MIDDLE", &middle);
        add(&format!("games{name}"), format!("/api/games?{filter}limit=20"), &few);
        add(&format!("own games{name}"), format!("/api/games?{filter}mine=true&limit=20"), &many);
    }
    for (whose, mine, cookie) in [("", "false", &few), ("own ", "true", &many)] {
        add(&format!("{whose}statistics"), format!("/api/statistics?mine={mine}"), cookie);
        for (plies, moves) in
            [(0, ""), (3, "444"), (7, "4444443"), (8, "44444433"), (9, "444444333")]
        {
            let path = format!("/api/explorer?moves={moves}&mine={mine}");
            add(&format!("{whose}explorer at ply {plies}"), path, cookie);
        }
    }
    for id in games {
        add("a game", format!("/api/games/{id}"), &few);
        add("its record", format!("/api/games/{id}/record"), &few);
    }
    for id in reviewed {
        add("a review", format!("/api/games/{id}/review"), &few);
    }
    add("tournaments", "/api/arena".to_owned(), &many);
    add("a tournament", format!("/api/arena/{cup}"), &many);
    add("its games", format!("/api/arena/{cup}/games"), &many);
    for format in ["json", "csv", "games"] {
        let path = format!("/api/arena/{cup}/download?format={format}");
        add(&format!("download of {format}"), path, &many);
    }
    add("training runs", "/api/training".to_owned(), &few);
    add("health", "/healthz".to_owned(), &few);
    Ok(routes)
}

/// Calls the routes one after another, at the rate limit of one address, and prints their latencies.
pub(crate) async fn run(
    client: reqwest::Client,
    addr: String,
    routes: Vec<Route>,
    end: Instant,
) -> Fallible<()> {
    const PER_SECOND: u64 = 30;
    let mut names: Vec<String> = Vec::new();
    for route in &routes {
        if !names.contains(&route.name) {
            names.push(route.name.clone());
        }
    }
    let routes = Arc::new(routes);
    let figures: Arc<Mutex<BTreeMap<String, Vec<Duration>>>> = Arc::default();
    let mut calls = tokio::task::JoinSet::new();
    let mut interval = tokio::time::interval(Duration::from_millis(1000 / PER_SECOND));
    let mut turns: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0.. {
        interval.tick().await;
        if Instant::now() >= end {
            break;
        }
        // Each name in turn, with a different path each time.
        let name = names[number % names.len()].clone();
        let turn = turns.entry(name.clone()).or_default();
        *turn += 1;
        let same: Vec<usize> =
            (0..routes.len()).filter(|&index| routes[index].name == name).collect();
        let index = same[*turn % same.len()];
        let (client, addr, routes) = (client.clone(), addr.clone(), Arc::clone(&routes));
        let figures = Arc::clone(&figures);
        calls.spawn(async move {
            let started = Instant::now();
            let route = &routes[index];
            let request = client.get(format!("http://{addr}{}", route.path));
            let reply = request.header("cookie", &route.cookie).send().await?;
            let reply = reply.error_for_status()?;
            reply.bytes().await?;
            figures.lock().unwrap().entry(name).or_default().push(started.elapsed());
            Fallible::Ok(())
        });
    }
    let mut failures = 0;
    while let Some(call) = calls.join_next().await {
        if let Err(error) = call? {
            println!("failed: {error}");
            failures += 1;
        }
    }
    println!("| route | calls | median | p99 | worst |\n|---|---|---|---|---|");
    let mut figures = figures.lock().unwrap();
    for name in &names {
        let Some(times) = figures.get_mut(name) else { continue };
        let [median, p99, worst] = [50, 99, 100].map(|percent| percentile(times, percent));
        println!("| {name} | {} | {median:.1} ms | {p99:.1} ms | {worst:.1} ms |", times.len());
    }
    if failures == 0 { Ok(()) } else { Err(format!("{failures} reads failed").into()) }
}
