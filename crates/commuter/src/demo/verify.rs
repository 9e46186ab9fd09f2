//! The demo's proofs, each printed when it holds.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use super::load::{ACCOUNTS, FIRST_BALANCE, Outcome};
use super::servers::ServerProcess;
use super::{Result, client_error};
use crate::client::Client;

const IN_STEP_PATIENCE: Duration = Duration::from_secs(60);

/// Source and follower after the load.
pub(crate) struct Proofs<'a> {
    pub(crate) source: &'a ServerProcess,
    pub(crate) follower: &'a ServerProcess,
    pub(crate) outcome: &'a Outcome,
}

impl Proofs<'_> {
    /// Runs all; the first that fails is the error.
    pub(crate) fn prove(&self) -> Result<()> {
        let mut source = self.source.connect()?;
        let mut follower = self.follower.connect()?;
        self.acknowledged_is_there(&mut source)?;
        balances_follow_from_ledger(&mut source)?;
        in_step(&mut source, &mut follower)?;
        same_rows(&mut source, &mut follower)?;
        same_logs(&mut source, self.source.folder(), self.follower.folder())
    }

    fn acknowledged_is_there(&self, source: &mut Client) -> Result<()> {
        let sql = "SELECT client, COUNT(*), MAX(number) FROM demo.ledger GROUP BY client ORDER BY client";
        let rows = source.query(sql).map_err(client_error)?;
        let number = |row, column| rows.text(row, column).parse::<u64>().unwrap_or_default();
        let mut seen = 0;
        for row in 0..rows.rows.len() {
            let (client, count, last) = (number(row, 0), number(row, 1), number(row, 2));
            let acknowledged = self.outcome.acknowledged.get(&(client as u32)).copied().unwrap_or_default();
            if count != last || last < acknowledged || last > acknowledged + 1 {
                let found = format!("{count} transfers up to number {last}");
                return Err(format!("LOST: client {client} was told {acknowledged}, the ledger has {found}"));
            }
            seen += u64::from(acknowledged > 0);
        }
        let wrote = self.outcome.acknowledged.values().filter(|&&last| last > 0).count() as u64;
        if seen < wrote {
            return Err(format!("LOST: {wrote} clients were told of transfers, the ledger has {seen} of them"));
        }
        println!("proved: every acknowledged transaction is there ({} transfers)", self.outcome.transfers);
        Ok(())
    }
}

fn number(client: &mut Client, sql: &str) -> Result<i64> {
    let text = client.query(sql).map_err(client_error)?.text(0, 0);
    text.parse().map_err(|_| format!("{sql}: '{text}' is no number"))
}

fn balances_follow_from_ledger(source: &mut Client) -> Result<()> {
    let expected = ACCOUNTS as i64 * FIRST_BALANCE;
    let total = number(source, "SELECT CAST(SUM(balance) AS SIGNED) FROM demo.accounts")?;
    if total != expected {
        return Err(format!("WRONG: the balances sum to {total}, not {expected}: half a transaction"));
    }
    let sql = "SELECT COUNT(*) FROM demo.accounts a \
               LEFT JOIN (SELECT target AS id, SUM(amount) AS moved FROM demo.ledger GROUP BY target) i ON i.id = a.id \
               LEFT JOIN (SELECT source AS id, SUM(amount) AS moved FROM demo.ledger GROUP BY source) o ON o.id = a.id \
               WHERE a.balance <> 1000 + COALESCE(i.moved, 0) - COALESCE(o.moved, 0)";
    match number(source, sql)? {
        0 => println!("proved: every balance is what the ledger says"),
        wrong => return Err(format!("WRONG: {wrong} balances are not what the ledger says")),
    }
    Ok(())
}

fn in_step(source: &mut Client, follower: &mut Client) -> Result<()> {
    let executed = |client: &mut Client| {
        client.query("SELECT @@global.gtid_executed").map(|result| result.text(0, 0)).map_err(client_error)
    };
    let wanted = executed(source)?;
    let start = Instant::now();
    while executed(follower)? != wanted {
        if start.elapsed() > IN_STEP_PATIENCE {
            let has = executed(follower)?;
            return Err(format!("LAG: after {IN_STEP_PATIENCE:?} the follower has {has}, the source {wanted}"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("proved: the follower is in step ({:.2} s after the load)", start.elapsed().as_secs_f64());
    Ok(())
}

fn same_rows(source: &mut Client, follower: &mut Client) -> Result<()> {
    let mut rows = 0;
    for sql in ["SELECT * FROM demo.accounts ORDER BY id", "SELECT * FROM demo.ledger ORDER BY client, number"] {
        let (ours, theirs) = (source.query(sql).map_err(client_error)?, follower.query(sql).map_err(client_error)?);
        if ours != theirs {
            let differ = ours.rows.iter().zip(&theirs.rows).filter(|(a, b)| a != b).count();
            let counts = format!("{} and {} rows, {differ} differ", ours.rows.len(), theirs.rows.len());
            return Err(format!("DIFFERENT: source and follower: {sql}: {counts}"));
        }
        rows += ours.rows.len();
    }
    println!("proved: source and follower hold the same {rows} rows");
    Ok(())
}

/// Compares every log file, the last one up to the source's position.
fn same_logs(source: &mut Client, ours: &Path, theirs: &Path) -> Result<()> {
    let files = source.query("SHOW BINARY LOGS").map_err(client_error)?;
    let mut bytes = 0;
    for row in 0..files.rows.len() {
        let name = files.text(row, 0);
        let size: u64 = files.text(row, 1).parse().map_err(|_| "SHOW BINARY LOGS gives no size".to_owned())?;
        let (a, b) = (read_start(&ours.join(&name), size)?, read_start(&theirs.join(&name), size)?);
        if let Some(at) = a.iter().zip(&b).position(|(a, b)| a != b) {
            return Err(format!("DIFFERENT: log {name} differs at byte {at}"));
        }
        bytes += size;
    }
    println!("proved: the logs are identical, byte for byte ({} files, {bytes} bytes)", files.rows.len());
    Ok(())
}

fn read_start(path: &Path, size: u64) -> Result<Vec<u8>> {
    let failed = |error| format!("{}: {error}", path.display());
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(size).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err(format!("DIFFERENT: {} is short", path.display())) }
}
