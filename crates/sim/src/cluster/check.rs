//! What must be true of a cluster.

use base::{Gtid, LogPosition};
use binlog::LogFile;
use engine::{Engine, SessionHandle, TxnOptions};
use io::sim::SimWorld;

use super::clients::SharedTold;
use super::node::Node;
use crate::check::same;
use crate::model::History;
use crate::workload::state_of;

/// Where the in-use flag of a file's FORMAT_DESCRIPTION is: the only byte that may differ.
const IN_USE_FLAG: usize = 21;

/// What a follower has durably, its source has durably too, to the byte.
pub(super) fn check_prefixes(nodes: &[Node]) -> Result<(), String> {
    for node in nodes.iter().filter(|node| !node.executes()) {
        let (Some(source), Some(engine)) = (node.source, node.engine()) else { continue };
        for file in engine.log().files() {
            let theirs = nodes[source].machine.durable_contents(&file.name);
            compare(&file, node.machine.durable_contents(&file.name), theirs).map_err(|error| {
                format!(
                    "the log of {} is not a beginning of what {} has durably: {error}",
                    node.name, nodes[source].name
                )
            })?;
        }
    }
    Ok(())
}

fn compare(file: &LogFile, ours: Option<Vec<u8>>, theirs: Option<Vec<u8>>) -> Result<(), String> {
    let name = &file.name;
    let size = file.size as usize;
    let mut ours = ours.ok_or_else(|| format!("{name} is not durable here"))?;
    let mut theirs = theirs.ok_or_else(|| format!("{name} is not durable there"))?;
    if ours.len() < size || theirs.len() < size {
        return Err(format!("{name} has {size} bytes in the log, {} here and {} there", ours.len(), theirs.len()));
    }
    if size > IN_USE_FLAG {
        (ours[IN_USE_FLAG], theirs[IN_USE_FLAG]) = (0, 0);
    }
    let (ours, theirs) = (&ours[..size], &theirs[..size]);
    // As a whole first: this is done after every step, and a comparison byte by byte took most of the simulation's time.
    if ours == theirs {
        return Ok(());
    }
    let at = ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs);
    Err(format!("{name} differs at {} of {size}", at.unwrap_or(size)))
}

/// Whether all servers are at the end of the source's log, durably and visibly.
pub(super) fn are_in_step(nodes: &[Node]) -> bool {
    let ends = |node: &Node| node.engine().map(|engine| ends_of(&engine));
    let first = ends(&nodes[0]);
    let Some(source) = nodes[0].engine() else { return false };
    nodes.iter().all(|node| match node.engine() {
        Some(engine) if node.executes() => source.gtid_executed().is_subset_of(&engine.gtid_executed()),
        _ => ends(node) == first,
    })
}

/// For people: where each server is.
pub(super) fn describe(nodes: &[Node]) -> String {
    let one = |node: &Node| {
        let ends = node.engine().map(|engine| ends_of(&engine));
        format!("{} at {ends:?} {}; ", node.name, node.replica_status())
    };
    nodes.iter().map(one).collect()
}

fn ends_of(engine: &Engine) -> (LogPosition, LogPosition) {
    (engine.log().durable_end(), engine.visible().1)
}

/// Everything else; what the log tells.
pub(super) async fn check_all(nodes: &[Node], world: &SimWorld, told: &SharedTold) -> Result<History, String> {
    let gone = || "a server is not there".to_owned();
    let source = nodes[0].engine().ok_or_else(gone)?;
    let history = History::read(source.log()).await?;
    {
        let told = told.lock();
        if let Some(id) = told.acknowledged.iter().find(|id| !history.numbers.contains_key(id)) {
            return Err(format!("transaction {id} was acknowledged and is lost"));
        }
        if let Some(id) = history.numbers.keys().find(|id| !told.attempted.contains_key(id)) {
            return Err(format!("transaction {id} is in the log, and nobody wrote it"));
        }
        for id in &told.prepared {
            if !history.ever_prepared.iter().any(|xid| xid.gtrid == id.to_string().as_bytes()) {
                return Err(format!("transaction {id} was prepared and is lost"));
            }
        }
    }
    for (number, node) in nodes.iter().enumerate() {
        let engine = node.engine().ok_or_else(gone)?;
        let own = if node.executes() { Some(History::read(engine.log()).await?) } else { None };
        for (_, position, state) in told.lock().seen.iter().filter(|(server, ..)| *server == number) {
            let what = format!("what a reader saw on {} at {position}", node.name);
            same(&what, state, own.as_ref().unwrap_or(&history).at(*position))?;
        }
        if let Some(own) = &own {
            check_executed(node, own, &history)?;
        } else if engine.log().files() != source.log().files() {
            return Err(format!(
                "{} has files {:?}, the source {:?}",
                node.name,
                engine.log().files(),
                source.log().files()
            ));
        }
        if !node.executes() && engine.gtid_executed() != source.log().gtid_executed() {
            return Err(format!("{} has executed {}", node.name, engine.gtid_executed()));
        }
        let has_tables = source.catalog().table(crate::tables::SCHEMA, crate::tables::CELLS).is_some();
        check_catalog(node.name, &engine, &source)?;
        if has_tables {
            let mut transaction = engine.begin(TxnOptions::new(SessionHandle::internal()));
            let state =
                state_of(&mut transaction, world).await.map_err(|error| format!("reading {}: {error}", node.name))?;
            same(&format!("server {}", node.name), &state, history.last())?;
        }
    }
    Ok(history)
}

/// A server that executes has what its source has, in the same order if that is asked for.
fn check_executed(node: &Node, own: &History, source: &History) -> Result<(), String> {
    let is_there = |gtid: &&Gtid| source.gtids.contains(gtid);
    let mut ours: Vec<Gtid> = own.gtids.iter().filter(is_there).copied().collect();
    let mut theirs = source.gtids.clone();
    if !node.keeps_order() {
        ours.sort_unstable();
        theirs.sort_unstable();
    }
    if ours == theirs {
        return Ok(());
    }
    let at = ours.iter().zip(&theirs).take_while(|(ours, theirs)| ours == theirs).count();
    let (ours, theirs) = (ours.get(at), theirs.get(at));
    Err(format!("{} has executed {ours:?} as its transaction {at}, the source {theirs:?}", node.name))
}

fn check_catalog(name: &str, engine: &Engine, source: &Engine) -> Result<(), String> {
    let tables = |engine: &Engine| -> Vec<String> {
        let catalog = engine.catalog();
        let line = |table: &std::sync::Arc<engine::Table>| {
            let indexes: Vec<_> = table.def.indexes.iter().map(|index| (&index.name, index.unique)).collect();
            format!("{} {:?}", table.def.name, indexes)
        };
        let mut all: Vec<String> = catalog.tables(crate::tables::SCHEMA).map(line).collect();
        all.sort();
        all
    };
    let (ours, theirs) = (tables(engine), tables(source));
    if ours == theirs { Ok(()) } else { Err(format!("{name} has the tables {ours:?}, the source {theirs:?}")) }
}
