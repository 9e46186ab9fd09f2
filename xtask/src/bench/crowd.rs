//! Thousands of connections: some commit, most are idle, and many more knock at the door.

use std::time::{Duration, Instant};

use interop::{Crowd, Figures, Raw, Result, Server, be_refused, count_up, create_counters, resident_kib, thread_count};

use super::works::Work;
use super::{BenchArguments, our_options};

/// What the first seconds show is the connections' beginning.
const WARM: Duration = Duration::from_secs(2);
/// Threads that knock.
const VISITORS: u64 = 16;

pub(crate) fn run(
    work: &Work,
    arguments: &BenchArguments,
    connections: u64,
    committing: u64,
    refused: u64,
) -> Result<()> {
    let mut options = our_options(arguments);
    options.add_settings([format!("max_connections={connections}")]);
    let server = Server::start("bench-crowd", options)?;
    create_counters(&server.client(), committing)?;
    // One more, in the place that is kept for an administrator.
    let idle = (committing..=connections).map(|_| Raw::logged_in(server.port())).collect::<Result<Vec<_>>>()?;
    let update = |number: u64, _: &mut _| vec![count_up(number + 1)];
    let crowd = Crowd::start(server.port(), "d", committing, update)?;
    std::thread::sleep(WARM + Duration::from_secs(arguments.seconds.into()));
    let before = crowd.elapsed();
    let knocking = Instant::now();
    knock(server.port(), refused)?;
    let (knocking, after) = (knocking.elapsed(), crowd.elapsed());
    let (memory, threads) = (resident_kib(server.pid())? / 1024, thread_count(server.pid())?);
    let crowded = crowd.end()?;
    drop(idle);
    let quiet = crowded.between(WARM, before).ok_or("nobody committed")?;
    let meanwhile = crowded.between(before, after).ok_or("nobody committed while others were refused")?;
    println!("{} | {committing} of {connections} commit: {}", work.name, show(&quiet));
    println!("    {refused} more refused in {:.1} s, meanwhile: {}", knocking.as_secs_f64(), show(&meanwhile));
    println!("    {threads} threads, {memory} MB");
    Ok(())
}

fn show(figures: &Figures) -> String {
    let Figures { rate, median, p99, max, slowest_member, .. } = figures;
    format!(
        "{rate:.0}/s, median {median:.1?}, p99 {p99:.1?}, max {max:.1?} ({:.1} of the median), the last one has {slowest_member:.2} of the middle one's",
        max.as_secs_f64() / median.as_secs_f64()
    )
}

/// Connects so often, from several threads, and is refused each time.
fn knock(port: u16, count: u64) -> Result<()> {
    std::thread::scope(|scope| {
        let visitors: Vec<_> = (0..VISITORS).map(|_| scope.spawn(|| be_refused(port, count / VISITORS))).collect();
        visitors.into_iter().try_for_each(|visitor| visitor.join().map_err(|_| "a visitor panicked".to_owned())?)
    })
}
