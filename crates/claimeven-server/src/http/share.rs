//! Previews of shared links: a picture of the board and a line of text for games, positions and
//! puzzles.

use axum::Extension;
use axum::extract::{Query as UriQuery, State};
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use claimeven_arena::{EndReason, Picture, Puzzle, PuzzleGoal};
use claimeven_game::{Cell, Column, Outcome, Player, Position, Setup};
use serde::Deserialize;
use utoipa::IntoParams;

use super::analysis::PositionInput;
use super::extract::{ApiResult, AppState, Id, SetupQuery, SetupSchema};
use crate::App;
use crate::client::Client;
use crate::error::ErrorView;
use crate::session::{GameSession, Seat};
use crate::work::engine::Urgency;

/// The current board of a game as an image.
#[utoipa::path(get, path = "/api/games/{id}/picture.png", params(("id" = String, Path)), responses(
    (status = 200, body = Vec<u8>, content_type = "image/png"), (status = 404, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn game_picture(
    State(app): AppState,
    Extension(client): Extension<Client>,
    Id(id): Id,
) -> ApiResult<Response> {
    let session = app.games.session(&id).await?;
    let position = *session.game.position();
    let last = session.game.moves().last().copied();
    png(&app, &client, position, last, red(&session)).await
}

/// A position, as in the URL of the analysis board.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(crate) struct PictureInput {
    /// The moves, as text.
    pos: String,
    /// The initial discs, with `/` between the rows.
    board: Option<String>,
    /// 1 if yellow moves first.
    first: u8,
}

/// A position as an image.
#[utoipa::path(get, path = "/api/positions/picture.png", params(PictureInput, SetupSchema), responses(
    (status = 200, body = Vec<u8>, content_type = "image/png"), (status = 400, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn position_picture(
    State(app): AppState,
    Extension(client): Extension<Client>,
    SetupQuery(setup, input): SetupQuery<PictureInput>,
) -> ApiResult<Response> {
    let (red, last) = (input.red(), input.pos.chars().last().and_then(Column::from_char));
    png(&app, &client, input.position(setup)?, last, red).await
}

impl PictureInput {
    fn position(self, setup: Setup) -> ApiResult<Position> {
        PositionInput { setup, board: self.board, moves: self.pos.to_lowercase() }.position()
    }

    fn red(&self) -> Player {
        if self.first == 1 { Player::Second } else { Player::First }
    }
}

/// The player with the red discs, which belong to seat 0 whoever moves first.
pub(crate) fn red(session: &GameSession) -> Player {
    if session.first == 0 { Player::First } else { Player::Second }
}

/// Draws on a search thread: a picture takes as long as a short search, so it counts as one.
pub(crate) async fn draw(
    app: &App,
    client: &Client,
    what: &str,
    draw: impl FnOnce() -> Vec<u8> + Send + 'static,
) -> ApiResult<Vec<u8>> {
    Ok(app.engine.run(client, Urgency::Brief, what.to_owned(), |_| draw()).await?)
}

async fn png(
    app: &App,
    client: &Client,
    position: Position,
    last: Option<Column>,
    red: Player,
) -> ApiResult<Response> {
    let last = last.and_then(|column| {
        Cell::in_reading_order(position.setup())
            .find(|&cell| cell.column == column && position.disc(cell).is_some())
    });
    let picture = move || Picture::of(&position, last, red, Picture::CARD).to_png();
    let png = draw(app, client, "a picture", picture).await?;
    let headers = [(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, "no-cache")];
    Ok((headers, png).into_response())
}

/// The preview of a link.
struct Card {
    title: String,
    description: String,
    /// The address of the picture on this server.
    picture: String,
}

/// The Open Graph tags for the preview of a link; `None` if there is nothing to show.
pub(crate) async fn tags(app: &App, uri: &Uri, origin: &str) -> Option<String> {
    let Card { title, description, picture } = card(app, uri).await?;
    let [width, height] = Picture::CARD;
    let [title, description] = [title, description].map(|text| escape(&text));
    let [page, picture] = [uri.to_string(), picture].map(|path| escape(&format!("{origin}{path}")));
    Some(format!(
        "<meta property=\"og:type\" content=\"website\" />\n    \
         <meta property=\"og:site_name\" content=\"Claimeven\" />\n    \
         <meta property=\"og:title\" content=\"{title}\" />\n    \
         <meta property=\"og:description\" content=\"{description}\" />\n    \
         <meta property=\"og:url\" content=\"{page}\" />\n    \
         <meta property=\"og:image\" content=\"{picture}\" />\n    \
         <meta property=\"og:image:type\" content=\"image/png\" />\n    \
         <meta property=\"og:image:width\" content=\"{width}\" />\n    \
         <meta property=\"og:image:height\" content=\"{height}\" />\n    \
         <meta name=\"twitter:card\" content=\"summary_large_image\" />\n  "
    ))
}

async fn card(app: &App, uri: &Uri) -> Option<Card> {
    let path = uri.path().trim_matches('/');
    let game = path.strip_prefix("game/").or_else(|| path.strip_prefix("embed/game/"));
    if let Some(game) = game {
        let id = game.strip_suffix("/review").unwrap_or(game);
        let session = app.games.session(id).await.ok()?;
        return Some(Card {
            title: session.seats.each_ref().map(name).join(" vs "),
            description: describe_game(&session),
            picture: format!("/api/games/{id}/picture.png"),
        });
    }
    let query = uri.query().unwrap_or_default();
    match path {
        "analysis" | "embed" => {
            let SetupQuery(setup, input) = SetupQuery::<PictureInput>::of_uri(uri).ok()?;
            let red = input.red();
            let position = input.position(setup).ok()?;
            Some(Card {
                title: "Connect Four position".to_owned(),
                description: describe_position(&position, red),
                picture: format!("/api/positions/picture.png?{query}"),
            })
        }
        "puzzles" => {
            let UriQuery(PuzzleAddress { puzzle }) = UriQuery::try_from_uri(uri).ok()?;
            let puzzle = Puzzle::embedded().iter().find(|known| known.moves() == puzzle)?;
            let colour = colour(puzzle.position().player(), Player::First);
            let goal = match puzzle.goal() {
                PuzzleGoal::Win => "win",
                PuzzleGoal::Draw => "save the draw",
            };
            Some(Card {
                title: "Connect Four puzzle".to_owned(),
                description: format!("{colour} to move and {goal}. Only one move works."),
                picture: format!("/api/positions/picture.png?pos={}", puzzle.moves()),
            })
        }
        _ => None,
    }
}

#[derive(Deserialize)]
struct PuzzleAddress {
    puzzle: String,
}

fn name(seat: &Seat) -> String {
    match seat {
        Seat::Open => "waiting for an opponent".to_owned(),
        Seat::Human { name, .. } | Seat::Agent { name, .. } => name.clone(),
    }
}

fn describe_game(session: &GameSession) -> String {
    let moves = session.game.moves().len();
    let plural = if moves == 1 { "" } else { "s" };
    let Some(end) = session.end else {
        return format!("Connect Four, in progress: {moves} move{plural} played.");
    };
    let Some(winner) = end.winner else {
        return format!("Connect Four: a draw after {moves} move{plural}.");
    };
    let winner = name(&session.seats[winner]);
    let how = match end.reason {
        EndReason::Line => "four in a row",
        EndReason::Time => "on time",
        EndReason::Resigned => "by resignation",
        _ => return format!("Connect Four: {winner} won after {moves} move{plural}."),
    };
    format!("Connect Four: {winner} won after {moves} move{plural}, {how}.")
}

fn describe_position(position: &Position, red: Player) -> String {
    match position.outcome() {
        Some(Outcome::Draw) => "A draw.".to_owned(),
        Some(Outcome::Win(player)) => format!("{} has won.", colour(player, red)),
        None => format!(
            "{} to move after {} moves. See the exact value of every column.",
            colour(position.player(), red),
            position.ply()
        ),
    }
}

fn colour(player: Player, red: Player) -> &'static str {
    if player == red { "Red" } else { "Yellow" }
}

/// Text for an attribute in double quotes.
fn escape(text: &str) -> String {
    let replaced = text.replace('&', "&amp;").replace('"', "&quot;");
    replaced.replace('<', "&lt;").replace('>', "&gt;")
}
