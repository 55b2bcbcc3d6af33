//! Serialization with serde: as text for types that have one, as fields for a [`Setup`].

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Column, Game, Position, Ruleset, Setup};

/// As its name: `"standard"`.
impl Serialize for Ruleset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Ruleset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ruleset, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// As `{"cols":7,"rows":6,"connect":4,"ruleset":"standard"}`.
impl Serialize for Setup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename = "Setup")]
        struct Fields {
            cols: u8,
            rows: u8,
            connect: u8,
            ruleset: Ruleset,
        }
        let (cols, rows, connect) = (self.cols(), self.rows(), self.connect());
        Fields { cols, rows, connect, ruleset: self.ruleset() }.serialize(serializer)
    }
}

/// Missing fields default to the standard game.
impl<'de> Deserialize<'de> for Setup {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Setup, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "Setup", deny_unknown_fields)]
        struct Fields {
            cols: Option<u8>,
            rows: Option<u8>,
            connect: Option<u8>,
            ruleset: Option<Ruleset>,
        }
        let fields = Fields::deserialize(deserializer)?;
        let standard = Setup::STANDARD;
        let setup = Setup::new(
            fields.cols.unwrap_or(standard.cols()),
            fields.rows.unwrap_or(standard.rows()),
            fields.connect.unwrap_or(standard.connect()),
            fields.ruleset.unwrap_or(standard.ruleset()),
        );
        setup.map_err(D::Error::custom)
    }
}

/// As its number, from 1.
impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Column, D::Error> {
        let number = u8::deserialize(deserializer)?;
        let column = usize::from(number).checked_sub(1).and_then(Column::from_index);
        column.ok_or_else(|| D::Error::custom(format!("no board has column {number}")))
    }
}

/// As its [alternate picture](Position#impl-Display-for-Position), which names the setup.
impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self:#}"))
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Position, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// As its moves, preceded by its setup unless that is the standard one: `"4453"`, `"9x7, connect 5,
/// standard: 4453"`.
impl Serialize for Game {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Game {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Game, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;

    use super::*;

    fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, json: &str) {
        assert_eq!(serde_json::to_string(value).unwrap(), json);
        assert_eq!(&serde_json::from_str::<T>(json).unwrap(), value);
    }

    #[test]
    fn values_round_trip_through_json() {
        let wide = Setup::new(5, 2, 3, Ruleset::Lines).unwrap();
        check(&Ruleset::Lines, r#""lines""#);
        check(&wide, r#"{"cols":5,"rows":2,"connect":3,"ruleset":"lines"}"#);
        check(&Column::from_index(10).unwrap(), "11");
        check(&Game::parse(Setup::STANDARD, "4453").unwrap(), r#""4453""#);
        check(&Game::parse(wide, "15").unwrap(), r#""5x2, connect 3, lines: 15""#);
        let position = Position::from_moves(wide, "15").unwrap();
        check(&position, r#""5x2, connect 3, lines\n.....\nX...O""#);
    }

    #[test]
    fn missing_fields_are_standard_and_bad_values_are_named() {
        let setup = |json| serde_json::from_str::<Setup>(json);
        assert_eq!(setup("{}").unwrap(), Setup::STANDARD);
        assert_eq!(setup(r#"{"cols":9}"#).unwrap().to_string(), "9x6, connect 4, standard");
        for (json, message) in [
            (r#"{"cols":50}"#, "a board has 1 to 35 columns, not 50"),
            (r#"{"ruleset":"x"}"#, "unknown ruleset 'x'"),
            (r#"{"width":7}"#, "unknown field `width`"),
        ] {
            let error = setup(json).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let error = serde_json::from_str::<Column>("0").unwrap_err().to_string();
        assert!(error.contains("no board has column 0"), "{error}");
        let error = serde_json::from_str::<Game>(r#""49""#).unwrap_err().to_string();
        assert!(error.contains("move 2"), "{error}");
    }
}
