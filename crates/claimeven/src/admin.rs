//! `claimeven admin`: operators' commands on a server's database.

use std::io::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use claimeven_server::{
    Admin, BackupSummary, Config, GameFilter, GameRow, IpNet, JobKind, JobRow, Pruned, Retention,
    ServerError,
};
use clap::Subcommand;
use serde::Serialize;

use crate::Failure;
use crate::output::print_json;
use crate::server_settings::SettingsArgs;
use crate::text::counted;

/// Inspect, delete, back up and restore the data of a server, even while it is running
#[derive(clap::Args)]
#[command(
    after_help = "The database is the one that `claimeven serve` would use with the same options.\n\n\
    Examples:\n  \
    claimeven admin games --status playing\n  \
    claimeven admin games delete gxwk2mzp7q\n  \
    claimeven admin visitors --json\n  \
    claimeven admin ban 203.0.113.0/24 --for 7d --reason spam\n  \
    claimeven admin prune --older-than 90d --max-size 2GB\n  \
    claimeven admin backup games.backup --database postgres://user:password@host/claimeven"
)]
pub(crate) struct Args {
    #[command(flatten)]
    settings: SettingsArgs,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List, show or delete games
    #[command(args_conflicts_with_subcommands = true)]
    Games {
        #[command(flatten)]
        list: GamesArgs,
        #[command(subcommand)]
        action: Option<Action>,
    },
    /// List, show or delete visitors with everything they have stored
    #[command(args_conflicts_with_subcommands = true)]
    Visitors {
        #[command(flatten)]
        list: LimitArgs,
        #[command(subcommand)]
        action: Option<Action>,
    },
    /// List, show or delete tournaments
    #[command(args_conflicts_with_subcommands = true)]
    Jobs {
        #[command(flatten)]
        list: LimitArgs,
        #[command(subcommand)]
        action: Option<Action>,
    },
    /// List, show or delete training runs with their networks
    #[command(args_conflicts_with_subcommands = true)]
    Runs {
        #[command(flatten)]
        list: LimitArgs,
        #[command(subcommand)]
        action: Option<Action>,
    },
    /// Refuse all requests from an address or range
    #[command(after_help = "Examples:\n  \
        claimeven admin ban 203.0.113.7\n  \
        claimeven admin ban 2001:db8::/48 --for 12h --reason 'too many games'")]
    Ban {
        /// Address, or range such as 203.0.113.0/24
        #[arg(value_name = "ADDRESS|RANGE", value_parser = range)]
        range: IpNet,
        /// Duration: 30m, 12h, 7d or 4w [default: forever]
        #[arg(long = "for", value_name = "TIME", value_parser = duration)]
        time: Option<Duration>,
        /// Reason, shown in the list of bans
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// Lift a ban
    Unban {
        /// Address or range, as `claimeven admin bans` lists it
        #[arg(value_name = "ADDRESS|RANGE", value_parser = range)]
        range: IpNet,
    },
    /// List the bans
    Bans,
    /// Delete old finished games and tournaments
    #[command(
        after_help = "Games in progress and training runs are kept. With the settings prune_days \
        and prune_mb, a\nserver prunes automatically.\n\n\
        Examples:\n  \
        claimeven admin prune --older-than 90d --dry-run\n  \
        claimeven admin prune --older-than 1y --max-size 2GB"
    )]
    Prune {
        /// Delete what has not changed for this long: 12h, 90d, 8w or 1y
        #[arg(long, value_name = "TIME", value_parser = duration)]
        #[arg(required_unless_present = "max_size")]
        older_than: Option<Duration>,
        /// Delete the oldest until the stored data fits in this size: 500MB or 2GB
        #[arg(long, value_name = "SIZE", value_parser = size)]
        max_size: Option<u64>,
        /// Print what --older-than would delete, without deleting it
        #[arg(long, requires = "older_than", conflicts_with = "max_size")]
        dry_run: bool,
    },
    /// Write everything in the database to a file
    #[command(after_help = "The backup is a consistent snapshot, even while a server is running. \
        It can be restored into\nSQLite and PostgreSQL alike. The cookie key and the networks of \
        training runs are not part of it.\n\n\
        Examples:\n  \
        claimeven admin backup games-$(date +%F).backup\n  \
        claimeven admin backup games.backup --database postgres://user:password@host/claimeven")]
    Backup {
        /// File to write; an existing file is replaced once the backup is complete
        file: PathBuf,
    },
    /// Restore a backup into an empty database, while no server is running
    #[command(after_help = "Examples:\n  \
        claimeven admin restore games.backup\n  \
        claimeven admin restore games.backup --force --database sqlite:games.sqlite")]
    Restore {
        /// File written by `claimeven admin backup`
        file: PathBuf,
        /// Replace everything that the database contains
        #[arg(long)]
        force: bool,
    },
}

#[derive(Subcommand)]
enum Action {
    /// List the latest
    List(LimitArgs),
    /// Show all details of one
    Show {
        /// Id, as the list shows it
        id: String,
    },
    /// Delete one or more
    Delete {
        /// Ids, as the list shows them
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}

#[derive(clap::Args)]
struct LimitArgs {
    /// Maximum number of lines
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

#[derive(clap::Args)]
struct GamesArgs {
    /// Only games in this state
    #[arg(long, value_name = "STATUS", value_parser = ["waiting", "playing", "finished"])]
    status: Option<String>,

    /// Only games of this visitor
    #[arg(long, value_name = "KEY")]
    visitor: Option<String>,

    /// Only games in progress that cannot be read, with the reason
    #[arg(long, conflicts_with_all = ["status", "visitor"])]
    unreadable: bool,

    #[command(flatten)]
    limit: LimitArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let config = args.settings.config(&[], false)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(perform(args, &config))
}

async fn perform(args: &Args, config: &Config) -> Result<(), Failure> {
    let json = args.json;
    if let Command::Restore { file, force } = &args.command {
        let summary = Admin::restore(config, file, *force).await.map_err(failed)?;
        return report_backup("Restored", &summary, json);
    }
    let mut admin = Admin::open(config).await.map_err(failed)?;
    match &args.command {
        Command::Games { list, action } => match action {
            None => list_games(&mut admin, list, json).await,
            Some(Action::List(limit)) => {
                let list = GamesArgs {
                    status: None,
                    visitor: None,
                    unreadable: false,
                    limit: LimitArgs { limit: limit.limit },
                };
                list_games(&mut admin, &list, json).await
            }
            Some(Action::Show { id }) => show(&admin.game(id).await.map_err(failed)?, json),
            Some(Action::Delete { ids }) => {
                for id in ids {
                    admin.delete_game(id).await.map_err(failed)?;
                    report(&format!("Deleted game {id}"), json)?;
                }
                Ok(())
            }
        },
        Command::Visitors { list, action } => match action {
            None => list_visitors(&mut admin, list, json).await,
            Some(Action::List(list)) => list_visitors(&mut admin, list, json).await,
            Some(Action::Show { id }) => show(&admin.visitor(id).await.map_err(failed)?, json),
            Some(Action::Delete { ids }) => {
                for id in ids {
                    let games = admin.delete_visitor(id).await.map_err(failed)?;
                    report(&format!("Deleted visitor {id} from {games} games"), json)?;
                }
                Ok(())
            }
        },
        Command::Jobs { list, action } => {
            jobs(&mut admin, JobKind::Tournament, list, action.as_ref(), json).await
        }
        Command::Runs { list, action } => {
            jobs(&mut admin, JobKind::Training, list, action.as_ref(), json).await
        }
        Command::Ban { range, time, reason } => {
            let until = time.map(|time| {
                let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
                jiff::Timestamp::now().as_millisecond().saturating_add(time)
            });
            admin.ban(*range, reason, until).await.map_err(failed)?;
            report(&format!("Banned {range}; a running server applies it within seconds"), json)
        }
        Command::Unban { range } => {
            if admin.unban(*range).await.map_err(failed)? {
                return report(&format!("Lifted the ban on {range}"), json);
            }
            Err(Failure::Other(format!("{range} is not banned; see claimeven admin bans")))
        }
        Command::Bans => {
            let bans = admin.bans().await.map_err(failed)?;
            if json {
                return print_json(&bans);
            }
            let rows = bans.into_iter().map(|ban| {
                let until = ban.until.unwrap_or_else(|| "forever".to_owned());
                [ban.range, ban.since, until, ban.reason]
            });
            print_table(["RANGE", "SINCE", "UNTIL", "REASON"], rows)
        }
        Command::Prune { older_than, max_size, dry_run } => {
            let pruned = match older_than {
                Some(age) if *dry_run => admin.prunable(*age).await,
                _ => {
                    let (older_than, max_bytes) = (*older_than, *max_size);
                    admin.prune(&Retention { older_than, max_bytes }).await
                }
            };
            let pruned = pruned.map_err(failed)?;
            if json {
                return print_json(&pruned);
            }
            let Pruned { games, tournaments, bytes } = pruned;
            let verb = if *dry_run { "Would delete" } else { "Deleted" };
            let mb = bytes.div_ceil(1_000_000);
            let deleted = format!("{verb} {games} games and {tournaments} tournaments");
            report(&format!("{deleted}; {mb} MB stored"), json)
        }
        Command::Backup { file } => {
            let summary = admin.backup(file).await.map_err(failed)?;
            report_backup("Saved", &summary, json)
        }
        // Handled above, without an open database.
        Command::Restore { .. } => Ok(()),
    }
}

async fn list_games(admin: &mut Admin, list: &GamesArgs, json: bool) -> Result<(), Failure> {
    if list.unreadable {
        let games = admin.unreadable_games(list.limit.limit).await.map_err(failed)?;
        if json {
            return print_json(&games);
        }
        return print_table(
            ["GAME", "REASON"],
            games.into_iter().map(|game| [game.id, game.reason]),
        );
    }
    let filter = GameFilter {
        status: list.status.clone(),
        visitor: list.visitor.clone(),
        limit: list.limit.limit,
    };
    let games = admin.games(&filter).await.map_err(failed)?;
    if json {
        return print_json(&games);
    }
    let rows = games.into_iter().map(|game| {
        let GameRow { id, updated, status, players: [one, other], moves, visitors, .. } = game;
        let visitors: Vec<&str> = visitors.iter().map(|key| short(key)).collect();
        let players = format!("{one} - {other}");
        [id, updated, status, moves.to_string(), players, visitors.join(" ")]
    });
    print_table(["GAME", "CHANGED", "STATUS", "MOVES", "PLAYERS", "VISITORS"], rows)
}

async fn list_visitors(admin: &mut Admin, list: &LimitArgs, json: bool) -> Result<(), Failure> {
    let visitors = admin.visitors(list.limit).await.map_err(failed)?;
    if json {
        return print_json(&visitors);
    }
    let rows = visitors.into_iter().map(|visitor| {
        let games = visitor.games.to_string();
        [short(&visitor.key).to_owned(), games, visitor.first_game, visitor.last_seen]
    });
    print_table(["VISITOR", "GAMES", "FIRST GAME", "LAST SEEN"], rows)
}

async fn jobs(
    admin: &mut Admin,
    kind: JobKind,
    list: &LimitArgs,
    action: Option<&Action>,
    json: bool,
) -> Result<(), Failure> {
    let list = match action {
        Some(Action::Show { id }) => {
            return show(&admin.job(kind, id).await.map_err(failed)?, json);
        }
        Some(Action::Delete { ids }) => {
            for id in ids {
                admin.delete_job(kind, id).await.map_err(failed)?;
                report(&format!("Deleted {id}"), json)?;
            }
            return Ok(());
        }
        Some(Action::List(list)) => list,
        None => list,
    };
    let jobs = admin.jobs(kind, list.limit).await.map_err(failed)?;
    if json {
        return print_json(&jobs);
    }
    let rows = jobs.into_iter().map(|job| {
        let JobRow { id, title, state, done, total, updated, visitor, .. } = job;
        [id, updated, state, format!("{done}/{total}"), title, short(&visitor).to_owned()]
    });
    print_table(["ID", "CHANGED", "STATE", "DONE", "TITLE", "VISITOR"], rows)
}

/// The beginning of a visitor's key, long enough to identify it.
fn short(key: &str) -> &str {
    key.get(..12).unwrap_or(key)
}

/// Prints all details of one item: a line of JSON, or readable text.
fn show(details: &impl Serialize, json: bool) -> Result<(), Failure> {
    if json {
        return print_json(details);
    }
    let mut out = anstream::stdout();
    if let serde_json::Value::Object(fields) = serde_json::to_value(details)? {
        for (name, value) in fields {
            let value = match value {
                serde_json::Value::String(text) => text,
                serde_json::Value::Null => "-".to_owned(),
                value => value.to_string(),
            };
            writeln!(out, "{name:<12} {value}")?;
        }
    }
    Ok(())
}

/// Prints a message of success, unless the output is JSON: scripts use the exit code.
fn report(message: &str, json: bool) -> Result<(), Failure> {
    if !json {
        writeln!(anstream::stdout(), "{message}")?;
    }
    Ok(())
}

fn report_backup(verb: &str, summary: &BackupSummary, json: bool) -> Result<(), Failure> {
    if json {
        return print_json(summary);
    }
    let count = |table: &str| summary.rows.get(table).copied().unwrap_or(0);
    let (games, jobs) = (counted(count("games"), "game"), counted(count("jobs"), "job"));
    report(&format!("{verb} {games} and {jobs}, as of {}", summary.created), json)
}

fn print_table<const N: usize>(
    header: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> Result<(), Failure> {
    let rows: Vec<[String; N]> = std::iter::once(header.map(str::to_owned)).chain(rows).collect();
    let mut out = anstream::stdout();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count()));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[allow(clippy::needless_pass_by_value, reason = "`map_err` passes it by value")]
fn failed(error: ServerError) -> Failure {
    Failure::Other(error.to_string())
}

fn range(text: &str) -> Result<IpNet, String> {
    let one = text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
    let range = one.or_else(|_| text.parse::<IpNet>());
    range.map_err(|_| "expected an address or a range such as 203.0.113.0/24".to_owned())
}

/// `30m`, `12h`, `90d`, `8w` or `1y`.
fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, u64); 5] =
        [("m", 60), ("h", 3600), ("d", 86_400), ("w", 604_800), ("y", 31_557_600)];
    let seconds = UNITS.iter().find_map(|(unit, seconds)| {
        text.strip_suffix(unit)?.trim().parse::<u64>().ok()?.checked_mul(*seconds)
    });
    let seconds = seconds.ok_or("expected a time such as 12h, 90d or 1y")?;
    Ok(Duration::from_secs(seconds))
}

/// `500MB` or `2GB`.
fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 4] =
        [("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)];
    let bytes = UNITS.iter().find_map(|(unit, bytes)| {
        text.strip_suffix(unit)?.trim().parse::<u64>().ok()?.checked_mul(*bytes)
    });
    bytes.ok_or_else(|| "expected a size such as 500MB or 2GB".to_owned())
}
