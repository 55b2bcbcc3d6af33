//! The history of the schema. The files are listed by hand, because the macro that reads the folder
//! would compile both database drivers a second time for the build host.

use std::borrow::Cow;

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// Migrates an empty or older database to the current schema.
pub(super) fn migrator() -> Migrator {
    let scripts = [
        (1, "games", include_str!("../../migrations/0001_games.sql")),
        (2, "reviews", include_str!("../../migrations/0002_reviews.sql")),
        (3, "jobs", include_str!("../../migrations/0003_jobs.sql")),
        (4, "listed", include_str!("../../migrations/0004_listed.sql")),
        (5, "totals", include_str!("../../migrations/0005_totals.sql")),
        (6, "bans", include_str!("../../migrations/0006_bans.sql")),
        (7, "clocks", include_str!("../../migrations/0007_clocks.sql")),
        (8, "fleet", include_str!("../../migrations/0008_fleet.sql")),
        (9, "coach", include_str!("../../migrations/0009_coach.sql")),
    ];
    let migrations = scripts.map(|(version, description, sql)| {
        let sql = sql.into_sql_str();
        Migration::new(version, Cow::Borrowed(description), MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(migrations.into())
}

/// Whether the schema, in any of its versions, has a table of this name.
pub(crate) fn is_table(name: &str) -> bool {
    let create = format!("CREATE TABLE {name} (");
    migrator().iter().any(|migration| migration.sql.as_str().contains(&create))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::migrator;

    #[test]
    fn every_script_in_the_folder_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let files: BTreeSet<String> = fs::read_dir(folder)
            .expect("the folder should exist")
            .map(|file| {
                file.expect("the entry should be readable")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        let listed: BTreeSet<String> = migrator()
            .iter()
            .map(|script| format!("{:04}_{}.sql", script.version, script.description))
            .collect();
        assert_eq!(listed, files);
    }
}
