//! Backups: one compressed file of JSON lines, which can be restored into SQLite and PostgreSQL alike.
//!
//! The first line has the format and the schema. Then each table has a line with its columns and
//! number of rows, followed by its rows in the database's own JSON; the last line marks the end.
//! Everything is read in one transaction, so it is a consistent snapshot even if the server writes
//! in the meantime.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, Row};

use super::{Admin, broken, time};
use crate::config::Config;
use crate::secret_key::create_private;
use crate::server::ServerError;
use crate::store::{self, now_ms};

/// What a backup contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct BackupSummary {
    pub created: String,
    /// The number of rows by table.
    pub rows: BTreeMap<String, u64>,
}

/// The version of this format.
const FORMAT: u32 = 1;

/// How many rows are inserted at once.
const CHUNK: usize = 500;

/// Every line that is not a row.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Mark {
    ClaimevenBackup { format: u32, schema: i64, created: String },
    Table { name: String, columns: Vec<String>, rows: u64 },
    End,
}

impl Admin {
    /// Writes a backup to a temporary file and renames it when it is complete.
    pub async fn backup(&mut self, path: &Path) -> Result<BackupSummary, ServerError> {
        let unwritable = |error: std::io::Error| {
            ServerError::Other(format!("cannot write {}: {error}", path.display()))
        };
        let draft = path.with_added_extension("partial");
        let file = create_private(&draft).map_err(unwritable)?;
        let mut out = GzEncoder::new(BufWriter::new(file), Compression::default());
        let begin = if self.config.is_postgres() {
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        } else {
            "BEGIN"
        };
        let is_postgres = self.config.is_postgres();
        let written = async {
            self.connection.execute(sqlx::raw_sql(begin)).await.map_err(broken)?;
            let summary = write_tables(&mut self.connection, is_postgres, &mut out).await?;
            self.connection.execute(sqlx::raw_sql("ROLLBACK")).await.map_err(broken)?;
            Ok(summary)
        };
        let written = written.await;
        let finish = || {
            let file = out.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            file.sync_all()?;
            fs::rename(&draft, path)
        };
        let summary = written.and_then(|summary| finish().map(|()| summary).map_err(unwritable));
        if summary.is_err() {
            // An incomplete file is useless.
            let _ = fs::remove_file(&draft);
        }
        summary
    }

    /// Restores a backup into an empty database or, with `force`, replaces its contents. After an
    /// error nothing is changed. Fails while a server uses the database.
    pub async fn restore(
        config: &Config,
        path: &Path,
        force: bool,
    ) -> Result<BackupSummary, ServerError> {
        let (schema, summary) = check_file(path).map_err(|error| in_file(path, &error))?;
        let latest = store::latest_schema();
        if schema > latest {
            let reason = format!(
                "made by a newer version (schema {schema}, this version supports {latest})"
            );
            return Err(in_file(path, &reason));
        }
        let database = |error: store::StoreError| ServerError::Database {
            database: config.redacted_database(),
            reason: error.to_string(),
        };
        let _lock = store::lock(&config.database).await.map_err(database)?;
        let mut connection = store::create(&config.database).await.map_err(database)?;
        let is_postgres = config.is_postgres();
        // Everything in one transaction, including the schema, so that an error leaves the database
        // unchanged.
        let mut transaction = connection.begin().await.map_err(broken)?;
        let old = tables(&mut transaction, is_postgres).await?;
        if !force && holds_data(&mut transaction, &old).await? {
            return Err(ServerError::Other(format!(
                "the database {} is not empty; use --force to replace its contents",
                config.redacted_database()
            )));
        }
        for table in old.iter().map(String::as_str).chain(["_sqlx_migrations"]) {
            let sql = format!("DROP TABLE IF EXISTS {table}");
            transaction.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map_err(broken)?;
        }
        // First the backup's schema and rows, then the later migrations.
        store::migrate(&mut transaction, schema).await.map_err(database)?;
        insert_rows(&mut transaction, is_postgres, path).await?;
        store::migrate(&mut transaction, latest).await.map_err(database)?;
        transaction.commit().await.map_err(broken)?;
        if !is_postgres {
            // Moves the rows from the write-ahead log, which is as large as they are, to the file.
            let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
            connection.execute(sqlx::raw_sql(sql)).await.map_err(broken)?;
        }
        Ok(summary)
    }
}

async fn write_tables(
    connection: &mut AnyConnection,
    is_postgres: bool,
    out: &mut impl Write,
) -> Result<BackupSummary, ServerError> {
    let schema = store::schema_of(connection).await.map_err(broken)?;
    let mut summary = BackupSummary { created: time(now_ms()), rows: BTreeMap::new() };
    let created = summary.created.clone();
    write_mark(out, &Mark::ClaimevenBackup { format: FORMAT, schema, created })?;
    for name in tables(connection, is_postgres).await? {
        let count = format!("SELECT COUNT(*) FROM {name}");
        let count = sqlx::query(AssertSqlSafe(count)).fetch_one(&mut *connection).await;
        let count: i64 = count.and_then(|row| row.try_get(0)).map_err(broken)?;
        let rows = count.cast_unsigned();
        let columns = columns(connection, is_postgres, &name).await?;
        write_mark(out, &Mark::Table { name: name.clone(), columns: columns.clone(), rows })?;
        let sql = if is_postgres {
            format!("SELECT CAST(row_to_json({name}) AS TEXT) FROM {name}")
        } else {
            let pairs: Vec<String> =
                columns.iter().map(|column| format!("'{column}', {column}")).collect();
            format!("SELECT json_object({}) FROM {name}", pairs.join(", "))
        };
        let mut stream = sqlx::query(AssertSqlSafe(sql)).fetch(&mut *connection);
        while let Some(row) = stream.try_next().await.map_err(broken)? {
            let row: String = row.try_get(0).map_err(broken)?;
            writeln!(out, "{row}").map_err(broken)?;
        }
        summary.rows.insert(name, rows);
    }
    write_mark(out, &Mark::End)?;
    Ok(summary)
}

fn write_mark(out: &mut impl Write, mark: &Mark) -> Result<(), ServerError> {
    let line = serde_json::to_string(mark).map_err(broken)?;
    writeln!(out, "{line}").map_err(broken)
}

/// The tables of the server, except the migrations table. The database may have others as well.
async fn tables(
    connection: &mut AnyConnection,
    is_postgres: bool,
) -> Result<Vec<String>, ServerError> {
    let sql = if is_postgres {
        "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema() \
         AND tablename <> '_sqlx_migrations' ORDER BY 1"
    } else {
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
         AND name <> '_sqlx_migrations' ORDER BY 1"
    };
    let rows = sqlx::query(sql).fetch_all(connection).await.map_err(broken)?;
    let names = rows.iter().map(|row| row.try_get::<String, _>(0).map_err(broken));
    let mut names = names.collect::<Result<Vec<_>, _>>()?;
    names.retain(|name| store::is_table(name));
    Ok(names)
}

async fn columns(
    connection: &mut AnyConnection,
    is_postgres: bool,
    table: &str,
) -> Result<Vec<String>, ServerError> {
    let sql = if is_postgres {
        "SELECT CAST(column_name AS TEXT) FROM information_schema.columns \
         WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position"
    } else {
        "SELECT name FROM pragma_table_info($1) ORDER BY cid"
    };
    let rows = sqlx::query(sql).bind(table.to_owned()).fetch_all(connection).await;
    rows.map_err(broken)?.iter().map(|row| row.try_get(0).map_err(broken)).collect()
}

async fn holds_data(
    connection: &mut AnyConnection,
    tables: &[String],
) -> Result<bool, ServerError> {
    for table in tables.iter().filter(|table| *table != "settings") {
        let sql = format!("SELECT 1 FROM {table} LIMIT 1");
        let row = sqlx::query(AssertSqlSafe(sql)).fetch_optional(&mut *connection).await;
        if row.map_err(broken)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

type Lines = std::io::Lines<BufReader<GzDecoder<BufReader<File>>>>;

fn lines(path: &Path) -> Result<Lines, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    Ok(BufReader::new(GzDecoder::new(BufReader::new(file))).lines())
}

/// Reads the whole file before anything is changed; returns the schema and the contents.
fn check_file(path: &Path) -> Result<(i64, BackupSummary), String> {
    let not_a_backup = || "not a Claimeven backup".to_owned();
    let mut lines = lines(path)?;
    let first = lines.next().and_then(Result::ok).ok_or_else(not_a_backup)?;
    let (schema, created) = match serde_json::from_str(&first) {
        Ok(Mark::ClaimevenBackup { format: FORMAT, schema, created }) => (schema, created),
        Ok(Mark::ClaimevenBackup { format, .. }) => {
            return Err(format!("unknown backup format {format}"));
        }
        _ => return Err(not_a_backup()),
    };
    let mut summary = BackupSummary { created, rows: BTreeMap::new() };
    loop {
        match next_mark(&mut lines)? {
            Mark::Table { name, rows, .. } => {
                for _ in 0..rows {
                    next_line(&mut lines)?;
                }
                summary.rows.insert(name, rows);
            }
            Mark::End => return Ok((schema, summary)),
            Mark::ClaimevenBackup { .. } => return Err(damaged(&"second header")),
        }
    }
}

fn next_line(lines: &mut Lines) -> Result<String, String> {
    let line = lines.next().ok_or_else(|| damaged(&"unexpected end of file"))?;
    line.map_err(|error| damaged(&error))
}

fn next_mark(lines: &mut Lines) -> Result<Mark, String> {
    serde_json::from_str(&next_line(lines)?).map_err(|error| damaged(&error))
}

fn damaged(reason: &dyn std::fmt::Display) -> String {
    format!("the backup is damaged: {reason}")
}

fn in_file(path: &Path, reason: &str) -> ServerError {
    ServerError::Other(format!("{}: {reason}", path.display()))
}

/// Inserts all rows of a checked file.
async fn insert_rows(
    connection: &mut AnyConnection,
    is_postgres: bool,
    path: &Path,
) -> Result<(), ServerError> {
    let named = |error: String| in_file(path, &error);
    let known = tables(connection, is_postgres).await?;
    // The migrations have already filled some tables.
    for table in &known {
        let sql = format!("DELETE FROM {table}");
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map_err(broken)?;
    }
    let mut lines = lines(path).map_err(named)?;
    next_line(&mut lines).map_err(named)?;
    while let Mark::Table { name, columns, rows } = next_mark(&mut lines).map_err(named)? {
        // Names of tables and columns become part of statements, so they must be known ones.
        let is_known = known.contains(&name) && {
            let known = self::columns(connection, is_postgres, &name).await?;
            columns.iter().all(|column| known.contains(column))
        };
        if !is_known {
            return Err(in_file(path, &damaged(&format!("unknown table '{name}'"))));
        }
        let list = columns.join(", ");
        let sql = if is_postgres {
            format!(
                "INSERT INTO {name} ({list}) SELECT {list} \
                 FROM json_populate_recordset(CAST(NULL AS {name}), CAST($1 AS json))"
            )
        } else {
            let values: Vec<String> =
                columns.iter().map(|column| format!("value ->> '{column}'")).collect();
            format!("INSERT INTO {name} ({list}) SELECT {} FROM json_each($1)", values.join(", "))
        };
        let mut left = usize::try_from(rows).unwrap_or(usize::MAX);
        while left > 0 {
            let chunk = (0..left.min(CHUNK)).map(|_| next_line(&mut lines));
            let chunk = chunk.collect::<Result<Vec<_>, _>>().map_err(named)?;
            left -= chunk.len();
            let json = format!("[{}]", chunk.join(","));
            let query = sqlx::query(AssertSqlSafe(sql.clone())).bind(json);
            query.execute(&mut *connection).await.map_err(broken)?;
        }
    }
    Ok(())
}
