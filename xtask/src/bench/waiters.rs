//! Many clients that want the same rows: on one row, and in deadlocks over ten of them, as a ratio to what few of them reach.

use std::time::Duration;

use interop::{Client, Crowd, Figures, Peer, Result, Server};

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
        contenders.push(Contender::Peer(Peer::start(kind, "bench-waiters", Duration::ZERO, &[&maximum])?));
    }
    for contender in &contenders {
        let rows = (1..=ROWS).map(|id| format!("({id}, 0)")).collect::<Vec<_>>().join(",");
        let create = "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, n INT)";
        Client::tcp(contender.port()).query(&format!("{create}; INSERT INTO d.t VALUES {rows}"))?;
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
    let update = |id: usize| format!("UPDATE t SET n = n + 1 WHERE id = {}", id + 1);
    let crowd = Crowd::start(contender.port(), "d", clients, move |_, random| match want {
        Want::One => vec![update(0)],
        Want::Two => {
            let first = random.below(ROWS);
            let second = (first + 1 + random.below(ROWS - 1)) % ROWS;
            vec!["BEGIN".to_owned(), update(first), update(second), "COMMIT".to_owned()]
        }
    })?;
    let from = Duration::from_secs(1);
    std::thread::sleep(from + Duration::from_secs(arguments.seconds.into()));
    let to = crowd.elapsed();
    crowd.end()?.between(from, to).ok_or_else(|| format!("{}: nobody committed", contender.name()))
}
