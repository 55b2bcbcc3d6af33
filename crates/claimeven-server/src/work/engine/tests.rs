use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::AtomicUsize;
use std::thread;

use claimeven_game::Setup;

use super::*;
use crate::client::Address;
use crate::visitor::Visitor;

fn client(address: u8, visitor: &str) -> Client {
    Client {
        address: Some(Address::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, address)))),
        visitor: Some(Visitor::stored(visitor.to_owned())),
    }
}

fn engine(change: impl FnOnce(&mut Config)) -> Arc<Engine> {
    let mut config = Config { threads: 2, ..Config::default() };
    change(&mut config);
    Arc::new(Engine::new(&config, &Arc::new(Metrics::new().unwrap())))
}

/// Work that takes a while unless it is cancelled.
fn long(time: Duration) -> impl FnOnce(&Arc<AtomicBool>) + Send {
    move |cancel| {
        let started = Instant::now();
        while started.elapsed() < time && !cancel.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Queues work without waiting for its end.
fn start(
    engine: &Arc<Engine>,
    client: &Client,
    urgency: Urgency,
    time: Duration,
) -> tokio::task::JoinHandle<Result<(), EngineError>> {
    let (engine, client) = (Arc::clone(engine), client.clone());
    tokio::spawn(async move { engine.run(&client, urgency, "work".to_owned(), long(time)).await })
}

#[tokio::test]
async fn a_flooding_address_does_not_delay_others() {
    let engine = engine(|_| {});
    let second = Duration::from_secs(1);
    let greedy: Vec<_> = (0..40)
        .map(|number| {
            let visitor = format!("visitor {number}");
            start(&engine, &client(1, &visitor), Urgency::Person, 10 * second)
        })
        .collect();
    tokio::time::sleep(second / 5).await;
    // The greedy client occupies one of the express threads and all common ones.
    assert_eq!(engine.load().2, 3);
    for _ in 0..20 {
        let started = Instant::now();
        let polite = client(2, "polite");
        engine.run(&polite, Urgency::Other, "x".to_owned(), |_| ()).await.unwrap();
        assert!(started.elapsed() < second / 5, "{:?}", started.elapsed());
    }
    engine.close();
    for task in greedy {
        assert_eq!(task.await.unwrap(), Err(EngineError::Cancelled));
    }
}

/// Each address makes a single request, so all of them have used nothing.
#[tokio::test]
async fn many_addresses_with_long_searches_do_not_delay_brief_ones() {
    let engine = engine(|_| {});
    let long: Vec<_> = (10..40)
        .map(|address| {
            start(&engine, &client(address, "x"), Urgency::Person, Duration::from_secs(10))
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    for address in 100..110 {
        let started = Instant::now();
        let polite = client(address, "polite");
        let request = SearchRequest {
            spec: "level:3".parse().unwrap(),
            seed: 0,
            position: Position::new(Setup::STANDARD),
            limits: Limits::default(),
            seat: None,
        };
        engine.decide(&polite, Urgency::Person, request).await.unwrap();
        engine.run(&polite, Urgency::Brief, "x".to_owned(), |_| ()).await.unwrap();
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    }
    assert!(long.iter().all(|task| !task.is_finished()));
    engine.close();
}

#[tokio::test]
async fn visitors_of_one_address_take_turns() {
    let engine = engine(|config| config.threads = 1);
    let pause = Duration::from_millis(400);
    let mut tasks = Vec::new();
    // All threads are busy, and the first visitor has used the engine for a long time.
    for _ in 0..8 {
        tasks.push(start(&engine, &client(1, "long"), Urgency::Person, pause));
    }
    tokio::time::sleep(4 * pause).await;
    let started = Instant::now();
    engine.run(&client(1, "short"), Urgency::Person, "x".to_owned(), |_| ()).await.unwrap();
    // It waits for the search in progress, not for the whole queue.
    assert!(started.elapsed() < 2 * pause, "{:?}", started.elapsed());
    assert!(tasks.iter().any(|task| !task.is_finished()));
}

/// Waits until something has happened.
async fn until(happened: impl Fn() -> bool) {
    let started = Instant::now();
    while !happened() {
        assert!(started.elapsed() < Duration::from_mins(1));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn the_more_urgent_search_runs_first() {
    let engine = engine(|config| config.threads = 1);
    let requester = client(1, "a");
    // Both threads that this address may use are occupied.
    let released = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let mut busy = Vec::new();
    for released in &released {
        let (released, engine, requester) =
            (Arc::clone(released), Arc::clone(&engine), requester.clone());
        let work = move |_: &Arc<AtomicBool>| {
            while !released.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(5));
            }
        };
        let running = engine.load().2;
        let run = Arc::clone(&engine);
        busy.push(tokio::spawn(async move {
            run.run(&requester, Urgency::Person, "busy".to_owned(), work).await
        }));
        until(|| engine.load().2 > running).await;
    }
    let order = Arc::new(AtomicUsize::new(0));
    let tasks = [Urgency::Other, Urgency::Brief, Urgency::Person].map(|urgency| {
        let (engine, requester, order) =
            (Arc::clone(&engine), requester.clone(), Arc::clone(&order));
        tokio::spawn(async move {
            let work = move |_: &Arc<AtomicBool>| order.fetch_add(1, Ordering::SeqCst);
            engine.run(&requester, urgency, "x".to_owned(), work).await.unwrap()
        })
    });
    until(|| engine.load() == (1, 2, 2)).await;
    // One of the two threads does all of it.
    released[1].store(true, Ordering::Relaxed);
    let mut ended = Vec::new();
    for task in tasks {
        ended.push(task.await.unwrap());
    }
    released[0].store(true, Ordering::Relaxed);
    for task in busy {
        task.await.unwrap().unwrap();
    }
    assert!(ended[2] < ended[0], "{ended:?}");
    assert!(ended[1] < ended[0], "{ended:?}");
}

#[tokio::test]
async fn an_address_has_a_share_of_the_queue_and_a_visitor_half_of_it() {
    let engine = engine(|config| config.queue_others = 4);
    let long = Duration::from_secs(30);
    // All threads are busy, so that everything else stays in the queue.
    let mut tasks = Vec::new();
    for address in 100..102 {
        for _ in 0..2 {
            tasks.push(start(&engine, &client(address, "x"), Urgency::Person, long));
        }
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(engine.load().2, 4);
    for (visitor, expected) in [("a", [true, true, false]), ("b", [true, true, false])] {
        for has_room in expected {
            let requester = client(1, visitor);
            assert_eq!(engine.has_room(&requester, Urgency::Other), has_room, "{visitor}");
            if has_room {
                tasks.push(start(&engine, &requester, Urgency::Other, long));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    assert!(!engine.has_room(&client(1, "c"), Urgency::Other), "the address has used its share");
    assert!(engine.has_room(&client(1, "c"), Urgency::Person), "games have their own share");
    assert!(
        engine.has_room(&client(2, "c"), Urgency::Other),
        "other addresses have their own share"
    );
}

#[tokio::test]
async fn one_address_cannot_occupy_the_whole_lab() {
    let engine = engine(|_| {});
    let long = Duration::from_secs(30);
    let tasks: Vec<_> =
        (0..6).map(|_| start(&engine, &client(1, "a"), Urgency::Background, long)).collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let polite = client(2, "b");
    let work = engine.run(&polite, Urgency::Background, "x".to_owned(), |_| ());
    tokio::time::timeout(Duration::from_secs(1), work).await.unwrap().unwrap();
    assert!(tasks.iter().all(|task| !task.is_finished()));
}

#[tokio::test]
async fn agents_stay_within_the_memory_budget() {
    const MB: usize = 1 << 20;
    // Agents get half of it.
    let engine = engine(|config| (config.memory_mb, config.agent_mb) = (4, 1));
    let position = Position::new(Setup::STANDARD);
    for game in 0..20 {
        let request = SearchRequest {
            // Its table starts with 128 kB.
            spec: "mtdf:depth=2,table=1".parse().unwrap(),
            seed: 0,
            position,
            limits: Limits::default(),
            seat: Some((format!("game{game}"), 0)),
        };
        engine.decide(&client(1, "a"), Urgency::Person, request).await.unwrap();
        assert!(engine.kept_bytes() <= 2 * MB, "{}", engine.kept_bytes());
    }
    // While one agent searches, the others share the rest of the two megabytes.
    assert!((MB / 2..3 * MB / 2).contains(&engine.kept_bytes()), "{}", engine.kept_bytes());
    // Agents of tournaments count, too.
    let (reserved, surplus) = engine.reserve_agents(2);
    drop(surplus);
    assert_eq!(engine.kept_bytes(), 0);
    drop(reserved);
    let request = SearchRequest {
        spec: "mtdf:depth=2,table=1".parse().unwrap(),
        seed: 0,
        position,
        limits: Limits::default(),
        seat: Some(("game0".to_owned(), 0)),
    };
    engine.decide(&client(1, "a"), Urgency::Person, request).await.unwrap();
    assert!(engine.kept_bytes() > 0, "the reservation has ended");
    // So do lab searches.
    let lab = [1, 2].map(|address| {
        let long = Duration::from_secs(30);
        start(&engine, &client(address, "lab"), Urgency::Background, long)
    });
    while engine.load().2 < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let started = Instant::now();
    while engine.kept_bytes() > 0 {
        assert!(started.elapsed() < Duration::from_secs(10), "{}", engine.kept_bytes());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(lab);
    for game in 0..20 {
        engine.forget(&format!("game{game}"));
    }
    assert_eq!(engine.kept_bytes(), 0);
}
