//! The settings of a server, as `serve`, `admin` and `doctor` read them.

use std::env;
use std::fs;
use std::path::PathBuf;

use claimeven_server::{Config, Settings, SettingsError};
use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};

use crate::Failure;

/// Where the settings come from.
#[derive(clap::Args)]
pub(crate) struct SettingsArgs {
    /// Database of the games: sqlite:PATH or postgres://… [default: a file in the data directory]
    #[arg(long, value_name = "URL", global = true)]
    database: Option<String>,

    /// TOML file with settings
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,

    /// Any other setting; can be repeated
    #[arg(long, value_name = "NAME=VALUE", global = true)]
    set: Vec<String>,
}

impl SettingsArgs {
    /// The settings of the file, the environment and the options; later ones override earlier ones.
    /// `more` are options of the command. The folder of the default database is created if `create`.
    pub(crate) fn config(
        &self,
        more: &[(&str, Option<String>)],
        create: bool,
    ) -> Result<Config, Failure> {
        let invalid = |error: SettingsError| Failure::Input(error.to_string());
        let mut settings = Settings::default();
        if let Some(path) = &self.config {
            let content =
                fs::read_to_string(path).map_err(|error| Failure::in_file(path, &error))?;
            settings.file(&content).map_err(|error| Failure::in_file(path, &error))?;
        }
        for name in Settings::names() {
            let variable = format!("CLAIMEVEN_{}", name.to_uppercase());
            if let Ok(value) = env::var(&variable) {
                let named = |error| Failure::Input(format!("{variable}: {error}"));
                settings.text(&name, &value).map_err(named)?;
            }
        }
        for setting in &self.set {
            let (name, value) = setting.split_once('=').ok_or_else(|| {
                Failure::Input(format!(
                    "invalid value '{setting}' for '--set': expected NAME=VALUE"
                ))
            })?;
            settings.text(name.trim(), value.trim()).map_err(invalid)?;
        }
        for (name, value) in [("database", self.database.clone())].iter().chain(more) {
            if let Some(value) = value {
                settings.text(name, value).map_err(invalid)?;
            }
        }
        let mut config = settings.config().map_err(invalid)?;
        if config.database.is_empty() {
            config.database = default_database(create)?;
        }
        let kinds = ["sqlite:", "postgres:", "postgresql:"];
        if !kinds.iter().any(|kind| config.database.starts_with(kind)) {
            return Err(Failure::Input(format!(
                "invalid database '{}': expected sqlite:PATH or postgres://…",
                config.redacted_database()
            )));
        }
        if config.is_postgres() && config.secret.is_empty() && config.secret_file.is_empty() {
            config.secret_file = data_folder()?.join("cookies.key").display().to_string();
        }
        Ok(config)
    }
}

/// A file in the user's data directory.
fn default_database(create: bool) -> Result<String, Failure> {
    let folder = data_folder()?;
    if create {
        fs::create_dir_all(&folder).map_err(|error| Failure::unwritable(&folder, &error))?;
    }
    Ok(format!("sqlite:{}", folder.join("games.sqlite").display()))
}

/// Where everything that is not in a PostgreSQL database is kept by default.
fn data_folder() -> Result<PathBuf, Failure> {
    let base = choose_native_strategy().map_err(|error| {
        Failure::Other(format!("no data directory found ({error}); use --database"))
    })?;
    Ok(base.data_dir().join("claimeven"))
}
