//! The key that signs cookies. It is kept outside the database, so that a copy of the database is not
//! enough to sign cookies.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::config::Config;
use crate::server::ServerError;
use crate::store::{Store, StoreError};
use crate::visitor::random_hex;

/// The key in the setting `secret` or in the key file, which is created if it does not exist. A key
/// that an earlier version kept in the database moves into the file, so that cookies stay valid.
pub(crate) async fn signing_key(config: &Config, store: &Store) -> Result<String, ServerError> {
    let database = |error: StoreError| ServerError::Other(format!("{error:?}"));
    let old = store.old_signing_key().await.map_err(database)?;
    let key = match (&config.secret[..], config.secret_path()) {
        ("", Some(path)) => {
            let failed = |error: io::Error| {
                ServerError::Other(format!("cannot use the key file {}: {error}", path.display()))
            };
            let new = old.clone().unwrap_or_else(random_hex::<32>);
            read_or_create(&path, &new).map_err(failed)?
        }
        ("", None) if config.is_postgres() => {
            return Err(ServerError::Other(
                "a PostgreSQL database needs a key file for cookies: set secret_file or secret"
                    .to_owned(),
            ));
        }
        // A database in memory lives as long as its key.
        ("", None) => random_hex::<32>(),
        (secret, _) => secret.to_owned(),
    };
    if old.is_some() {
        store.remove_old_signing_key().await.map_err(database)?;
    }
    Ok(key)
}

fn read_or_create(path: &Path, new: &str) -> io::Result<String> {
    match fs::read_to_string(path) {
        Ok(content) if content.trim().is_empty() => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "the file is empty"))
        }
        Ok(content) => Ok(content.trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            // Atomically: the file is complete or does not exist. If several servers start at the same time,
            // the first one creates it.
            let draft = path.with_added_extension(random_hex::<8>());
            let mut file = create_private(&draft)?;
            writeln!(file, "{new}")?;
            file.sync_all()?;
            let linked = fs::hard_link(&draft, path);
            match linked {
                Ok(()) => fs::remove_file(&draft)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    fs::remove_file(&draft)?;
                    return Ok(fs::read_to_string(path)?.trim().to_owned());
                }
                // Not every file system has hard links.
                Err(_) => fs::rename(&draft, path)?,
            }
            Ok(new.to_owned())
        }
        Err(error) => Err(error),
    }
}

/// Creates or truncates a file that only the user of this process can read.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread;

    use super::*;

    #[test]
    fn servers_that_start_together_have_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cookies.key");
        let keys: HashSet<String> = thread::scope(|scope| {
            let start = |number: u8| {
                let path = &path;
                scope.spawn(move || read_or_create(path, &number.to_string()).unwrap())
            };
            let servers: Vec<_> = (0..8).map(start).collect();
            servers.into_iter().map(|server| server.join().unwrap()).collect()
        });
        assert_eq!(keys.len(), 1, "{keys:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
