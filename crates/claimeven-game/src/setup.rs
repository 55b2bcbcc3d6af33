//! `Setup`: the board's size, the connect length and the ruleset.

use std::fmt;
use std::str::FromStr;

/// The ruleset: when a game ends and who wins it.
///
/// ```
/// use claimeven_game::Ruleset;
///
/// assert_eq!("lines".parse(), Ok(Ruleset::Lines));
/// assert_eq!(Ruleset::default().to_string(), "standard");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ruleset {
    /// The first player to complete a line wins; a full board without a line is a draw.
    #[default]
    Standard,
    /// Every line scores a point, and the player with more points wins when the board is full.
    Lines,
}

impl Ruleset {
    /// Both rulesets, in the order shown to users.
    pub const ALL: [Ruleset; 2] = [Ruleset::Standard, Ruleset::Lines];

    /// The name of the ruleset for users and files.
    pub const fn name(self) -> &'static str {
        match self {
            Ruleset::Standard => "standard",
            Ruleset::Lines => "lines",
        }
    }
}

impl fmt::Display for Ruleset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Ruleset {
    type Err = UnknownRuleset;

    fn from_str(text: &str) -> Result<Self, UnknownRuleset> {
        Ruleset::ALL
            .into_iter()
            .find(|ruleset| ruleset.name() == text)
            .ok_or_else(|| UnknownRuleset(text.to_owned()))
    }
}

/// A text that does not name a ruleset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRuleset(String);

impl fmt::Display for UnknownRuleset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = Ruleset::ALL;
        write!(f, "unknown ruleset '{}' (available: {first}, {second})", self.0)
    }
}

impl std::error::Error for UnknownRuleset {}

/// The setup of a game: a valid board size, connect length and ruleset.
///
/// A column takes one bit per row and a spare one on top, so that no line can wrap from one
/// column into the next; all columns together take at most 128 bits.
///
/// A setup is written as `9x7, connect 5, lines`. Missing parts default to the standard game:
///
/// ```
/// use claimeven_game::{Ruleset, Setup};
///
/// let setup: Setup = "9x7, connect 5".parse()?;
/// assert_eq!(setup, Setup::new(9, 7, 5, Ruleset::Standard)?);
/// assert_eq!(setup.to_string(), "9x7, connect 5, standard");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    cols: u8,
    rows: u8,
    connect: u8,
    ruleset: Ruleset,
}

impl Setup {
    /// The original game: seven columns, six rows, four in a row.
    pub const STANDARD: Setup = Setup { cols: 7, rows: 6, connect: 4, ruleset: Ruleset::Standard };

    /// The maximum number of columns and of rows.
    pub const MAX_SIDE: u8 = 35;

    /// Creates a setup, if the numbers are valid.
    ///
    /// ```
    /// use claimeven_game::{Ruleset, Setup};
    ///
    /// let setup = Setup::new(9, 7, 4, Ruleset::Lines).unwrap();
    /// assert_eq!(setup.to_string(), "9x7, connect 4, lines");
    ///
    /// let error = Setup::new(12, 12, 4, Ruleset::Standard).unwrap_err();
    /// assert_eq!(error.to_string(), "a 12x12 board is too large: 12 x (12 + 1) = 156 bits, more than 128");
    /// ```
    pub const fn new(
        cols: u8,
        rows: u8,
        connect: u8,
        ruleset: Ruleset,
    ) -> Result<Setup, SetupError> {
        if cols < 1 || cols > Setup::MAX_SIDE {
            return Err(SetupError::Cols(cols));
        }
        if rows < 1 || rows > Setup::MAX_SIDE {
            return Err(SetupError::Rows(rows));
        }
        if connect < 2 {
            return Err(SetupError::Connect(connect));
        }
        let setup = Setup { cols, rows, connect, ruleset };
        if setup.bits() > 128 {
            return Err(SetupError::TooLarge { cols, rows });
        }
        Ok(setup)
    }

    /// The number of columns.
    pub const fn cols(self) -> u8 {
        self.cols
    }

    /// The number of rows.
    pub const fn rows(self) -> u8 {
        self.rows
    }

    /// The number of discs in a line.
    pub const fn connect(self) -> u8 {
        self.connect
    }

    /// When the game ends and who wins it.
    pub const fn ruleset(self) -> Ruleset {
        self.ruleset
    }

    /// The number of cells, which is also the maximum number of moves.
    pub const fn cells(self) -> u32 {
        self.cols as u32 * self.rows as u32
    }

    /// The minimum number of bits for a board, spare row included.
    pub const fn bits(self) -> u32 {
        self.cols as u32 * (self.rows as u32 + 1)
    }

    /// The number of bits from one column to the next: 8 if all columns fit that way, which makes
    /// mirroring a byte swap, and otherwise the rows plus a spare one on top.
    pub const fn stride(self) -> u32 {
        if self.rows < 8 && self.cols <= 8 { 8 } else { self.rows as u32 + 1 }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Setup::STANDARD
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setup { cols, rows, connect, ruleset } = self;
        write!(f, "{cols}x{rows}, connect {connect}, {ruleset}")
    }
}

impl FromStr for Setup {
    type Err = ParseSetupError;

    fn from_str(text: &str) -> Result<Setup, ParseSetupError> {
        let syntax = || ParseSetupError::Syntax(text.to_owned());
        let mut parts = text.split(',').map(str::trim);
        let (cols, rows) = parts.next().and_then(|size| size.split_once('x')).ok_or_else(syntax)?;
        let number = |text: &str| text.parse::<u8>().map_err(|_| syntax());
        let (cols, rows) = (number(cols)?, number(rows)?);
        let Setup { mut connect, mut ruleset, .. } = Setup::STANDARD;
        let mut rest = parts.peekable();
        if let Some(length) = rest.peek().and_then(|part| part.strip_prefix("connect ")) {
            connect = number(length)?;
            rest.next();
        }
        if let Some(name) = rest.next() {
            ruleset = name.parse().map_err(ParseSetupError::Ruleset)?;
        }
        if rest.next().is_some() {
            return Err(syntax());
        }
        Setup::new(cols, rows, connect, ruleset).map_err(ParseSetupError::Setup)
    }
}

/// Why a text is not a setup.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseSetupError {
    /// The syntax is wrong.
    Syntax(String),
    /// The ruleset is unknown.
    Ruleset(UnknownRuleset),
    /// The size or the connect length is invalid.
    Setup(SetupError),
}

impl fmt::Display for ParseSetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseSetupError::Syntax(text) => {
                write!(f, "invalid setup '{text}' (expected, for example, '{}')", Setup::STANDARD)
            }
            ParseSetupError::Ruleset(error) => error.fmt(f),
            ParseSetupError::Setup(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ParseSetupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ParseSetupError::Syntax(_) => None,
            ParseSetupError::Ruleset(error) => Some(error),
            ParseSetupError::Setup(error) => Some(error),
        }
    }
}

/// Why a setup is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupError {
    /// The number of columns is out of range.
    Cols(u8),
    /// The number of rows is out of range.
    Rows(u8),
    /// The connect length is less than 2.
    Connect(u8),
    /// The board takes more than 128 bits.
    #[allow(missing_docs, reason = "self-explanatory")]
    TooLarge { cols: u8, rows: u8 },
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = Setup::MAX_SIDE;
        match self {
            SetupError::Cols(n) => write!(f, "a board has 1 to {max} columns, not {n}"),
            SetupError::Rows(n) => write!(f, "a board has 1 to {max} rows, not {n}"),
            SetupError::Connect(n) => write!(f, "the connect length must be at least 2, not {n}"),
            SetupError::TooLarge { cols, rows } => {
                let bits = u32::from(*cols) * (u32::from(*rows) + 1);
                write!(
                    f,
                    "a {cols}x{rows} board is too large: {cols} x ({rows} + 1) = {bits} bits, more than 128"
                )
            }
        }
    }
}

impl std::error::Error for SetupError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard(cols: u8, rows: u8) -> Result<Setup, SetupError> {
        Setup::new(cols, rows, 4, Ruleset::Standard)
    }

    #[test]
    fn every_board_of_128_bits_or_fewer_is_allowed() {
        for cols in 1..=Setup::MAX_SIDE {
            for rows in 1..=Setup::MAX_SIDE {
                let fits = u32::from(cols) * (u32::from(rows) + 1) <= 128;
                assert_eq!(standard(cols, rows).is_ok(), fits, "{cols}x{rows}");
            }
        }
    }

    #[test]
    fn an_invalid_setup_is_rejected_with_its_bad_value() {
        for (result, message) in [
            (standard(0, 6), "a board has 1 to 35 columns, not 0"),
            (standard(36, 1), "a board has 1 to 35 columns, not 36"),
            (standard(7, 0), "a board has 1 to 35 rows, not 0"),
            (standard(1, 36), "a board has 1 to 35 rows, not 36"),
            (
                Setup::new(7, 6, 1, Ruleset::Standard),
                "the connect length must be at least 2, not 1",
            ),
            (standard(255, 255), "a board has 1 to 35 columns, not 255"),
        ] {
            assert_eq!(result.unwrap_err().to_string(), message);
        }
        assert_eq!(
            "most".parse::<Ruleset>().unwrap_err().to_string(),
            "unknown ruleset 'most' (available: standard, lines)"
        );
    }

    #[test]
    fn an_invalid_setup_text_is_rejected_with_its_reason() {
        for (text, message) in [
            ("7", "invalid setup '7' (expected, for example, '7x6, connect 4, standard')"),
            ("7x6x4", "invalid setup '7x6x4' (expected, for example, '7x6, connect 4, standard')"),
            ("300x6", "invalid setup '300x6' (expected, for example, '7x6, connect 4, standard')"),
            ("7x6, most", "unknown ruleset 'most' (available: standard, lines)"),
            ("0x6", "a board has 1 to 35 columns, not 0"),
            ("7x6, connect 1", "the connect length must be at least 2, not 1"),
        ] {
            assert_eq!(text.parse::<Setup>().unwrap_err().to_string(), message);
        }
        assert!("7x6, connect 4, lines, 3".parse::<Setup>().is_err());
        assert_eq!("7x6".parse(), Ok(Setup::STANDARD));
    }
}
