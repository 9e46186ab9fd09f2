//! Foreign keys of the tables that a statement changes: every new value has its parent, and what happens to the children of
//! a row that goes or changes its key.
//!
//! Row by row: children that refuse are looked for, then the parents, as in MySQL since 9.6, so a row without its parent is error 1452 before
//! it can be 1062, and takes no AUTO_INCREMENT number. The change is written, and then parents in the row's own table are looked for (a row may refer
//! to itself) and the other children changed. A statement of a log has parents looked for last: that is where a MariaDB does it. Children are found by the index over
//! their foreign key, and locked; the parent's row is locked exclusively by then, and whoever inserts a child locks it shared,
//! so none can come in between, in READ COMMITTED neither.
//!
//! # Invariants
//! - What a cascade changes is written like anything else: it is in the log as rows, and whoever applies the log checks
//!   nothing ([`engine::Transaction::set_unchecked`]).
//! - All tables that a cascade may read or write are locked before the statement begins; they are in its plan.

use std::collections::HashSet;
use std::sync::Arc;

use base::{SqlError, TableId, codes};
use bytes::Bytes;
use engine::{Catalog, Direction, EngineError, KeyRange, ReadMode, Savepoint, Table, TableMode};
use io::BoxFuture;
use types::{ForeignKeyDef, ReferentialAction, Value};

use crate::bind::Binder;
use crate::ddl::foreign_key::{has_children, no_parent, unique_index};
use crate::exec::ExecContext;
use crate::exec::batch::BATCH_ROWS;
use crate::write::{Changes, RowMaker};

/// Cascades go no deeper, as in InnoDB.
const DEPTH_MAX: usize = 15;

/// The tables around one that a statement changes.
#[derive(Debug)]
pub(crate) struct ForeignKeys {
    /// The first is the table itself.
    nodes: Vec<Node>,
    /// Tables whose rows a cascade may change.
    cascaded: HashSet<TableId>,
}

#[derive(Debug)]
struct Node {
    table: Arc<Table>,
    /// Makes the rows that a cascade changes.
    maker: RowMaker,
    parents: Vec<Parent>,
    /// In the order of their tables' age, which is that of MySQL but for foreign keys that ALTER TABLE has added.
    children: Vec<Child>,
}

/// A foreign key of the node's table.
#[derive(Debug)]
struct Parent {
    key: ForeignKeyDef,
    /// The parent, and its index that the foreign key refers to; `None` if it is not there.
    target: Option<(usize, usize)>,
}

/// A foreign key of another table (or of its own) to the node's.
#[derive(Debug)]
struct Child {
    node: usize,
    key: ForeignKeyDef,
    /// The child's index over the foreign key.
    index: usize,
    /// The columns of the node's table to which the foreign key refers, in its order.
    columns: Vec<usize>,
}

/// What happens to a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Insert,
    Update,
    /// Also by REPLACE; the new row is that which takes its place then.
    Delete,
}

/// A change of a row.
struct Change {
    node: usize,
    event: Event,
    old: Option<Bytes>,
    new: Option<Bytes>,
    depth: usize,
    /// Parents in other tables have been found.
    has_parents: bool,
    /// Nodes of which rows were updated on the way here.
    updated: Vec<usize>,
}

impl ForeignKeys {
    /// For a statement that inserts rows into a table and, if `changes`, also updates or deletes some. `None` if no foreign key
    /// has to do with that. The statement is to lock [`ForeignKeys::tables`].
    pub(crate) fn of(catalog: &Catalog, table: &Arc<Table>, changes: bool) -> Option<Self> {
        if table.is_temporary() {
            return None;
        }
        let mut keys = ForeignKeys { nodes: Vec::new(), cascaded: HashSet::new() };
        let mut pending = vec![keys.node(table)];
        while let Some(node) = pending.pop() {
            keys.add_parents(catalog, node);
            if changes {
                pending.extend(keys.add_children(catalog, node));
            }
        }
        let root = &keys.nodes[0];
        if root.parents.is_empty() && root.children.is_empty() {
            return None;
        }
        Some(keys)
    }

    /// The same while a statement is planned, which locks the tables.
    pub(crate) fn planned(binder: &mut Binder<'_>, table: &Arc<Table>, changes: bool) -> Option<Self> {
        let keys = ForeignKeys::of(binder.context.catalog, table, changes)?;
        keys.tables().for_each(|table| binder.lock_table(table, TableMode::IntentExclusive));
        Some(keys)
    }

    /// All tables that may be read or written because of the foreign keys, the statement's own among them.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.nodes.iter().map(|node| &node.table)
    }

    /// The node of a table.
    fn node(&mut self, table: &Arc<Table>) -> usize {
        let known = self.nodes.iter().position(|node| node.table.id() == table.id());
        known.unwrap_or_else(|| {
            let maker = RowMaker::of_changes(table);
            self.nodes.push(Node { table: table.clone(), maker, parents: Vec::new(), children: Vec::new() });
            self.nodes.len() - 1
        })
    }

    fn add_parents(&mut self, catalog: &Catalog, node: usize) {
        let def = self.nodes[node].table.def.clone();
        for key in &def.foreign_keys {
            let parent = catalog.base_table(&key.parent_schema, &key.parent_table);
            let target = parent.and_then(|parent| Some((self.node(parent), unique_index(&parent.def, key)?)));
            self.nodes[node].parents.push(Parent { key: key.clone(), target });
        }
    }

    /// Gives the children whose own rows may be changed, the first time that they come up.
    fn add_children(&mut self, catalog: &Catalog, node: usize) -> Vec<usize> {
        let def = self.nodes[node].table.def.clone();
        let mut changed = Vec::new();
        for child in catalog.children_of(&def.schema, &def.name) {
            for key in child.def.foreign_keys.iter().filter(|key| key.refers_to(&def.schema, &def.name)) {
                let columns: Option<Vec<usize>> =
                    key.parent_columns.iter().map(|column| def.column_index(column)).collect();
                let (Some(columns), Some(index)) = (columns, child.def.index_over(&key.columns)) else { continue };
                let at = self.node(child);
                self.nodes[node].children.push(Child { node: at, key: key.clone(), index, columns });
                let cascades = !key.on_delete.refuses() || !key.on_update.refuses();
                if cascades && self.cascaded.insert(child.id()) && at > 0 {
                    changed.push(at);
                }
            }
        }
        changed
    }

    /// Whether the statement may change rows of a table in other ways than it says itself.
    pub(crate) fn may_cascade_to(&self, table: &Table) -> bool {
        self.cascaded.contains(&table.id())
    }

    /// A row of the statement's table was inserted: 1452 if it has no parent. `has_parents`: those in other tables have been found.
    pub(crate) async fn inserted(
        &self,
        row: Bytes,
        has_parents: bool,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        if !context.foreign_key_checks {
            return Ok(());
        }
        self.follow(Change { has_parents, ..Change::of(Event::Insert, None, Some(row)) }, context).await
    }

    /// A row of the statement's table is to be inserted: 1452 if it has no parent in another table. `unknown` is the column whose value it
    /// does not have yet. False if that is to be looked for when it is there.
    pub(crate) async fn is_to_be_inserted(
        &self,
        row: Bytes,
        unknown: Option<usize>,
        context: &mut ExecContext<'_>,
    ) -> Result<bool, SqlError> {
        let refers = |parent: &Parent| unknown.is_some_and(|column| parent.key.columns.contains(&column));
        if !context.foreign_key_checks || self.nodes[0].parents.iter().any(refers) {
            return Ok(false);
        }
        let mut change = Change::of(Event::Insert, None, Some(row));
        self.check_parents_first(&mut change, context).await?;
        Ok(change.has_parents)
    }

    /// Looks for parents in other tables before the change is written, if that is the order.
    async fn check_parents_first(&self, change: &mut Change, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if context.parents_first {
            self.check_parents(change, |parent| !parent.is_of(change.node), context).await?;
            change.has_parents = true;
        }
        Ok(())
    }

    /// 1452 for the first of these parents that a row refers to anew and that is not there.
    async fn check_parents(
        &self,
        change: &Change,
        which: impl Fn(&Parent) -> bool,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let node = &self.nodes[change.node];
        for parent in node.parents.iter().filter(|parent| which(parent)) {
            let is_same = |(old, new)| !differ(&node.table, old, new, &parent.key.columns);
            if change.old.as_ref().zip(change.new.as_ref()).is_some_and(is_same) {
                continue;
            }
            if let Some(old) = &change.old {
                self.parent_key(node, parent, old, context)?;
            }
            if let Some(new) = change.new.as_ref().filter(|_| change.event != Event::Delete) {
                self.check_parent(node, parent, new, context).await?;
            }
        }
        Ok(())
    }

    /// 1451 if there are children that refuse a change, before it is written.
    async fn check_refusals(&self, change: &Change, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let node = &self.nodes[change.node];
        for child in node.children[..change.looked_at_first(node)].iter().filter(|child| change.is_refused_by(child)) {
            self.check_refusal(node, child, change, context).await?;
        }
        Ok(())
    }

    async fn check_refusal(
        &self,
        node: &Node,
        child: &Child,
        change: &Change,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let Some(prefix) = self.child_prefix(node, child, change)? else { return Ok(()) };
        let table = &self.nodes[child.node].table;
        match has_entry(table, child.index, prefix, context).await? {
            true => Err(has_children(&table.def, &child.key)),
            false => Ok(()),
        }
    }

    /// A change has been written: its parents that have not been found, and the children that go with it.
    fn follow<'a>(&'a self, change: Change, context: &'a mut ExecContext<'_>) -> BoxFuture<'a, Result<(), SqlError>> {
        Box::pin(async move {
            let node = &self.nodes[change.node];
            let is_left = |parent: &Parent| !change.has_parents || parent.is_of(change.node);
            self.check_parents(&change, is_left, context).await?;
            let looked_at = change.looked_at_first(node);
            for (number, child) in node.children.iter().enumerate() {
                match change.is_refused_by(child) {
                    false => self.change_children(node, child, &change, context).await?,
                    true if number >= looked_at => self.check_refusal(node, child, &change, context).await?,
                    true => {}
                }
            }
            Ok(())
        })
    }

    /// The prefix of a child's index where the children of a row's old key are; `None` if the key stays as it is, or is none.
    fn child_prefix(&self, node: &Node, child: &Child, change: &Change) -> Result<Option<Bytes>, SqlError> {
        let Some(old) = &change.old else { return Ok(None) };
        if change.new.as_ref().is_some_and(|new| !differ(&node.table, old, new, &child.columns)) {
            return Ok(None);
        }
        let Some(values) = key_values(&node.table, old, &child.columns)? else { return Ok(None) };
        Ok(Some(self.nodes[child.node].table.codec.prefix(child.index, &values)?))
    }

    /// The key of the parent's index that a row refers to; `None` if it refers to nothing. The transaction remembers it.
    fn parent_key(
        &self,
        node: &Node,
        parent: &Parent,
        row: &Bytes,
        context: &mut ExecContext<'_>,
    ) -> Result<Option<Bytes>, SqlError> {
        let Some(values) = key_values(&node.table, row, &parent.key.columns)? else { return Ok(None) };
        let Some((target, index)) = parent.target else { return Ok(Some(Bytes::new())) };
        let table = &self.nodes[target].table;
        let key = table.codec.prefix(index, &values)?;
        context.transaction.refer_to(table, index, &key);
        Ok(Some(key))
    }

    /// Tells, of each foreign key of the table, which key of which index a row refers to.
    pub(crate) fn for_each_parent_key(
        &self,
        row: &Bytes,
        mut tell: impl FnMut(&Table, usize, &[u8]),
    ) -> Result<(), SqlError> {
        let node = &self.nodes[0];
        for parent in &node.parents {
            let (Some((target, index)), Some(values)) =
                (parent.target, key_values(&node.table, row, &parent.key.columns)?)
            else {
                continue;
            };
            let table = &self.nodes[target].table;
            tell(table, index, &table.codec.prefix(index, &values)?);
        }
        Ok(())
    }

    async fn check_parent(
        &self,
        node: &Node,
        parent: &Parent,
        row: &Bytes,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let Some(key) = self.parent_key(node, parent, row, context)? else { return Ok(()) };
        if let Some((target, index)) = parent.target {
            let table = &self.nodes[target].table;
            let is_there = match index {
                0 => context.transaction.get(table, &key, ReadMode::FOR_SHARE).await?.is_some(),
                _ => has_entry(table, index, key, context).await?,
            };
            if is_there {
                return Ok(());
            }
        }
        Err(no_parent(&node.table.def, &parent.key))
    }

    /// The children of a row's old key.
    async fn change_children(
        &self,
        node: &Node,
        child: &Child,
        change: &Change,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let Some(prefix) = self.child_prefix(node, child, change)? else { return Ok(()) };
        let table = &self.nodes[child.node].table;
        let range = KeyRange::prefix(prefix.clone());
        let mut scan = context.transaction.scan(table, child.index, range, Direction::Forward, ReadMode::FOR_UPDATE);
        let mut entries = Vec::new();
        loop {
            entries.clear();
            let more = context.transaction.next_batch(&mut scan, &mut entries, BATCH_ROWS).await?;
            for entry in &entries {
                let key = match child.index {
                    0 => Bytes::copy_from_slice(&entry.key),
                    index => Bytes::copy_from_slice(table.codec.clustered_key_of(index, &entry.key)?),
                };
                // It may have changed by a cascade since it was read.
                let row = context.transaction.get(table, &key, ReadMode::FOR_UPDATE).await?;
                let Some(row) = row.filter(|row| has_prefix(table, child.index, row, &prefix)) else { continue };
                self.change_child(node, child, change, row, context).await?;
            }
            context.check_cancelled().await?;
            if !more {
                return Ok(());
            }
        }
    }

    /// Does to a child what its foreign key says.
    async fn change_child(
        &self,
        node: &Node,
        child: &Child,
        change: &Change,
        row: Bytes,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        if change.depth >= DEPTH_MAX {
            let message = format!("Foreign key cascade delete/update exceeds max depth of {DEPTH_MAX}.");
            return Err(SqlError::new(codes::FK_DEPTH_EXCEEDED, message));
        }
        let table = &self.nodes[child.node].table;
        context.transaction.set_unchecked();
        let mut updated = change.updated.clone();
        let action = change.action(child);
        let deletes = (action, change.event) == (ReferentialAction::Cascade, Event::Delete);
        let (event, new) = if deletes {
            (Event::Delete, None)
        } else {
            updated.push(child.node);
            (
                Event::Update,
                Some(with_key(node, child, action, change.new.as_ref(), &self.nodes[child.node].maker, &row)?),
            )
        };
        let next = Change {
            node: child.node,
            event,
            old: Some(row.clone()),
            new: new.clone(),
            depth: change.depth + 1,
            has_parents: false,
            updated,
        };
        self.check_refusals(&next, context).await?;
        match new {
            None => context.transaction.delete(table, &row).await?,
            Some(new) => {
                let result = context.transaction.update(table, &row, new).await;
                result.map_err(|error| of_cascade(error, node, change))?;
            }
        }
        self.follow(next, context).await
    }
}

impl Parent {
    /// Whether it is a row of the node's own table.
    fn is_of(&self, node: usize) -> bool {
        self.target.is_some_and(|(target, _)| target == node)
    }
}

impl Change {
    fn of(event: Event, old: Option<Bytes>, new: Option<Bytes>) -> Self {
        let updated = if event == Event::Update { vec![0] } else { Vec::new() };
        Change { node: 0, event, old, new, depth: 0, has_parents: false, updated }
    }

    fn action(&self, child: &Child) -> ReferentialAction {
        if self.event == Event::Update { child.key.on_update } else { child.key.on_delete }
    }

    /// Whether children of a foreign key keep the row as it is: by its action, or because an update comes back to a table
    /// that it has changed on its way, as in InnoDB.
    fn is_refused_by(&self, child: &Child) -> bool {
        self.action(child).refuses() || self.event == Event::Update && self.updated.contains(&child.node)
    }

    /// How many of the foreign keys to a row are looked at before it is changed. When it goes, a foreign key has its turn in its place: children that an
    /// earlier one has taken along refuse nothing any more, as in MySQL.
    fn looked_at_first(&self, node: &Node) -> usize {
        let first_change = node.children.iter().position(|child| !self.is_refused_by(child));
        first_change.filter(|_| self.event == Event::Delete).unwrap_or(node.children.len())
    }
}

/// Updates a row, under the foreign keys around its table. A violation (1451, 1452) leaves nothing of it.
pub(crate) async fn update_row(
    table: &Arc<Table>,
    keys: Option<&ForeignKeys>,
    old: &Bytes,
    new: Bytes,
    context: &mut ExecContext<'_>,
) -> Result<(), SqlError> {
    let Some(keys) = keys.filter(|_| context.foreign_key_checks) else {
        context.transaction.update(table, old, new).await?;
        return Ok(());
    };
    let mut change = Change::of(Event::Update, Some(old.clone()), Some(new.clone()));
    keys.check_refusals(&change, context).await?;
    keys.check_parents_first(&mut change, context).await?;
    let before = context.transaction.begin_row();
    context.transaction.update(table, old, new).await?;
    undone_if_violated(keys.follow(change, context).await, before, context)
}

/// Deletes a row, under the foreign keys around its table; with REPLACE for another row. A violation (1451) leaves nothing of
/// it.
pub(crate) async fn delete_row(
    table: &Arc<Table>,
    keys: Option<&ForeignKeys>,
    old: &Bytes,
    replaced_by: Option<&Bytes>,
    context: &mut ExecContext<'_>,
) -> Result<(), SqlError> {
    let Some(keys) = keys.filter(|_| context.foreign_key_checks) else {
        return Ok(context.transaction.delete(table, old).await?);
    };
    if replaced_by.is_some() && !keys.nodes[0].children.is_empty() {
        // Children whose parent's key is in the new row stay; a replica that sees the old row go would cascade.
        context.transaction.set_unchecked();
    }
    let change = Change::of(Event::Delete, Some(old.clone()), replaced_by.cloned());
    keys.check_refusals(&change, context).await?;
    let before = context.transaction.begin_row();
    context.transaction.delete(table, old).await?;
    undone_if_violated(keys.follow(change, context).await, before, context)
}

fn undone_if_violated(
    result: Result<(), SqlError>,
    before: Savepoint,
    context: &mut ExecContext<'_>,
) -> Result<(), SqlError> {
    if result.as_ref().is_err_and(is_violation) {
        context.transaction.rollback_to(before);
    }
    result
}

/// The child's row with its parent's new key, or with none. ON UPDATE CURRENT_TIMESTAMP is not for what a cascade changes, as in MySQL.
fn with_key(
    node: &Node,
    child: &Child,
    action: ReferentialAction,
    parent: Option<&Bytes>,
    maker: &RowMaker,
    row: &Bytes,
) -> Result<Bytes, SqlError> {
    let mut changes = Changes::with_capacity(child.columns.len());
    for (&column, &parent_column) in child.key.columns.iter().zip(&child.columns) {
        let value = match parent.filter(|_| action == ReferentialAction::Cascade) {
            Some(parent) => node.table.codec.row.decode_column(parent, parent_column)?,
            None => Value::Null,
        };
        if !maker.takes_from_parent(column, &value) {
            return Err(has_children(maker.def(), &child.key));
        }
        changes.push((column, value));
    }
    maker.replaced(row, &mut changes)
}

/// 1761 for a row that a cascade would make a second time.
fn of_cascade(error: EngineError, node: &Node, change: &Change) -> SqlError {
    let EngineError::DuplicateKey(duplicate) = &error else { return error.into() };
    let parent = &node.table;
    let record = change.new.as_ref().and_then(|row| key_text(parent, row)).unwrap_or_default();
    let (table, index) = (&duplicate.table.def, &duplicate.table.def.indexes[duplicate.index_number]);
    let message = format!(
        "Foreign key constraint for table '{}', record '{record}' would lead to a duplicate entry in table '{}', key '{}'",
        parent.def.name, table.name, index.name
    );
    SqlError::new(codes::FOREIGN_DUPLICATE_KEY, message)
}

/// A row's primary key in words: `1-abc`.
fn key_text(table: &Table, row: &Bytes) -> Option<String> {
    let columns: Vec<usize> = table.def.primary().parts.iter().map(|part| part.column).collect();
    let texts = columns.iter().map(|&column| {
        let value = table.codec.row.decode_column(row, column).ok()?;
        Some(crate::ddl::value_text(&value, &table.def.columns[column]))
    });
    texts.collect::<Option<Vec<String>>>().map(|texts| texts.join("-"))
}

/// Whether a row's values of these columns are other bytes.
fn differ(table: &Table, old: &Bytes, new: &Bytes, columns: &[usize]) -> bool {
    let layout = &table.codec.row;
    columns.iter().any(|&column| match (layout.slice(old, column), layout.slice(new, column)) {
        (Ok(old), Ok(new)) => old != new,
        _ => true,
    })
}

/// A row's values of some columns; `None` if one is NULL, and so no foreign key.
fn key_values(table: &Table, row: &Bytes, columns: &[usize]) -> Result<Option<Vec<Value>>, SqlError> {
    let values = columns.iter().map(|&column| table.codec.row.decode_column(row, column));
    let values = values.collect::<Result<Vec<Value>, _>>()?;
    Ok((!values.iter().any(Value::is_null)).then_some(values))
}

/// Whether a row's entry in an index begins with a prefix.
fn has_prefix(table: &Table, index: usize, row: &Bytes, prefix: &Bytes) -> bool {
    let key = match index {
        0 => table.codec.clustered_key(row),
        _ => table.codec.secondary_entry(index, row).map(|(key, _)| key),
    };
    key.is_ok_and(|key| key.starts_with(prefix))
}

/// Whether an index has an entry with this prefix; locks it shared.
async fn has_entry(
    table: &Arc<Table>,
    index: usize,
    prefix: Bytes,
    context: &mut ExecContext<'_>,
) -> Result<bool, SqlError> {
    let range = KeyRange::prefix(prefix);
    let mut scan = context.transaction.scan(table, index, range, Direction::Forward, ReadMode::FOR_SHARE);
    let mut entries = Vec::new();
    Ok(context.transaction.next_batch(&mut scan, &mut entries, 1).await?)
}

/// 1451 or 1452, of which IGNORE makes a warning.
pub(crate) fn is_violation(error: &SqlError) -> bool {
    [codes::NO_REFERENCED_ROW_2.0, codes::ROW_IS_REFERENCED_2.0].contains(&error.code)
}
