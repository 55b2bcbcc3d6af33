//! Link previews, images and animations.

use claimeven_server::Config;
use serde_json::json;

use crate::test_server::TestServer;

async fn server() -> TestServer {
    TestServer::sqlite(Config { requests_per_second: 0, ..Config::default() }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_game_downloads_as_text_and_animation() {
    let server = server().await;
    let ada = server.visitor();
    let seats = json!([{ "kind": "human", "name": "Ada" }, { "kind": "human", "name": "Bob" }]);
    let id = ada.create_with(json!({ "seats": seats, "first": 1, "moves": "112233" })).await;
    let early = ada.get(&format!("/api/games/{id}/record?format=gif")).await;
    assert!(early.error(409).contains("not over"));
    ada.play(&id, 4, 6).await.expect(200);

    let text = ada.get(&format!("/api/games/{id}/record?format=text")).await;
    assert!(text.text.starts_with("1122334\n\n"), "{}", text.text);
    let gif = ada.get(&format!("/api/games/{id}/record?format=gif")).await;
    assert_eq!(gif.headers["content-type"], "image/gif");
    assert!(gif.text.starts_with("GIF89a"));
    let wrong = ada.get(&format!("/api/games/{id}/record?format=mp4")).await.error(400);
    assert!(wrong.contains("'mp4'") && wrong.contains("gif"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn games_and_positions_have_pictures_and_bad_ones_are_rejected() {
    let server = server().await;
    let ada = server.visitor();
    let seats = json!([{ "kind": "human" }, { "kind": "human" }]);
    let id = ada.create_with(json!({ "seats": seats, "moves": "4453" })).await;
    let addresses = [
        format!("/api/games/{id}/picture.png"),
        "/api/positions/picture.png".to_owned(),
        "/api/positions/picture.png?pos=4453&first=1".to_owned(),
        "/api/positions/picture.png?pos=a1&cols=10&rows=10".to_owned(),
    ];
    for address in addresses {
        let picture = ada.get(&address).await;
        assert_eq!(picture.status, 200, "{address}");
        assert_eq!(picture.headers["content-type"], "image/png");
        assert_eq!(picture.headers["cross-origin-resource-policy"], "cross-origin");
        assert!(picture.text.contains("PNG"), "{address}");
    }
    for (query, named) in [("pos=9", "'9'"), ("pos=4444444", "full"), ("cols=200", "200")] {
        let error = ada.get(&format!("/api/positions/picture.png?{query}")).await.error(400);
        assert!(error.contains(named), "{query}: {error}");
    }
    ada.get("/api/games/nothing/picture.png").await.error(404);
}

#[cfg(feature = "page")]
#[tokio::test(flavor = "multi_thread")]
async fn links_have_previews_with_a_title_a_description_and_a_picture() {
    let server = server().await;
    let ada = server.visitor();
    let seats =
        json!([{ "kind": "human", "name": "<Ada> \"A\"" }, { "kind": "human", "name": "Bob" }]);
    let id = ada.create_with(json!({ "seats": seats, "first": 0, "moves": "112233" })).await;
    let page = ada.get(&format!("/game/{id}")).await;
    assert!(page.text.contains("content=\"&lt;Ada&gt; &quot;A&quot; vs Bob\""), "{}", page.text);
    assert!(page.text.contains("in progress: 6 moves played"));
    let picture = format!("http://{}/api/games/{id}/picture.png", server.addr);
    assert!(page.text.contains(&format!("property=\"og:image\" content=\"{picture}\"")));
    ada.play(&id, 4, 6).await.expect(200);
    let page = ada.get(&format!("/game/{id}/review")).await;
    assert!(page.text.contains("won after 7 moves, four in a row."), "{}", page.text);

    let analysis = ada.get("/analysis?pos=4453").await.text;
    assert!(analysis.contains("Red to move after 4 moves"), "{analysis}");
    assert!(analysis.contains("/api/positions/picture.png?pos=4453"));
    let puzzles = ada.get("/api/puzzles").await.expect(200);
    let moves = puzzles["puzzles"][0]["moves"].as_str().unwrap();
    let puzzle = ada.get(&format!("/puzzles?puzzle={moves}")).await.text;
    assert!(puzzle.contains("Connect Four puzzle"), "{puzzle}");
    // Links without a preview get the plain page, not an error.
    for plain in ["/", "/game/nothing", "/analysis?pos=zzz", "/puzzles?puzzle=1"] {
        let page = ada.get(plain).await.text;
        assert!(page.contains("<div id=\"app\">") && !page.contains("og:image\""), "{plain}");
    }
}

#[cfg(feature = "page")]
#[tokio::test(flavor = "multi_thread")]
async fn only_the_embedded_board_may_be_framed() {
    let server = server().await;
    let ada = server.visitor();
    for path in ["/embed?pos=4453", "/embed/game/nothing"] {
        let headers = ada.get(path).await.headers;
        assert!(!headers.contains_key("x-frame-options"), "{path}");
        assert!(headers["content-security-policy"].to_str().unwrap().contains("frame-ancestors *"));
    }
    for path in ["/", "/embedded", "/game/nothing", "/api/agents", "/analysis"] {
        let headers = ada.get(path).await.headers;
        assert_eq!(headers["x-frame-options"], "DENY", "{path}");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn animations_wait_in_the_queue_of_their_address() {
    let config =
        Config { requests_per_second: 0, queue_others: 2, threads: 1, ..Config::default() };
    let server = TestServer::sqlite(config).await;
    let ada = server.visitor();
    let seats = json!([{ "kind": "human" }, { "kind": "human" }]);
    let id = ada.create_with(json!({ "seats": seats, "moves": "112233" })).await;
    ada.play(&id, 4, 6).await.expect(200);
    let path = format!("/api/games/{id}/record?format=gif");
    let requests = (0..40).map(|_| ada.get(&path));
    let replies = futures_util::future::join_all(requests).await;
    let count = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
    assert!(count(200) > 0 && count(503) > 0, "{} drawn", count(200));
    assert_eq!(count(200) + count(503), 40);
    let greedy = async { futures_util::future::join_all((0..40).map(|_| ada.get(&path))).await };
    let other = server.visitor_from("127.0.0.2");
    let (_, drawn) = tokio::join!(greedy, other.get(&path));
    assert_eq!(drawn.status, 200, "another address is not refused");
}

#[cfg(feature = "page")]
#[tokio::test(flavor = "multi_thread")]
async fn scripts_are_compressed_in_advance() {
    let server = server().await;
    let ada = server.visitor();
    let page = ada.get("/").await.text;
    let start = page.find("assets/").unwrap();
    let script = page[start..].split('"').next().unwrap();
    for coding in ["br", "gzip"] {
        let accepted = [("accept-encoding", coding)];
        let reply = ada.send(reqwest::Method::GET, &format!("/{script}"), &accepted, None).await;
        assert_eq!(reply.headers["content-encoding"], coding, "{script}");
        // A response that is compressed on the fly has no length.
        assert!(reply.headers.contains_key("content-length"), "{coding}: {:?}", reply.headers);
    }
    let plain = ada.get(&format!("/{script}")).await;
    assert!(!plain.headers.contains_key("content-encoding"));
    // Responses of the API are compressed on the fly.
    let accepted = [("accept-encoding", "gzip")];
    let agents = ada.send(reqwest::Method::GET, "/api/agents", &accepted, None).await;
    assert_eq!(agents.headers["content-encoding"], "gzip");
}
