//! Symbols and styles for the capabilities of the terminal.

use std::env;

use claimeven_game::Player;
use ratatui::style::{Color, Modifier, Style};

/// The capabilities of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) unicode: bool,
    pub(crate) colour: bool,
}

impl Look {
    /// Detects the capabilities of this terminal.
    pub(crate) fn of_terminal(ascii: bool) -> Look {
        let choice = anstream::AutoStream::choice(&std::io::stdout());
        Look { unicode: !ascii && has_unicode(), colour: choice != anstream::ColorChoice::Never }
    }

    /// A symbol, or its ASCII replacement.
    pub(crate) fn symbol<'a>(self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { unicode } else { ascii }
    }

    /// The rows of a disc; the players differ by shape.
    pub(crate) fn disc(self, player: Player, cell: (u16, u16)) -> &'static [&'static str] {
        match (player, self.unicode, cell.1) {
            (Player::First, true, 3..) => &["▟████▙", "██████", "▜████▛"],
            (Player::First, true, 2) => &["▟██▙", "▜██▛"],
            (Player::First, true, _) => &["●"],
            (Player::Second, true, 3..) => &["╭────╮", "│    │", "╰────╯"],
            (Player::Second, true, 2) => &["╭──╮", "╰──╯"],
            (Player::Second, true, _) => &["○"],
            (Player::First, false, 3..) => &["\\\\  //", "  XX  ", "//  \\\\"],
            (Player::First, false, 2) => &["\\\\//", "//\\\\"],
            (Player::First, false, _) => &["X"],
            (Player::Second, false, 3..) => &["/----\\", "|    |", "\\----/"],
            (Player::Second, false, 2) => &["/--\\", "\\--/"],
            (Player::Second, false, _) => &["O"],
        }
    }

    /// A disc in a line of text.
    pub(crate) fn small_disc(self, player: Player) -> &'static str {
        self.disc(player, (1, 1))[0]
    }

    /// The name of a player: by colour if there is one, by shape otherwise.
    pub(crate) fn player_name(self, player: Player) -> &'static str {
        match (player, self.colour) {
            (Player::First, true) => "Red",
            (Player::Second, true) => "Yellow",
            (_, false) => self.small_disc(player),
        }
    }

    pub(crate) fn disc_style(self, player: Player) -> Style {
        let colour = match player {
            Player::First => Color::LightRed,
            Player::Second => Color::LightYellow,
        };
        self.coloured(colour).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn board_style(self) -> Style {
        if self.colour { Style::new().bg(Color::Blue).fg(Color::Gray) } else { Style::new() }
    }

    /// The style of a good, bad or neutral value.
    pub(crate) fn value_style(self, value: f64) -> Style {
        match value {
            0.05.. => self.coloured(Color::Green),
            ..-0.05 => self.coloured(Color::Red),
            _ => self.coloured(Color::Cyan),
        }
    }

    pub(crate) fn error_style(self) -> Style {
        self.coloured(Color::LightRed).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn title_style(self) -> Style {
        self.coloured(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn coloured(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }
}

/// Whether the locale is UTF-8.
fn has_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| env::var(name).ok())
        .find(|value| !value.is_empty());
    match locale {
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        }
        None => cfg!(windows),
    }
}
