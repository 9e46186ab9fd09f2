//! Clients that ask for big results and do not read them: what each takes of memory, and what others notice.

use std::time::Duration;

use interop::{Crowd, Raw, Result, Server, count_up, create_counters, resident_kib};

use super::works::Work;
use super::{BenchArguments, our_options};

/// Who commit meanwhile.
const OTHERS: u64 = 8;
/// COM_QUERY
const QUERY: u8 = 3;
/// 8 GB for each of them.
const SELECT: &[u8] = b"SELECT a.s FROM d.big a, d.big b";
/// Until all of them are stuck.
const STUCK: Duration = Duration::from_secs(5);

pub(crate) fn run(work: &Work, readers: u64, arguments: &BenchArguments) -> Result<()> {
    let mut options = our_options(arguments);
    options.add_settings([format!("max_connections={}", readers + OTHERS + 10)]);
    let server = Server::start("bench-unread", options)?;
    let client = server.client();
    create_counters(&client, OTHERS)?;
    let rows = (0..1000).map(|id| format!("({id}, REPEAT('x', 8000))")).collect::<Vec<_>>().join(",");
    client
        .query(&format!("CREATE TABLE d.big (id INT PRIMARY KEY, s VARCHAR(8000)); INSERT INTO d.big VALUES {rows}"))?;
    let mut raws = (0..readers).map(|_| Raw::logged_in(server.port())).collect::<Result<Vec<_>>>()?;
    let crowd = Crowd::start(server.port(), "d", OTHERS, |number, _| vec![count_up(number + 1)])?;
    std::thread::sleep(STUCK);
    let (memory, alone) = (resident_kib(server.pid())?, crowd.elapsed());
    if !raws.iter_mut().all(|raw| raw.command(QUERY, SELECT)) {
        return Err("a reader was not listened to".to_owned());
    }
    std::thread::sleep(STUCK);
    let all_stuck = crowd.elapsed();
    std::thread::sleep(STUCK);
    let grown = resident_kib(server.pid())?.saturating_sub(memory);
    let end = crowd.elapsed();
    let crowd = crowd.end()?;
    let rate = |from, to| crowd.between(from, to).map(|figures| figures.rate).ok_or("nobody committed");
    println!(
        "{} | {} KiB each; commits of {OTHERS} others: {:.0}/s before, {:.0}/s when all wait to be read",
        work.name,
        grown / readers,
        rate(Duration::ZERO, alone)?,
        rate(all_stuck, end)?,
    );
    Ok(())
}
