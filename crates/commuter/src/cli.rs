//! Commands and their options.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use commuter::demo::DemoArguments;
use server::url::ServerUrl;
use server::{RelayArguments, ServeOptions, VERSION};

use crate::{allocator, checksum, log_analyze, log_dump, print, settings, tail};

/// One line for people.
pub(crate) type CommandError = Box<dyn std::error::Error>;

/// The result of a command.
pub(crate) type CommandResult = Result<ExitCode, CommandError>;

/// root's password at the first start.
const ROOT_PASSWORD_VARIABLE: &str = "COMMUTER_ROOT_PASSWORD";

/// The password of a relay's account.
const RELAY_PASSWORD_VARIABLE: &str = "COMMUTER_RELAY_PASSWORD";

/// A MySQL-protocol database whose binary log is its only write-ahead log.
#[derive(Parser)]
#[command(name = "commuter", version = VERSION, arg_required_else_help = true, after_help = "\
Examples:
  commuter demo
  commuter serve --datadir data --initialize-insecure
  mariadb --skip-ssl -h 127.0.0.1 -u root
  commuter log dump data/binlog.000001
  commuter tail --source mysql://root@127.0.0.1:3306 --format json
  commuter checksum mysql://root@127.0.0.1:3306 mysql://root@127.0.0.1:3307
  commuter relay --source mysql://repl:secret@127.0.0.1:3306 --datadir copy --port 3307")]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(Serve),
    /// Looks into the binary log.
    #[command(after_help = "Example:\n  commuter log dump data/binlog.000001")]
    Log {
        #[command(subcommand)]
        command: LogCommand,
    },
    Tail(Tail),
    Checksum(Checksum),
    Relay(Relay),
    /// Shows it: a source and a follower under load, the source killed in the middle, and the proof that nothing is lost.
    Demo(DemoArguments),
    /// Lists all settings, with types, defaults and meanings.
    #[command(
        after_help = "Examples:\n  commuter settings | less\n  commuter settings --format json | jq 'select(.dynamic)'"
    )]
    Settings {
        /// How to print
        #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
        format: OutputFormat,
    },
    /// Says the version.
    #[command(after_help = "Example:\n  commuter version")]
    Version,
}

/// Runs a server in the foreground until SIGTERM.
///
/// The first start makes the data directory. root@localhost is let in over the socket, for the operating system's user that runs the
/// server and for its root; over TCP once it has a password: COMMUTER_ROOT_PASSWORD at the first start, or ALTER USER.
#[derive(Args)]
#[command(after_help = "\
Examples:
  commuter serve --datadir data
  COMMUTER_ROOT_PASSWORD=secret commuter serve --datadir data --bind 0.0.0.0
  commuter serve --datadir data --config my.cnf --set innodb_buffer_pool_size=4G --set sync_binlog=1
  commuter serve --datadir copy --port 3307 --follow mysql://repl:secret@127.0.0.1:3306
  commuter serve --datadir data --rebuild

All settings: commuter settings")]
struct Serve {
    /// Where the data is.
    #[arg(long, value_name = "DIR")]
    datadir: PathBuf,
    /// TCP port; 0 takes a free one [default: 3306]
    #[arg(long)]
    port: Option<u16>,
    /// Address to listen on [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<String>,
    /// Path of the Unix socket [default: commuter.sock in the data directory]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// This server's number among those that replicate from one another [default: 1]
    #[arg(long, value_name = "N")]
    server_id: Option<u32>,
    /// Configuration file: TOML, or a my.cnf of MySQL or MariaDB ([mysqld], [server], [mariadb], …: docs/SETTINGS.md)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Sets a setting; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Follow this server
    #[arg(long, value_name = "mysql://USER:PASSWORD@HOST:PORT")]
    follow: Option<ServerUrl>,
    /// Make the data file anew from the log, because it is damaged; needs the log since its first file
    #[arg(long)]
    rebuild: bool,
    /// At the first start, let root in from loopback with an empty password
    #[arg(long)]
    initialize_insecure: bool,
}

/// Keeps the binary log of a MySQL or MariaDB server, byte for byte, and serves any number of its replicas; runs in the foreground.
///
/// The folder gets the source's files, under their names. Replicas of the source's own kind, and tools such as mysqlbinlog, are served
/// from it at the source's names, positions and GTIDs, whether the source is there or not. After a failover it goes on with another
/// source, by GTIDs. There is one account, for all clients; without a password only those on this machine are let in. How it is doing:
/// SHOW REPLICA STATUS. More in docs/relay.md.
#[derive(Args)]
#[command(after_help = "\
Examples:
  commuter relay --source mysql://repl:secret@127.0.0.1:3306 --datadir copy --port 3307
  COMMUTER_RELAY_PASSWORD=secret commuter relay --source mysql://repl:secret@db:3306 --datadir copy --bind 0.0.0.0
  commuter relay --source mysql://repl:secret@db:3306 --datadir copy --expire-seconds 604800 --space-limit 100G")]
struct Relay {
    /// The server whose log it is (any MySQL or MariaDB; needs REPLICATION SLAVE)
    #[arg(long, value_name = "mysql://USER:PASSWORD@HOST:PORT")]
    source: ServerUrl,
    /// Where the files are
    #[arg(long, value_name = "DIR")]
    datadir: PathBuf,
    /// TCP port
    #[arg(long, default_value_t = 3306)]
    port: u16,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    bind: String,
    /// This relay's number among servers; made up once if it is not given
    #[arg(long, value_name = "N")]
    server_id: Option<u32>,
    /// The account that replicas and tools use
    #[arg(long, default_value = "root", value_name = "NAME")]
    user: String,
    /// A file with its password in the first line [default: COMMUTER_RELAY_PASSWORD, or none]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// In an empty folder: the source's file to begin with, in place of its first one
    #[arg(long, value_name = "NAME")]
    start_file: Option<String>,
    /// Remove a file so many seconds after the source has closed it
    #[arg(long, value_name = "SECONDS")]
    expire_seconds: Option<u64>,
    /// Remove the oldest files while all together have more bytes; K, M, G and T may follow
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    space_limit: Option<u64>,
    /// Let in at most so many clients
    #[arg(long, default_value_t = 1000, value_name = "N")]
    max_connections: usize,
    /// Acknowledge to a semi-synchronous source what is synced here
    #[arg(long)]
    rpl_semi_sync_replica_enabled: bool,
    /// Not before semi-synchronous replicas of this relay have acknowledged it too
    #[arg(long, requires = "rpl_semi_sync_replica_enabled")]
    rpl_semi_sync_source_enabled: bool,
    /// So many of them
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rpl_semi_sync_source_wait_for_replica_count: u16,
}

#[derive(Subcommand)]
enum LogCommand {
    Dump(LogDump),
    Analyze(LogAnalyze),
}

/// Prints log files, or a server's log, as SQL that mysql or mariadb replay, with rows and all else as comments.
///
/// The same text is for MySQL, MariaDB and commuter, whichever of them wrote the log: rows are BINLOG statements, and what only one kind
/// of server has (GTIDs, settings) is in comments that only that kind reads. Rows are readable beside each BINLOG, as `mysqlbinlog -vv`
/// prints them. A filtered dump can be replayed too; a transaction that is wanted keeps its GTID, its beginning and its end.
#[derive(Args)]
#[command(after_help = "\
Examples:
  commuter log dump data/binlog.000001 | less
  commuter log dump --skip-rows data/binlog.00000* | mysql -h 127.0.0.1 -u root
  commuter log dump --skip-gtids --table shop.orders data/binlog.000007 | mariadb -u root
  commuter log dump --base64-output decode-rows --start-datetime '2026-11-20 15:00:00' data/binlog.000007
  commuter log dump --format json data/binlog.00000* | jq .
  commuter log dump --verify-checksum data/binlog.000007 >/dev/null
  commuter log dump --source mysql://root@127.0.0.1:3306 --follow --format json | jq .")]
pub(crate) struct LogDump {
    /// Log files, in order; with --source names of the server's, from the first one to the log's end if none is named
    #[arg(required_unless_present = "source", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Read from this server (any MySQL, MariaDB or commuter; needs REPLICATION SLAVE)
    #[arg(long, value_name = "URL")]
    pub(crate) source: Option<ServerUrl>,
    /// Wait at the log's end for more, and print that too
    #[arg(long, requires = "source", visible_alias = "stop-never")]
    pub(crate) follow: bool,
    /// Stop at the first event whose checksum is wrong
    #[arg(long)]
    pub(crate) verify_checksum: bool,
    /// Begin with the event at this offset of the first file
    #[arg(long, default_value_t = 4, value_name = "OFFSET")]
    pub(crate) start_position: u64,
    /// Stop before the first event at or after this offset of the last file
    #[arg(long, value_name = "OFFSET")]
    pub(crate) stop_position: Option<u64>,
    /// Transactions that begin at this time or later, in UTC as they are printed
    #[arg(long, value_name = "'YYYY-MM-DD hh:mm:ss'", value_parser = log_dump::parse_time)]
    pub(crate) start_datetime: Option<u32>,
    /// Transactions that begin before this time
    #[arg(long, value_name = "'YYYY-MM-DD hh:mm:ss'", value_parser = log_dump::parse_time)]
    pub(crate) stop_datetime: Option<u32>,
    /// Only transactions of this GTID set; of MariaDB's as in 0-1-17,0-1-20-29
    #[arg(long, value_name = "SET", value_parser = log_dump::parse_gtids)]
    pub(crate) include_gtids: Option<binlog::GtidSet>,
    /// No transactions of this GTID set
    #[arg(long, value_name = "SET", value_parser = log_dump::parse_gtids)]
    pub(crate) exclude_gtids: Option<binlog::GtidSet>,
    /// Rows of this database's tables, and statements in it or about it; may be given several times
    #[arg(long = "database", short = 'd', value_name = "NAME")]
    pub(crate) databases: Vec<String>,
    /// Rows of this table, and statements in its database or about it; may be given several times
    #[arg(long = "table", value_name = "DATABASE.TABLE", value_parser = log_dump::parse_table)]
    pub(crate) tables: Vec<(String, String)>,
    /// Text: auto prints BINLOG statements, decode-rows only what is readable (it cannot be replayed)
    #[arg(long, value_enum, ignore_case = true, default_value_t = Base64Output::Auto)]
    pub(crate) base64_output: Base64Output,
    /// Text: no rows as comments beside BINLOG
    #[arg(long)]
    pub(crate) skip_rows: bool,
    /// Text: no GTIDs; whoever replays it gives his own
    #[arg(long)]
    pub(crate) skip_gtids: bool,
    /// Text: where the files of LOAD DATA statements go, for whoever replays them [default: the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) local_load: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
}

/// Says what is in a log, how parallel its source was, and what each mode of parallel replication would make of it.
///
/// Transactions, rows and bytes, over time too; intervals or groups of commits; tables without a primary key and other things that hold
/// replicas up; the biggest and longest transactions, the hottest tables and rows; and a simulated replica in every mode with 1 to 256
/// workers. Logs of MySQL 5.6 and later, MariaDB 10 and later, and commuter. docs/analyze.md explains the figures.
#[derive(Args)]
#[command(after_help = "\
Examples:
  commuter log analyze data/binlog.00000*
  commuter log analyze --html report.html --calibrate binlog.000012
  commuter log analyze --source mysql://repl:secret@db:3306
  commuter log analyze --format json mysql-bin.000007 | jq .modes")]
pub(crate) struct LogAnalyze {
    /// Log files, in order; with --source names of the server's, all if none is named
    #[arg(required_unless_present = "source", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Read from this server, and ask it for keys (any MySQL, MariaDB or commuter; needs REPLICATION SLAVE, REPLICATION CLIENT, SELECT)
    #[arg(long, value_name = "URL")]
    pub(crate) source: Option<ServerUrl>,
    /// Write the report as a page with pictures too
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Measure what transactions, rows and syncs cost on this machine, in a database that is thrown away
    #[arg(long, conflicts_with_all = ["transaction_cost", "row_cost", "sync_cost"])]
    pub(crate) calibrate: bool,
    /// Microseconds that a replica takes for a transaction, beside its rows
    #[arg(long, default_value_t = 50.0, value_name = "MICROSECONDS")]
    pub(crate) transaction_cost: f64,
    /// Microseconds that it takes for a row
    #[arg(long, default_value_t = 20.0, value_name = "MICROSECONDS")]
    pub(crate) row_cost: f64,
    /// Microseconds that a sync of its log takes; 0 is a replica that does not sync
    #[arg(long, default_value_t = 0.0, value_name = "MICROSECONDS")]
    pub(crate) sync_cost: f64,
    /// Stop at the first event whose checksum is wrong
    #[arg(long)]
    pub(crate) verify_checksum: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
}

/// What a dump has in base 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Base64Output {
    /// BINLOG statements.
    Auto,
    /// Nothing.
    DecodeRows,
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Writes the committed transactions of a server's log, as they come, for programs: as JSON, as protobuf, or as SQL.
///
/// The server may be a MySQL, a MariaDB or a commuter; the account needs REPLICATION SLAVE and REPLICATION CLIENT, and SELECT on tables
/// of whose columns the log does not say the names (binlog_row_metadata). With --state it goes on where it was; with --output too, a
/// kill at any moment neither loses nor repeats a transaction. docs/tail.md describes the formats.
#[derive(Args)]
#[command(after_help = "\
Examples:
  commuter tail --source mysql://repl:secret@127.0.0.1:3306 | jq .
  commuter tail --source mysql://repl:secret@db:3306 --state tail.state --output changes.json
  commuter tail --source mysql://repl:secret@db:3306 --from-gtid 3E11FA47-71CA-11E1-9E33-C80AA9429562:1-77 --table shop.orders
  commuter tail --source mysql://repl:secret@db:3306 --from-start --stop-at-end --format sql | mariadb -h other
  commuter tail --format protobuf --output changes.bin data/binlog.000001 data/binlog.000002")]
pub(crate) struct Tail {
    /// Log files, in order, in place of a server
    #[arg(required_unless_present = "source", conflicts_with = "source", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The server whose log it is
    #[arg(long, value_name = "URL")]
    pub(crate) source: Option<ServerUrl>,
    /// How to write
    #[arg(long, value_enum, default_value_t = TailFormat::Json)]
    pub(crate) format: TailFormat,
    /// Begin with the oldest transaction that the server has [default: with the next one that is committed]
    #[arg(long, requires = "source", conflicts_with_all = ["from_position", "from_gtid"])]
    pub(crate) from_start: bool,
    /// Begin at this position, which has to be between two transactions
    #[arg(long, requires = "source", value_name = "FILE:OFFSET", value_parser = tail::parse_position, conflicts_with = "from_gtid")]
    pub(crate) from_position: Option<(String, u64)>,
    /// Begin behind these transactions: a set of MySQL's kind, or a position of MariaDB's such as 0-1-17
    #[arg(long, requires = "source", value_name = "SET")]
    pub(crate) from_gtid: Option<String>,
    /// End at the log's end, and do not wait for more
    #[arg(long)]
    pub(crate) stop_at_end: bool,
    /// Where it is, is kept in this file; if the file is there, it goes on from there
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Write into this file [default: to the standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only transactions of this GTID set; of MariaDB's as in 0-1-17,0-1-20-29
    #[arg(long, value_name = "SET", value_parser = log_dump::parse_gtids)]
    pub(crate) include_gtids: Option<binlog::GtidSet>,
    /// No transactions of this GTID set
    #[arg(long, value_name = "SET", value_parser = log_dump::parse_gtids)]
    pub(crate) exclude_gtids: Option<binlog::GtidSet>,
    /// Rows of this database's tables, and statements in it or about it; may be given several times
    #[arg(long = "database", short = 'd', value_name = "NAME")]
    pub(crate) databases: Vec<String>,
    /// Rows of this table, and statements in its database or about it; may be given several times
    #[arg(long = "table", value_name = "DATABASE.TABLE", value_parser = log_dump::parse_table)]
    pub(crate) tables: Vec<(String, String)>,
    /// Refuse transactions that take more bytes in the log: one is held in memory
    #[arg(long, default_value_t = 1 << 30, value_name = "BYTES")]
    pub(crate) transaction_size_max: u64,
    /// This reader's number among the source's replicas [default: made up]
    #[arg(long, value_name = "N")]
    pub(crate) server_id: Option<u32>,
}

/// How transactions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TailFormat {
    /// An object on a line for each row that changed, and each statement.
    Json,
    /// Messages of crates/events/proto/commuter.proto, each behind its length.
    Protobuf,
    /// Statements that a client can run.
    Sql,
}

/// Prints a checksum of every table of a server, or compares two servers.
///
/// Two commuter servers are compared by the sums that they keep of their rows, in milliseconds however large their tables are,
/// as of the same position of the log; rows that differ are named. Of servers of other kinds, or one alone, every row is read, in one
/// consistent snapshot of each. The second server is first given time to catch up with the first. The exit status is 1 if
/// anything differs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  commuter checksum mysql://root@127.0.0.1:3306
  commuter checksum mysql://root@127.0.0.1:3306/shop
  commuter checksum mysql://root:secret@source:3306 mysql://root:secret@replica:3306
  commuter checksum --rows 100 --format json mysql://root@source:3306/shop mysql://root@replica:3306/shop")]
pub(crate) struct Checksum {
    /// The server; with a path, only that database
    #[arg(value_name = "mysql://…")]
    pub(crate) first: ServerUrl,
    /// The server to compare with
    #[arg(value_name = "mysql://…")]
    pub(crate) second: Option<ServerUrl>,
    /// Seconds that the second server may take to catch up
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    pub(crate) wait: u64,
    /// Name at most so many rows of a table that differ
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) rows: usize,
    /// Read every row, of commuter servers too
    #[arg(long)]
    pub(crate) all_rows: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
}

impl Cli {
    /// Runs the command.
    pub(crate) fn run(self) -> CommandResult {
        match self.command {
            Command::Serve(serve) => {
                allocator::keep_freed();
                server::serve(&serve.options())?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Log { command: LogCommand::Dump(dump) } => log_dump::run(&dump),
            Command::Log { command: LogCommand::Analyze(arguments) } => log_analyze::run(&arguments),
            Command::Tail(tail) => tail::run(&tail),
            Command::Checksum(checksum) => checksum::run(&checksum),
            Command::Relay(relay) => {
                server::relay(&relay.arguments()?)?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Demo(arguments) => {
                commuter::demo::run(&arguments)?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Settings { format } => settings::run(format),
            Command::Version => {
                print::line(VERSION)?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

impl Serve {
    fn options(self) -> ServeOptions {
        ServeOptions {
            datadir: self.datadir,
            config: self.config,
            set: self.set,
            port: self.port,
            bind: self.bind,
            socket: self.socket,
            server_id: self.server_id,
            follow: self.follow,
            rebuild: self.rebuild,
            initialize_insecure: self.initialize_insecure,
            root_password: std::env::var(ROOT_PASSWORD_VARIABLE).ok().filter(|password| !password.is_empty()),
            on_recovered: Some(allocator::give_freed_back),
        }
    }
}

impl Relay {
    fn arguments(self) -> Result<RelayArguments, CommandError> {
        let password = match &self.password_file {
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
                text.lines().next().unwrap_or_default().to_owned()
            }
            None => std::env::var(RELAY_PASSWORD_VARIABLE).unwrap_or_default(),
        };
        Ok(RelayArguments {
            source: self.source,
            datadir: self.datadir,
            port: self.port,
            bind: self.bind,
            server_id: self.server_id,
            user: self.user,
            password,
            start_file: self.start_file,
            expire_seconds: self.expire_seconds,
            space_limit: self.space_limit,
            max_connections: self.max_connections,
            acknowledges: self.rpl_semi_sync_replica_enabled,
            replicas_wanted: match self.rpl_semi_sync_source_enabled {
                true => self.rpl_semi_sync_source_wait_for_replica_count.into(),
                false => 0,
            },
        })
    }
}

/// `100`, `64K`, `10G`: bytes.
fn parse_size(text: &str) -> Result<u64, String> {
    let shift = match text.bytes().last().map(|unit| unit.to_ascii_uppercase()) {
        Some(b'K') => 10,
        Some(b'M') => 20,
        Some(b'G') => 30,
        Some(b'T') => 40,
        _ => 0,
    };
    let number = if shift > 0 { &text[..text.len() - 1] } else { text };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| format!("'{text}' is no number of bytes such as 500M"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("100"), Ok(100));
        assert_eq!((parse_size("64K"), parse_size("2t")), (Ok(64 << 10), Ok(2 << 40)));
        for bad in ["", "K", "1X", "-1", "1.5G", "1ü", "99999999999T"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn options_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "{} has no example", command.get_name());
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
