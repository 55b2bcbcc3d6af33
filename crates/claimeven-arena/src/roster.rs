//! Agent texts such as `alphabeta:depth=8,eval=sawwan`: parsing, printing and building players.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use claimeven_game::Setup;
use claimeven_search::{Agent, AgentError, Heuristic};
use claimeven_zero::{Model, ModelStore};

use crate::agents::{AGENTS, ALIASES};
use crate::external::EnginePool;

/// A kind of player.
#[derive(Debug)]
pub struct AgentKind {
    /// The name in agent texts, before the `:`.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Whether its search tree can be recorded.
    pub has_tree: bool,
    /// The parameters in the order in which they are printed. All players also have a `seed`.
    pub parameters: &'static [Parameter],
    /// Builds a player, if it supports the game.
    pub(crate) build: fn(&Settings) -> Built,
}

/// The result of building a player.
pub(crate) type Built = Result<Box<dyn Agent>, AgentError>;

/// A parameter of a player.
#[derive(Debug)]
pub struct Parameter {
    /// The name, before the `=`.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The allowed values.
    pub values: Values,
}

/// The allowed values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values {
    /// A whole number.
    Whole {
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
        /// The default; `None` if it depends on other parameters.
        default: Option<u64>,
    },
    /// A number with decimals.
    Decimal {
        /// The minimum.
        min: f64,
        /// The maximum.
        max: f64,
        /// The default.
        default: f64,
    },
    /// One of several words, the first of which is the default.
    Word(&'static [&'static str]),
    /// The name of a built-in heuristic, or a TOML file of weights.
    Heuristic {
        /// The default.
        default: &'static str,
    },
    /// Any text.
    Text {
        /// What the text is, as in `a command`.
        what: &'static str,
        /// Whether the parameter is required.
        needed: bool,
    },
}

/// The parameter of all players.
pub(crate) static SEED: Parameter = Parameter {
    name: "seed",
    about: "random seed; by default each game has its own",
    values: Values::Whole { min: 0, max: u64::MAX, default: None },
};

/// A player as an agent text describes it: a name and valid parameters.
///
/// Parsing reads no file; [`AgentSpec::build`] does, for `eval=FILE` and `model=PATH`.
///
/// ```
/// use claimeven_arena::AgentSpec;
///
/// let spec: AgentSpec = "alphabeta:eval=sawwan,depth=8".parse().unwrap();
/// assert_eq!(spec.to_string(), "alphabeta:depth=8,eval=sawwan");
///
/// let error = "alphabet".parse::<AgentSpec>().unwrap_err().to_string();
/// assert!(error.starts_with("unknown player 'alphabet'; did you mean alphabeta?"), "{error}");
/// ```
#[derive(Clone)]
pub struct AgentSpec {
    kind: &'static AgentKind,
    /// The given parameters in the order of the kind's.
    given: Vec<(&'static Parameter, String)>,
    custom: Option<Arc<Custom>>,
    /// Where training runs are found by name.
    models: ModelStore,
    /// Where other programs are kept between games.
    engines: Option<EnginePool>,
    /// Copies of the files that its text names, on a machine that does not have them.
    files: Arc<BTreeMap<String, PathBuf>>,
}

/// A user's own player.
struct Custom {
    name: String,
    build: Box<dyn Fn(Setup, u64) -> Built + Send + Sync>,
}

/// The kind of all custom players.
static CUSTOM: AgentKind = AgentKind {
    name: "custom",
    about: "a player that is not part of the roster",
    has_tree: false,
    parameters: &[],
    build: |_| {
        Err(AgentError::Failed {
            reason: "a custom player is built by its own function".to_owned(),
        })
    },
};

impl AgentSpec {
    /// The kind of player.
    pub fn kind(&self) -> &'static AgentKind {
        self.kind
    }

    /// Whether this kind of player has a parameter.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.kind.parameter(name).is_some()
    }

    /// Your own player, which can take part in games, matches and tournaments like the built-in
    /// ones.
    ///
    /// `build` constructs a player for a game from its setup and a seed. The name is shown in
    /// records and reports; it must not be that of a built-in player.
    ///
    /// ```
    /// use claimeven_arena::AgentSpec;
    /// use claimeven_search::{Agent, AgentError, Random};
    ///
    /// let build = |_setup, seed| Ok(Box::new(Random { seed }) as Box<dyn Agent>);
    /// let mine = AgentSpec::custom("my-player", build)?;
    /// assert_eq!(mine.to_string(), "my-player");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn custom(
        name: &str,
        build: impl Fn(Setup, u64) -> Result<Box<dyn Agent>, AgentError> + Send + Sync + 'static,
    ) -> Result<AgentSpec, SpecError> {
        let taken = name.is_empty() || name.parse::<Participant>().is_ok();
        if taken || AGENTS.iter().any(|kind| kind.name == name) {
            return Err(SpecError::NameTaken(name.to_owned()));
        }
        let custom = Custom { name: name.to_owned(), build: Box::new(build) };
        let models = ModelStore::default();
        let custom = Some(Arc::new(custom));
        let files = Arc::default();
        Ok(AgentSpec { kind: &CUSTOM, given: Vec::new(), custom, models, engines: None, files })
    }

    /// The given value of a parameter.
    pub fn given(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(known, _)| known.name == name).map(|(_, value)| value.as_str())
    }

    /// All given values with their parameter names.
    pub fn all_given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.given.iter().map(|(parameter, value)| (parameter.name, value.as_str()))
    }

    /// The same player with another value of a parameter.
    pub fn with(&self, name: &str, value: &str) -> Result<AgentSpec, SpecError> {
        let mut spec = self.clone();
        spec.given.retain(|(known, _)| known.name != name);
        spec.set(name, value)?;
        Ok(spec)
    }

    /// Parses players separated by commas, which also separate a player's parameters: `depth=3`
    /// belongs to the preceding player, `minimax:depth=3` begins a new one.
    ///
    /// ```
    /// use claimeven_arena::AgentSpec;
    ///
    /// let text = r#"minimax:depth=3,eval=bits,ugi:cmd="engine --level=a,b",ms=50,random"#;
    /// let players = AgentSpec::parse_list(text).unwrap();
    /// assert_eq!(players.len(), 3);
    /// assert_eq!(players[1].given("cmd"), Some("engine --level=a,b"));
    /// ```
    pub fn parse_list(text: &str) -> Result<Vec<AgentSpec>, SpecError> {
        let mut texts: Vec<String> = Vec::new();
        for part in split_outside_quotes(text) {
            let first_mark = part.find([':', '=']).map(|place| part.as_bytes()[place]);
            match texts.last_mut() {
                Some(last) if first_mark == Some(b'=') => {
                    // The first parameter of a player comes after a colon.
                    last.push(if last.contains(':') { ',' } else { ':' });
                    last.push_str(part);
                }
                _ => texts.push(part.trim().to_owned()),
            }
        }
        texts.iter().map(|text| text.parse()).collect()
    }

    /// The same player, with its model looked up in a store.
    #[must_use]
    pub fn with_models(mut self, models: &ModelStore) -> AgentSpec {
        self.models = models.clone();
        self
    }

    /// The same player, whose program is kept in a pool between games; an existing pool is not
    /// replaced.
    #[must_use]
    pub fn with_engines(mut self, engines: &EnginePool) -> AgentSpec {
        self.engines.get_or_insert_with(|| engines.clone());
        self
    }

    /// The files that the player reads, by their names in its text, or why it can only play on this
    /// machine.
    pub(crate) fn files(&self) -> Result<Vec<(String, PathBuf)>, String> {
        if self.custom.is_some() || self.kind.name == "ugi" {
            return Err(format!("{self} is a program on this machine"));
        }
        let model = self.given("model").map(|text| (text, self.models.find(text).file()));
        let weights = self.given("eval").filter(|text| is_toml(text));
        let weights = weights.map(|text| (text, PathBuf::from(text)));
        let proof = self.given("file").map(|text| (text, PathBuf::from(text)));
        let all = [model, weights, proof].into_iter().flatten();
        Ok(all.map(|(name, path)| (name.to_owned(), path)).collect())
    }

    /// The same player, which reads copies of its files.
    pub(crate) fn with_files(mut self, files: &BTreeMap<String, PathBuf>) -> AgentSpec {
        self.files = Arc::new(files.clone());
        self
    }

    /// Whether its moves depend on how fast the machine is.
    pub(crate) fn depends_on_time(&self) -> bool {
        self.kind.name == "timed" || self.given("ms").is_some()
    }

    /// Builds the player for a game. The seed is used unless the text has one.
    pub fn build(&self, setup: Setup, seed: u64) -> Result<Box<dyn Agent>, AgentError> {
        self.build_with(setup, seed, false)
    }

    /// Builds the player for a game with a time limit: `mcts`, `zero` and `timed` use all their
    /// time, unless their text has a limit of its own.
    pub fn build_timed(&self, setup: Setup, seed: u64) -> Result<Box<dyn Agent>, AgentError> {
        self.build_with(setup, seed, true)
    }

    fn build_with(&self, setup: Setup, seed: u64, is_timed: bool) -> Built {
        match &self.custom {
            Some(custom) => (custom.build)(setup, seed),
            None => (self.kind.build)(&Settings { spec: self, setup, seed, is_timed }),
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), SpecError> {
        let agent = self.kind.name;
        let parameter = self.kind.parameter(name).ok_or_else(|| SpecError::Parameter {
            agent,
            name: name.to_owned(),
            known: self.kind.all_parameters().map(|parameter| parameter.name).collect(),
        })?;
        if self.given(name).is_some() {
            return Err(SpecError::Twice { agent, name: parameter.name });
        }
        parameter.values.check(value).map_err(|reason| SpecError::Value {
            agent,
            name: parameter.name,
            value: value.to_owned(),
            reason,
        })?;
        self.given.push((parameter, value.to_owned()));
        let place = |name: &str| self.kind.parameters.iter().position(|known| known.name == name);
        // The seed is not one of the kind's own parameters and comes last.
        self.given.sort_by_key(|(parameter, _)| place(parameter.name).unwrap_or(usize::MAX));
        Ok(())
    }
}

impl AgentKind {
    /// All parameters, including the seed.
    pub fn all_parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters.iter().chain([&SEED])
    }

    fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.all_parameters().find(|parameter| parameter.name == name)
    }

    /// The parameter that may be given without its name: the one with the name of the kind.
    fn own_parameter(&self) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == self.name)
    }
}

impl FromStr for AgentSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<AgentSpec, SpecError> {
        if let Some((_, meaning)) = ALIASES.iter().find(|(alias, _)| *alias == text) {
            return meaning.parse();
        }
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let kind = AGENTS.iter().find(|kind| kind.name == name);
        let kind = kind.ok_or_else(|| SpecError::Agent(name.to_owned()))?;
        let models = ModelStore::default();
        let files = Arc::default();
        let mut spec =
            AgentSpec { kind, given: Vec::new(), custom: None, models, engines: None, files };
        for parameter in split_parameters(parameters) {
            match (parameter.split_once('='), kind.own_parameter()) {
                (Some((name, value)), _) => spec.set(name.trim(), &unquoted(value.trim())?)?,
                (None, Some(own)) => spec.set(own.name, parameter.trim())?,
                (None, None) => spec.set(parameter.trim(), "")?,
            }
        }
        let needed = kind.parameters.iter().filter(|parameter| {
            let is_needed = matches!(parameter.values, Values::Text { needed: true, .. });
            parameter.name == kind.name || is_needed
        });
        for parameter in needed {
            if spec.given(parameter.name).is_none() {
                spec.set(parameter.name, "")?;
            }
        }
        Ok(spec)
    }
}

/// Splits parameters at commas outside quotes.
fn split_parameters(text: &str) -> impl Iterator<Item = &str> {
    split_outside_quotes(text).filter(|part| !part.is_empty())
}

fn split_outside_quotes(text: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |character| {
        if character == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && character == '\\' && !escaped;
        character == ',' && !quoted
    })
}

/// A value without its quotes; a backslash escapes the next character.
fn unquoted(value: &str) -> Result<String, SpecError> {
    let Some(inner) = value.strip_prefix('"') else { return Ok(value.to_owned()) };
    let wrong = || SpecError::Quotes(value.to_owned());
    let mut text = String::new();
    let mut characters = inner.chars();
    loop {
        match characters.next().ok_or_else(wrong)? {
            '"' if characters.as_str().is_empty() => return Ok(text),
            '"' => return Err(wrong()),
            '\\' => text.push(characters.next().ok_or_else(wrong)?),
            character => text.push(character),
        }
    }
}

/// The value, quoted if it contains a character that would end it.
fn quoted(value: &str) -> String {
    let is_plain = |character: char| !character.is_whitespace() && !"\"\\,".contains(character);
    if value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(custom) = &self.custom {
            return f.pad(&custom.name);
        }
        let mut text = self.kind.name.to_owned();
        for (index, (parameter, value)) in self.given.iter().enumerate() {
            text.push(if index == 0 { ':' } else { ',' });
            if parameter.name != self.kind.name {
                text.push_str(parameter.name);
                text.push('=');
            }
            text.push_str(&quoted(value));
        }
        f.pad(&text)
    }
}

impl fmt::Debug for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl PartialEq for AgentSpec {
    fn eq(&self, other: &AgentSpec) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for AgentSpec {}

impl Values {
    /// Checks a value; the error says what is allowed.
    fn check(&self, text: &str) -> Result<(), String> {
        let is_allowed = match *self {
            Values::Whole { min, max, .. } => {
                text.parse().is_ok_and(|number: u64| (min..=max).contains(&number))
            }
            Values::Decimal { min, max, .. } => {
                text.parse().is_ok_and(|number: f64| (min..=max).contains(&number))
            }
            Values::Word(words) => words.contains(&text),
            Values::Text { .. } => !text.trim().is_empty(),
            Values::Heuristic { .. } => Heuristic::named(text).is_some() || is_toml(text),
        };
        if is_allowed { Ok(()) } else { Err(format!("not {self}")) }
    }
}

impl fmt::Display for Values {
    /// The allowed values in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::Whole { min, max: u64::MAX, .. } => {
                write!(f, "a whole number of at least {min}")
            }
            Values::Whole { min, max, .. } => {
                write!(f, "a whole number from {min} to {max}")
            }
            Values::Decimal { min, max, .. } => write!(f, "a number from {min} to {max}"),
            Values::Word(words) => f.write_str(&list(words, "or")),
            Values::Text { what, .. } => f.write_str(what),
            Values::Heuristic { .. } => {
                let names: Vec<&str> = Heuristic::names().collect();
                write!(f, "{} or a .toml file", names.join(", "))
            }
        }
    }
}

/// The parameters of a player being built.
pub(crate) struct Settings<'a> {
    spec: &'a AgentSpec,
    /// The setup of the game.
    pub(crate) setup: Setup,
    seed: u64,
    /// Whether the game has a time limit.
    pub(crate) is_timed: bool,
}

impl Settings<'_> {
    /// The model of this name.
    pub(crate) fn model(&self, text: &str) -> Model {
        match self.copy(text) {
            Some(path) => Model::File(path.to_owned()),
            None => self.spec.models.find(text),
        }
    }

    /// The file that a parameter names, or the copy of it.
    pub(crate) fn file(&self, name: &str) -> Option<&Path> {
        let text = self.spec.given(name)?;
        Some(self.copy(text).unwrap_or_else(|| Path::new(text)))
    }

    /// The copy of a file that the player's text names.
    fn copy(&self, text: &str) -> Option<&Path> {
        self.spec.files.get(text).map(PathBuf::as_path)
    }

    /// Where other programs are kept between games.
    pub(crate) fn engines(&self) -> Option<&EnginePool> {
        self.spec.engines.as_ref()
    }

    fn values(&self, name: &str) -> Values {
        self.spec.kind.parameter(name).expect("the kind has the parameter").values
    }

    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        let Values::Whole { default, .. } = self.values(name) else {
            unreachable!("{name} is a whole number")
        };
        self.spec.given(name).map_or(default, |value| value.parse().ok())
    }

    pub(crate) fn decimal(&self, name: &str) -> f64 {
        let Values::Decimal { default, .. } = self.values(name) else {
            unreachable!("{name} is a number")
        };
        self.spec.given(name).and_then(|value| value.parse().ok()).unwrap_or(default)
    }

    pub(crate) fn word(&self, name: &str) -> &str {
        let Values::Word(words) = self.values(name) else { unreachable!("{name} is a word") };
        self.spec.given(name).unwrap_or(words[0])
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.spec.given(name)
    }

    /// A built-in heuristic, or the weights in a file, which is read here.
    pub(crate) fn heuristic(&self, name: &str) -> Result<Heuristic, AgentError> {
        let Values::Heuristic { default } = self.values(name) else {
            unreachable!("{name} is a heuristic")
        };
        let text = self.spec.given(name).unwrap_or(default);
        let heuristic = if is_toml(text) {
            Heuristic::from_file(self.copy(text).unwrap_or(Path::new(text)))
        } else {
            text.parse()
        };
        let agent = self.spec.kind.name;
        heuristic
            .map_err(|error| AgentError::Failed { reason: format!("{name} of {agent}: {error}") })
    }

    pub(crate) fn seed(&self) -> u64 {
        self.whole(SEED.name).unwrap_or(self.seed)
    }
}

/// The player of a side: a person or a program.
///
/// ```
/// use claimeven_arena::Participant;
///
/// let players = ["human", "level:3"].map(|text| text.parse::<Participant>().unwrap());
/// assert!(matches!(players, [Participant::Human, Participant::Agent(_)]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Participant {
    /// A person.
    Human,
    /// A program.
    Agent(AgentSpec),
}

impl FromStr for Participant {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Participant, SpecError> {
        match text.split_once(':') {
            None if text == "human" => Ok(Participant::Human),
            Some(("human", parameters)) => Err(SpecError::Parameter {
                agent: "human",
                name: parameters.to_owned(),
                known: Vec::new(),
            }),
            _ => text.parse().map(Participant::Agent),
        }
    }
}

impl fmt::Display for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Participant::Human => f.pad("human"),
            Participant::Agent(spec) => spec.fmt(f),
        }
    }
}

/// Why an agent text is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// No player has this name.
    Agent(String),
    /// A custom player cannot have this name.
    NameTaken(String),
    /// The player has no such parameter.
    Parameter {
        /// The player.
        agent: &'static str,
        /// The unknown name.
        name: String,
        /// The parameters it has.
        known: Vec<&'static str>,
    },
    /// A parameter is given more than once.
    Twice {
        /// The player.
        agent: &'static str,
        /// The parameter.
        name: &'static str,
    },
    /// A value starts with a quote but does not end with one.
    Quotes(String),
    /// The value is not allowed for the parameter.
    Value {
        /// The player.
        agent: &'static str,
        /// The parameter.
        name: &'static str,
        /// The value.
        value: String,
        /// Why it is not allowed.
        reason: String,
    },
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Agent(name) => {
                let names: Vec<&str> = AGENTS.iter().map(|kind| kind.name).collect();
                write!(f, "unknown player '{name}'")?;
                write_suggestion(f, name, &names)?;
                write!(f, " (available: {}, human)", names.join(", "))
            }
            SpecError::NameTaken(name) => {
                write!(f, "a custom player cannot be called '{name}'")
            }
            SpecError::Parameter { agent, name, known } => {
                write!(f, "{agent} has no parameter '{name}'")?;
                write_suggestion(f, name, known)?;
                match &known[..] {
                    [] => Ok(()),
                    known => write!(f, " (available: {})", known.join(", ")),
                }
            }
            SpecError::Twice { agent, name } => {
                write!(f, "parameter {name} of {agent} is given twice")
            }
            SpecError::Quotes(value) => {
                write!(f, "{value} is not a quoted text (write \\\" and \\\\ inside the quotes)")
            }
            SpecError::Value { agent, name, value, reason } => {
                write!(f, "{name} '{value}' of {agent}: {reason}")
            }
        }
    }
}

impl std::error::Error for SpecError {}

/// Suggests a similar name, if there is one.
pub(crate) fn write_suggestion(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    known: &[&str],
) -> fmt::Result {
    let similarity = |known: &str| strsim::jaro_winkler(name, known);
    let guess = known.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    match guess {
        Some(guess) if similarity(guess) > 0.75 => write!(f, "; did you mean {guess}?"),
        _ => Ok(()),
    }
}

fn is_toml(text: &str) -> bool {
    Path::new(text).extension().is_some_and(|extension| extension == "toml")
}

fn list(words: &[&str], conjunction: &str) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [words @ .., last] => format!("{} {conjunction} {last}", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_values_may_contain_anything() {
        for (value, text) in [
            ("./engine", "ugi:cmd=./engine"),
            ("./engine --fast", r#"ugi:cmd="./engine --fast""#),
            ("sh -c 'a, b'", r#"ugi:cmd="sh -c 'a, b'""#),
            (r#"say "hi" \o/"#, r#"ugi:cmd="say \"hi\" \\o/""#),
        ] {
            let spec: AgentSpec = text.parse().unwrap();
            assert_eq!(spec.given("cmd"), Some(value));
            assert_eq!(spec.to_string(), text);
            let longer: AgentSpec = format!("{text},ms=50,seed=3").parse().unwrap();
            assert_eq!(longer.to_string(), format!("{text},ms=50,seed=3"));
        }
    }

    #[test]
    fn unterminated_quotes_are_an_error() {
        for value in [r#""./engine"#, r#""a"b"#, r#"""#, r#""a\""#] {
            let error = format!("ugi:cmd={value}").parse::<AgentSpec>().unwrap_err();
            assert_eq!(error, SpecError::Quotes(value.to_owned()));
        }
        let error = "ugi".parse::<AgentSpec>().unwrap_err().to_string();
        assert_eq!(error, "cmd '' of ugi: not a command in quotes");
    }
}
