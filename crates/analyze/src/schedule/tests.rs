//! Schedules that one can draw: `=` is execution, `.` the wait for the commit, each character a unit of time.

use super::*;

/// One unit of time.
const UNIT: u64 = 1000;

fn step(units: u64) -> Step {
    Step { cost: units * UNIT, hints: maria_flags::ALLOW_PARALLEL, ..Step::default() }
}

fn rule(server: Server, mode: Mode) -> Rule {
    Rule { server, mode, ordered: true }
}

/// A line per transaction.
fn draw(rule: Rule, workers: usize, sync: u64, steps: &[Step]) -> String {
    let mut simulation = Simulation::new(rule, Some(workers), sync * UNIT);
    let mut out = String::new();
    for (number, step) in steps.iter().enumerate() {
        let (begin, done) = simulation.step(step);
        let (begin, executed, done) = (begin / UNIT, (begin + step.cost) / UNIT, done / UNIT);
        let blanks = " ".repeat(begin as usize);
        let runs = "=".repeat((executed - begin) as usize);
        let waits = ".".repeat(done.saturating_sub(executed) as usize);
        out.push_str(format!("T{}: {blanks}{runs}{waits}", number + 1).trim_end());
        out.push('\n');
    }
    out
}

fn check(drawn: &str, wanted: &[&str]) {
    let wanted: String = wanted.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(drawn, wanted, "drawn:\n{drawn}");
}

/// The intervals 93124 … 93140 of the tutorial. 93131 is long; MySQL's applier begins 93136 only behind 93132 to 93135, which wait
/// for 93131, though its source let it run beside 93131.
#[test]
fn intervals() {
    let intervals = [
        (93124, 93131, 6),
        (93131, 93132, 1),
        (93131, 93133, 1),
        (93131, 93134, 1),
        (93131, 93135, 1),
        (93124, 93136, 1),
        (93131, 93137, 1),
        (93131, 93138, 1),
        (93132, 93139, 1),
        (93138, 93140, 1),
    ];
    let steps: Vec<Step> = intervals
        .iter()
        .map(|&(last_committed, _, units): &(u64, u64, u64)| Step {
            upto: last_committed.checked_sub(93131),
            ..step(units)
        })
        .collect();
    check(
        &draw(rule(Server::Mysql, Mode::LogicalClock), 8, 0, &steps),
        &[
            "T1: ======",
            "T2:       =",
            "T3:       =",
            "T4:       =",
            "T5:       =",
            "T6:       =",
            "T7:       =",
            "T8:       =",
            "T9:        =",
            "T10:        =",
        ],
    );
    check(
        &draw(rule(Server::Commuter, Mode::LogicalClock), 8, 0, &steps),
        &[
            "T1: ======",
            "T2:       =",
            "T3:       =",
            "T4:       =",
            "T5:       =",
            "T6: =......",
            "T7:       =",
            "T8:       =",
            "T9:        =",
            "T10:        =",
        ],
    );
}

/// A long transaction of a group holds up MariaDB's conservative mode; who goes by rows is not held up.
#[test]
fn a_long_transaction_blocks_the_pipeline() {
    let group = |id, units| Step { commit_id: Some(id), ..step(units) };
    let steps = [group(1, 8), group(1, 2), group(1, 2), group(2, 2), group(2, 2)];
    check(
        &draw(rule(Server::Maria, Mode::Conservative), 3, 0, &steps),
        &["T1: ========", "T2: ==......", "T3: ==......", "T4:         ==", "T5:         =="],
    );
    check(
        &draw(rule(Server::Commuter, Mode::Writeset), 3, 0, &steps),
        &["T1: ========", "T2: ==......", "T3: ==......", "T4:   ==....", "T5:   ==...."],
    );
}

/// Groups of one, executed one after the other, share syncs.
#[test]
fn commits_share_syncs_though_nothing_runs_together() {
    let steps = [step(2), step(2), step(2), step(2)];
    check(
        &draw(rule(Server::Mysql, Mode::None), 1, 3, &steps),
        &["T1: ==...", "T2:      ==...", "T3:           ==...", "T4:                ==..."],
    );
    check(
        &draw(rule(Server::Maria, Mode::Minimal), 4, 3, &steps),
        &["T1: ==...", "T2:   ==....", "T3:     ==.....", "T4:       ==..."],
    );
}

/// Two transactions change the same row: optimistic modes execute the later one again, behind the earlier one. Nothing waits longer
/// than it has to.
#[test]
fn who_meets_an_earlier_row_is_executed_again() {
    let steps = [step(4), Step { after: vec![0], ..step(2) }, step(1)];
    check(&draw(rule(Server::Commuter, Mode::Aggressive), 3, 0, &steps), &["T1: ====", "T2: ==....", "T3: =....."]);
    check(&draw(rule(Server::Commuter, Mode::Writeset), 3, 0, &steps), &["T1: ====", "T2:     ==", "T3: =....."]);
    let mut simulation = Simulation::new(rule(Server::Commuter, Mode::Aggressive), Some(3), 0);
    steps.iter().for_each(|step| {
        simulation.step(step);
    });
    assert_eq!((simulation.rollbacks(), simulation.end()), (1, 6 * UNIT));
}

/// What MySQL waits for at the start of a file, and everybody at a schema change; behind one, only MySQL's intervals wait.
#[test]
fn barriers() {
    let steps = [step(4), Step { starts_file: true, ..step(2) }, step(2)];
    check(&draw(rule(Server::Mysql, Mode::LogicalClock), 4, 0, &steps), &["T1: ====", "T2:     ==", "T3:     =="]);
    check(&draw(rule(Server::Commuter, Mode::LogicalClock), 4, 0, &steps), &["T1: ====", "T2: ==..", "T3: ==.."]);
    let steps = [step(4), Step { is_ddl: true, ..step(2) }, step(2), Step { after: vec![1], ..step(2) }];
    check(
        &draw(rule(Server::Commuter, Mode::Writeset), 4, 0, &steps),
        &["T1: ====", "T2:     ==", "T3: ==....", "T4:       =="],
    );
}

/// Schemas that have nothing to do with one another overtake each other if the order of commits is not kept.
#[test]
fn schemas() {
    let of = |schemas: &[u32], units| Step { schemas: schemas.to_vec(), ..step(units) };
    let steps = [of(&[1], 4), of(&[1], 2), of(&[2], 1), of(&[2], 1), of(&[1, 2], 1)];
    let unordered = Rule { server: Server::Mysql, mode: Mode::Schema, ordered: false };
    check(&draw(unordered, 4, 0, &steps), &["T1: ====", "T2:     ==", "T3: =", "T4:  =", "T5:       ="]);
    check(
        &draw(rule(Server::Commuter, Mode::Schema), 4, 0, &steps),
        &["T1: ====", "T2:     ==", "T3: =.....", "T4:       =", "T5:        ="],
    );
}
