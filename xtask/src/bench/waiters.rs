//! Many clients that want the same rows: on one row, and in deadlocks over ten of them, as a ratio to what few of them reach.

use std::time::Duration;

use interop::{Client, Crowd, Figures, Peer, Result, Server, count_up, count_up_two, create_counters};

use super::works::Work;
use super::{BenchArguments, Contender, our_options};

/// The rows that deadlocks are about.
const ROWS: usize = 10;

/// How rows are wanted.
#[derive(Clone, Copy)]
enum Want {
    /// All want the same.
    One,
    /// Each two of ten, in any order.
    Two,
}

pub(crate) fn run(work: &Work, arguments: &BenchArguments, few: u64, many: u64) -> Result<()> {
    let maximum = many + 100;
    let mut options = our_options(arguments);
    options.add_settings([format!("max_connections={maximum}")]);
    let mut contenders = vec![Contender::Ours(Server::start("bench-waiters", options)?)];
    for kind in arguments.kinds() {
        let maximum = format!("--max-connections={maximum}");
        contenders.push(Contender::Peer(Peer::start_large(kind, "bench-waiters", Duration::ZERO, &[&maximum])?));
    }
    for contender in &contenders {
        create_counters(&Client::tcp(contender.port()), ROWS as u64)?;
    }
    println!("{}", work.name);
    for (name, want) in [("one row", Want::One), ("two of ten rows", Want::Two)] {
        for contender in &contenders {
            let of_few = measure(contender, arguments, few, want)?;
            let of_many = measure(contender, arguments, many, want)?;
            println!("    {name}, {}: {few} clients {}", contender.name(), show(&of_few));
            println!("        {many} clients {}; {:.2}", show(&of_many), of_many.rate / of_few.rate);
        }
    }
    Ok(())
}

fn show(Figures { rate, deadlocks, median, p99, .. }: &Figures) -> String {
    format!("{rate:.0}/s, {deadlocks:.0} deadlocks/s, median {median:.1?}, p99 {p99:.1?}")
}

fn measure(contender: &Contender, arguments: &BenchArguments, clients: u64, want: Want) -> Result<Figures> {
    let crowd = Crowd::start(contender.port(), "d", clients, move |_, random| match want {
        Want::One => vec![count_up(1)],
        Want::Two => count_up_two(ROWS, random),
    })?;
    let from = Duration::from_secs(1);
    std::thread::sleep(from + Duration::from_secs(arguments.seconds.into()));
    let to = crowd.elapsed();
    crowd.end()?.between(from, to).ok_or_else(|| format!("{}: nobody committed", contender.name()))
}
