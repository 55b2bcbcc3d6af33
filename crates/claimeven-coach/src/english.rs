//! English texts of sentences, at two levels.

use claimeven_game::{Cell, Column, Player};

use crate::explain::MoveExplanation;
use crate::reason::{Explanation, Reason};
use crate::sentence::{Couples, Parity, Sentence};

/// How much a text assumes of its reader.
///
/// ```
/// use claimeven_coach::{Coach, English, TextLevel};
/// use claimeven_game::{Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "4455")?;
/// let explanation = Coach::new().explain(&position)?;
/// for level in [TextLevel::Beginner, TextLevel::Player] {
///     println!("{}", English::default().explanation(&explanation, level));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextLevel {
    /// Plain words, no terms of the game.
    #[default]
    Beginner,
    /// Terms of the game: threat, zugzwang, odd and even, claimeven.
    Player,
}

/// English texts, with names for the two players.
///
/// ```
/// use claimeven_coach::{Coach, English, TextLevel};
/// use claimeven_game::{Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "445566")?;
/// let explanation = Coach::new().explain(&position)?;
/// let text = English::default().explanation(&explanation, TextLevel::Beginner);
/// assert_eq!(text, "X wins now: column 3 makes four in a row.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct English {
    /// The names, first player first.
    pub names: [String; 2],
}

impl Default for English {
    fn default() -> English {
        English { names: Player::BOTH.map(|player| player.to_string()) }
    }
}

impl English {
    /// The explanation of a position.
    pub fn explanation(&self, explanation: &Explanation, level: TextLevel) -> String {
        self.text(&explanation.sentences(), level)
    }

    /// The explanation of a move.
    pub fn played(&self, played: &MoveExplanation, level: TextLevel) -> String {
        self.text(&played.sentences(), level)
    }

    /// Sentences as a text.
    pub fn text(&self, sentences: &[Sentence], level: TextLevel) -> String {
        let sentences: Vec<String> =
            sentences.iter().map(|sentence| self.sentence(sentence, level)).collect();
        sentences.join(" ")
    }

    /// What decides a game, as in "by a double threat".
    pub fn theme(&self, reason: &Reason) -> String {
        match reason {
            Reason::Over { .. } | Reason::WinsNow { .. } => "an immediate four in a row".to_owned(),
            Reason::DoubleThreat { .. } => "a double threat".to_owned(),
            Reason::EveryMoveOpens { .. } => "zugzwang".to_owned(),
            Reason::Forced { .. } | Reason::EveryReply { .. } => "a forced sequence".to_owned(),
            Reason::Plan(plan) if plan.held.is_empty() => "following up".to_owned(),
            Reason::Plan(plan) => match plan.held[..] {
                [cell] => format!("the threat at {cell}"),
                _ => format!("the threats at {}", listed(&plan.held)),
            },
            Reason::Numbers { .. } | Reason::Draw { .. } | Reason::Calculation { .. } => {
                "best play".to_owned()
            }
        }
    }

    /// One sentence.
    #[allow(clippy::too_many_lines, reason = "a list of texts")]
    pub fn sentence(&self, sentence: &Sentence, level: TextLevel) -> String {
        let name = |player: &Player| &self.names[player.index()];
        let is_beginner = level == TextLevel::Beginner;
        let say = |beginner: String, player: String| if is_beginner { beginner } else { player };
        match sentence {
            Sentence::Won { winner } => format!("{} has connected four.", name(winner)),
            Sentence::Drawn {} => "The board is full: a draw.".to_owned(),
            Sentence::WinsIn { winner, moves } => {
                format!("{} wins in {}.", name(winner), counted(*moves, "move"))
            }
            Sentence::Draw {} => "With best play it is a draw.".to_owned(),
            Sentence::BestPlay { moves } => format!("Best play: {}.", in_order(moves)),
            Sentence::WinsNow { winner, column } => {
                format!("{} wins now: column {column} makes four in a row.", name(winner))
            }
            Sentence::DoubleThreat { winner, loser, columns: [first, second] } => {
                let (winner, loser) = (name(winner), name(loser));
                let places = format!("columns {first} and {second}");
                say(
                    format!(
                        "{winner} can connect four in {places}, and {loser} can block only one."
                    ),
                    format!(
                        "{winner} has a double threat in {places}; {loser} can block only one."
                    ),
                )
            }
            Sentence::StackedThreat { winner, loser, column } => {
                let (winner, loser) = (name(winner), name(loser));
                format!(
                    "{loser} must block column {column}, and then {winner} connects four right above."
                )
            }
            Sentence::EveryMoveOpens { winner, loser, columns } => {
                let (winner, loser) = (name(winner), name(loser));
                let places = match columns.len() {
                    1 => "column",
                    _ => "columns",
                };
                let places = format!("{places} {}", listed(columns));
                let move_ = format!("move that {loser} has left ({places})");
                say(
                    format!("Every {move_} lets {winner} connect four right above it."),
                    format!("Zugzwang: every {move_} lets {winner} connect four right above it."),
                )
            }
            Sentence::Threatens { winner, column } => {
                format!("{} plays column {column}.", name(winner))
            }
            Sentence::MustBlock { loser, column } => {
                format!("{} must block column {column}.", name(loser))
            }
            Sentence::ForcedMoves { winner, loser, moves } => {
                let (winner, loser) = (name(winner), name(loser));
                let moves = in_order(moves);
                say(
                    format!("{winner} makes threats that {loser} must block: {moves}."),
                    format!("Forced moves: {moves}."),
                )
            }
            Sentence::EveryReply { winner, loser } => {
                format!("Whatever {} plays, {} wins by force.", name(loser), name(winner))
            }
            Sentence::EveryReplyLosesNow { winner, loser } => {
                format!("Whatever {} plays, {} connects four.", name(loser), name(winner))
            }
            Sentence::Suppose { loser, column } => {
                format!("Suppose {} plays column {column}.", name(loser))
            }
            Sentence::Zugzwang { winner, loser, cells, parity, couples } => {
                self.zugzwang([winner, loser], cells, *parity, couples, level)
            }
            Sentence::FollowUp { winner, loser: _, from, to, couples } => {
                let (winner, claimeven) = (name(winner), claimeven(couples));
                let couples = coupled(couples);
                say(
                    format!(
                        "{winner} replies right above every disc{couples} and so gets four in a row from {from} to {to}."
                    ),
                    format!(
                        "{winner} follows up {claimeven}, which gives {winner} four in a row from {from} to {to}."
                    ),
                )
            }
            Sentence::NoFourFor { player } => {
                format!("{} cannot connect four before that.", name(player))
            }
            Sentence::TooLate { player } => {
                format!("Any four by {} would come too late.", name(player))
            }
            Sentence::Numbers { winner, loser } => {
                let (winner, loser) = (name(winner), name(loser));
                format!(
                    "{winner} answers every move by the numbers on the board: the highest that can be played, but not right below a cell where {loser} would connect four. Fours, blocks and forced wins come first."
                )
            }
            Sentence::NobodyCanConnect {} => "Nobody can connect four any more.".to_owned(),
            Sentence::NoFourLeft { player } => {
                let player = name(player);
                say(
                    format!("{player} can no longer connect four anywhere."),
                    format!("{player} has no four left."),
                )
            }
            Sentence::HoldsByFollowUp { player, opponent, couples } => {
                let (player, opponent) = (name(player), name(opponent));
                let (claimeven, couples) = (claimeven(couples), coupled(couples));
                say(
                    format!(
                        "{player} replies right above every disc{couples}, so {opponent} never gets four in a row."
                    ),
                    format!("{player} follows up {claimeven}, so {opponent} gets no four."),
                )
            }
            Sentence::CannotWinByCalculation { player } => {
                format!("Only calculation shows that {} cannot win.", name(player))
            }
            Sentence::Calculation { moves } => {
                let moves = counted(*moves, "move");
                format!("This was calculated {moves} deep; no simpler reason is known.")
            }
            Sentence::KeepsWin { column } | Sentence::BetterWins { column } => {
                format!("Column {column} keeps the win.")
            }
            Sentence::KeepsDraw { column } => format!("Column {column} keeps the draw."),
            Sentence::LosesSlowest { column } => {
                format!("Column {column} loses, but no other move holds out longer.")
            }
            Sentence::WinsSlower { column, moves, better, better_moves } => {
                let moves = counted(*moves, "move");
                format!(
                    "Column {column} still wins, in {moves}; column {better} wins in {better_moves}."
                )
            }
            Sentence::WinToDraw { player, column } => {
                format!("Column {column} gives away {}'s win: now it is a draw.", name(player))
            }
            Sentence::WinToLoss { player, column } => {
                format!("Column {column} turns {}'s win into a loss.", name(player))
            }
            Sentence::DrawToLoss { player, column } => {
                format!("Column {column} turns a draw into a loss for {}.", name(player))
            }
            Sentence::LosesSooner { column, better } => {
                format!("Column {column} loses sooner than column {better}.")
            }
            Sentence::Opens { opponent, cell } => {
                format!("It lets {} connect four right above, at {cell}.", name(opponent))
            }
            Sentence::LeavesFour { opponent, column } => {
                format!(
                    "It does not stop {}, who connects four in column {column}.",
                    name(opponent)
                )
            }
            Sentence::CouldConnect { player, column } => {
                format!("{} could have connected four in column {column}.", name(player))
            }
            Sentence::BetterDraws { column } => format!("Column {column} holds the draw."),
        }
    }

    fn zugzwang(
        &self,
        [winner, loser]: [&Player; 2],
        cells: &[Cell],
        parity: Parity,
        couples: &Couples,
        level: TextLevel,
    ) -> String {
        let [winner, loser] = [winner, loser].map(|player| &self.names[player.index()]);
        let (places, couples) = (listed(cells), coupled(couples));
        let (fours, it, has_it) = match cells.len() {
            1 => ("four", "that cell", "it"),
            _ => ("fours", "these cells", "one of them"),
        };
        if level == TextLevel::Beginner {
            return format!(
                "{winner} waits for the {fours} at {places}: {winner} never plays right below {it} and replies right above every other disc{couples}. In the end {loser} has to play right below {has_it}."
            );
        }
        let threat = match (cells.len(), parity) {
            (1, Parity::Odd) => "the odd threat",
            (1, _) => "the even threat",
            (_, Parity::Odd) => "odd threats",
            (_, Parity::Even) => "even threats",
            _ => "threats",
        };
        format!(
            "Zugzwang: {winner} has {threat} at {places}, never plays right below {it}, and follows up elsewhere{couples} until {loser} has to."
        )
    }
}

/// The name of following up, with the columns whose next discs answer each other.
fn claimeven(couples: &Couples) -> String {
    match coupled(couples).strip_prefix(" (") {
        Some(couples) => format!("(claimeven; {couples}"),
        None => "(claimeven)".to_owned(),
    }
}

/// The columns whose next discs answer each other.
fn coupled(couples: &Couples) -> String {
    if couples.columns.is_empty() {
        return String::new();
    }
    if couples.only_marked {
        return " (the next discs in marked columns answer each other)".to_owned();
    }
    let couple = |[a, b]: &[Column; 2]| format!("{a} and {b}");
    let columns: Vec<String> = couples.columns.iter().map(couple).collect();
    format!(" (the next discs in columns {} answer each other)", columns.join(", "))
}

/// `4-5-4`.
fn in_order(moves: &[Column]) -> String {
    moves.iter().map(ToString::to_string).collect::<Vec<_>>().join("-")
}

/// `4, 5 and 4`.
fn listed(items: &[impl ToString]) -> String {
    let mut items: Vec<String> = items.iter().map(ToString::to_string).collect();
    match items.pop() {
        Some(last) if items.is_empty() => last,
        Some(last) => format!("{} and {last}", items.join(", ")),
        None => String::new(),
    }
}

fn counted(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
