//! One transaction far larger than memory, and a table as large: what its commit, its rollback, a crash, TRUNCATE, DROP, rotation and
//! purge cost those who commit small ones meanwhile.

use std::time::Duration;

use interop::{Client, Connection, Crowd, Result, Server, count_up, create_counters, peak_kib};

use super::works::Work;
use super::{BenchArguments, our_options};

/// Who commit small transactions all the time.
const OTHERS: u64 = 8;
/// Rows of a piece: one INSERT … SELECT.
const PIECE_ROWS: u64 = 1 << 16;
/// Bytes of a row's text.
const ROW_BYTES: u64 = 1024;
pub(super) const PIECES_PER_GB: u64 = (1 << 30) / (PIECE_ROWS * ROW_BYTES);
/// Before and after what is looked at.
const QUIET: Duration = Duration::from_secs(10);
/// What ends so much later may have been held up as well.
const AFTER: Duration = Duration::from_millis(200);
pub(super) const INSERT: &str = "INSERT INTO big (s) SELECT s FROM piece";

/// A part of the time, by name.
struct Phase {
    name: &'static str,
    from: Duration,
    to: Duration,
}

/// The server, those who commit all the time, and the one who does large things.
struct Scene {
    server: Server,
    others: Crowd,
    one: Connection,
    phases: Vec<Phase>,
}

pub(crate) fn run(work: &Work, gigabytes: u64, arguments: &BenchArguments) -> Result<()> {
    let server = Server::start("bench-large", our_options(arguments))?;
    let client = server.client();
    create_counters(&client, OTHERS)?;
    make_piece(&client)?;
    let mut scene = Scene::begin(server)?;
    println!("{} | {gigabytes} GB, {OTHERS} clients commit meanwhile", work.name);
    scene.quiet("nothing else")?;
    scene.fill("it writes", gigabytes)?;
    scene.query("it commits", "COMMIT")?;
    scene.quiet("behind it")?;
    let mut server = scene.end()?;
    let sum = sum(&server)?;
    server.kill();
    println!("    killed behind it: answers after {:.1} s", server.restart()?.as_secs_f64());
    same(&sum, &server)?;

    let mut scene = Scene::begin(server)?;
    scene.fill("half of it again", gigabytes.div_ceil(2))?;
    scene.query("rolled back", "ROLLBACK")?;
    scene.fill("half of it again", gigabytes.div_ceil(2))?;
    server = scene.end()?;
    server.kill();
    println!("    killed inside of it: answers after {:.1} s", server.restart()?.as_secs_f64());
    same(&sum, &server)?;

    let mut scene = Scene::begin(server)?;
    scene.query("rotation", "FLUSH BINARY LOGS")?;
    scene.query("purge", "PURGE BINARY LOGS BEFORE NOW()")?;
    scene.query("TRUNCATE", "TRUNCATE TABLE big")?;
    scene.quiet("behind it")?;
    scene.phase("by small transactions", |one| {
        (0..gigabytes * PIECES_PER_GB).try_for_each(|_| one.succeed(INSERT).map(drop))
    })?;
    scene.query("purge", "PURGE BINARY LOGS BEFORE NOW()")?;
    scene.query("DROP", "DROP TABLE big")?;
    scene.quiet("behind it")?;
    scene.end().map(drop)
}

/// A table that is copied over and over; its rows do not compress well.
pub(super) fn make_piece(client: &Client) -> Result<()> {
    let text = format!("LEFT(REPEAT(SHA2(RAND(), 512), {}), {ROW_BYTES})", ROW_BYTES / 128 + 1);
    let columns = format!("(id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR({ROW_BYTES}))");
    client.query(&format!("CREATE TABLE d.piece {columns}; CREATE TABLE d.big {columns}"))?;
    client.query(&format!("INSERT INTO d.piece (s) VALUES ({text})"))?;
    let doubling = format!("INSERT INTO d.piece (s) SELECT {text} FROM d.piece;");
    client.query(&doubling.repeat(PIECE_ROWS.ilog2() as usize)).map(drop)
}

fn sum(server: &Server) -> Result<String> {
    server.client().query("SELECT COUNT(*), SUM(LENGTH(s)), BIT_XOR(CRC32(s)) FROM d.big")
}

fn same(sum: &str, server: &Server) -> Result<()> {
    let now = self::sum(server)?;
    if now == sum { Ok(()) } else { Err(format!("rows before: {sum}, now: {now}")) }
}

impl Scene {
    fn begin(server: Server) -> Result<Scene> {
        let others = Crowd::start(server.port(), "d", OTHERS, |number, _| vec![count_up(number + 1)])?;
        let one = Connection::open(server.port(), "d")?;
        Ok(Scene { server, others, one, phases: Vec::new() })
    }

    fn phase(&mut self, name: &'static str, act: impl FnOnce(&mut Connection) -> Result<()>) -> Result<()> {
        let from = self.others.elapsed();
        act(&mut self.one)?;
        self.phases.push(Phase { name, from, to: self.others.elapsed() });
        Ok(())
    }

    fn quiet(&mut self, name: &'static str) -> Result<()> {
        self.phase(name, |_| {
            std::thread::sleep(QUIET);
            Ok(())
        })
    }

    fn query(&mut self, name: &'static str, sql: &str) -> Result<()> {
        self.phase(name, |one| one.succeed(sql).map(drop))
    }

    /// Begins a transaction and writes so much.
    fn fill(&mut self, name: &'static str, gigabytes: u64) -> Result<()> {
        self.phase(name, |one| {
            one.succeed("BEGIN")?;
            (0..gigabytes * PIECES_PER_GB).try_for_each(|_| one.succeed(INSERT).map(drop))
        })
    }

    /// Tells what the others saw in each phase.
    fn end(self) -> Result<Server> {
        let memory = peak_kib(self.server.pid())? >> 10;
        let others = self.others.end()?;
        for Phase { name, from, to } in self.phases {
            let took = (to - from).as_secs_f64();
            let seen = others.between(from, to + AFTER);
            let seen = seen.map_or("nobody committed".to_owned(), |figures| {
                let (median, p99, max) = (figures.median, figures.p99, figures.max);
                format!("{:.0}/s, median {median:.1?}, p99 {p99:.1?}, max {max:.1?}", figures.rate)
            });
            println!("    {name:22} {took:7.2} s | others: {seen}");
        }
        println!("    {memory} MB of memory at most");
        Ok(self.server)
    }
}
