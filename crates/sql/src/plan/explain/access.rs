//! How one table is read, as EXPLAIN shows it.

use types::TableDef;
use types::json::Json;

use crate::bind::tree::CteId;
use crate::expr::Expr;
use crate::plan::access::{Covered, IndexAccess, Interval, PartRange};
use crate::plan::explain::build::Builder;
use crate::plan::explain::names::{Names, called};
use crate::plan::explain::shown::{Actual, Expected, Shown, text, texts};
use crate::plan::explain::table::{self, is_implied, is_one_point};
use crate::plan::node::{
    AccessMethod, AccessNode, BlockPlan, PlannedSource, PlannedTable, QueryBody, QueryPlan, SlotSource,
};

/// Ranges that a line names, as in MySQL: of more than that, two, and how many more there are.
const RANGES_MAX: usize = 3;

/// Ranges that JSON names.
const JSON_RANGES_MAX: usize = 1000;

impl Builder {
    /// An access with the conditions that it checks.
    pub(super) fn access(&mut self, access: &AccessNode, names: &Names<'_>) -> Shown {
        let read = self.read(access, names);
        let conditions = told(&access.filter, access, names);
        if conditions.is_empty() {
            return read;
        }
        let expected =
            read.expected.map(|expected| Expected { rows: expected.rows * access.estimate.filtered, ..expected });
        self.filter(conditions, read, names).expecting(expected)
    }

    fn read(&mut self, access: &AccessNode, names: &Names<'_>) -> Shown {
        let table = &names.block.tables[access.table];
        let mut rows = access.estimate.rows;
        if access.for_order || rows < 1.0 {
            rows = rows.max(1.0);
        }
        let expected = Some(Expected { rows, cost: access.estimate.cost, first_cost: None });
        let shown = match (&access.method, &table.source) {
            (AccessMethod::Index(index, covered), PlannedSource::Base(base)) => {
                let mut shown = base_table(access, index, covered, &base.def, names).expecting(expected);
                let bounds = index.parts.iter().flat_map(|part| &part.intervals).flat_map(Interval::exprs);
                shown.inputs = self.subqueries_of(&bounds.chain(&access.index_filter).collect::<Vec<_>>(), names);
                return shown;
            }
            (_, PlannedSource::Derived(query, made_once)) => return self.derived(access, query, *made_once, names),
            (_, PlannedSource::Round(..)) => {
                Shown::of("scan_new_records", format!("Scan new records on {}", table.alias))
            }
            (_, PlannedSource::Json(_)) => {
                return Shown::of("materialized_table_function", "Materialize table function").expecting(expected);
            }
            _ => Shown::of("table", format!("Table scan on {}", table.alias)),
        };
        named(shown, access, table, &table.alias).expecting(expected)
    }

    fn derived(
        &mut self,
        access: &AccessNode,
        query: &QueryPlan,
        made_once: Option<CteId>,
        names: &Names<'_>,
    ) -> Shown {
        let table = &names.block.tables[access.table];
        let name = called(table);
        let made = self.made(access, query, made_once, names);
        let rows = access.estimate.rows.max(1.0);
        let expected = made.expected.map(|made| Expected {
            rows,
            cost: made.cost + rows,
            first_cost: made.first_cost.map(|first| first + 1.0),
        });
        let scan = Shown::of("table", format!("Table scan on {name}"));
        named(scan, access, table, &name).over(vec![made]).expecting(expected)
    }

    /// The making of a derived table's rows.
    fn made(&mut self, access: &AccessNode, query: &QueryPlan, made_once: Option<CteId>, names: &Names<'_>) -> Shown {
        let table = &names.block.tables[access.table];
        let cte = table.cte.as_deref().map(|name| format!(" CTE {name}")).unwrap_or_default();
        let streams = matches!(access.method, AccessMethod::All { streams: true }) && made_once.is_none();
        let recursive = matches!(&query.body, QueryBody::Set(set) if set.kind.is_recursive());
        let (kind, mut operation) = match (streams, recursive) {
            (_, true) => ("materialize", format!("Materialize recursive{cte}")),
            (true, false) => ("stream", format!("Stream results{cte}")),
            (false, false) => ("materialize", format!("Materialize{cte}")),
        };
        let made_anew = invalidated_by(query, names);
        if !made_anew.is_empty() {
            operation += &format!(" (invalidate on row from {})", made_anew.join("; "));
        }
        let elsewhere = made_once.is_some_and(|cte| !self.is_to_be_shown(cte, query));
        if made_once.is_some() {
            operation += " if needed";
        }
        if elsewhere {
            operation += " (query plan printed elsewhere)";
        }
        let mut shown = Shown::of(kind, operation);
        if table.cte.is_some() {
            shown = shown.with("cte", Json::Bool(true));
        }
        if recursive {
            shown = shown.with("recursive", Json::Bool(true));
        }
        if !elsewhere {
            shown = match &query.body {
                QueryBody::Set(set) if recursive => shown.over(self.recursion(set, names)),
                _ => shown.over(vec![self.query(query, Some(names))]),
            };
            let input = shown.inputs.first().and_then(|input| input.expected);
            shown.expected = input.map(|input| match streams {
                true => input,
                false => Expected { first_cost: Some(input.cost + input.rows), cost: input.cost + input.rows, ..input },
            });
        }
        if let Some(counters) = &query.counters {
            shown.actual = made_actual(counters.measured(), streams);
        }
        shown
    }
}

/// The conditions that say more than the look-up does.
fn told<'e>(conditions: &'e [Expr], access: &AccessNode, names: &Names<'_>) -> Vec<&'e Expr> {
    conditions.iter().filter(|condition| !is_implied(condition, access, &names.block.slots)).collect()
}

/// Where rows are kept, the first is there when all are.
fn made_actual(measured: Option<crate::exec::measured::Measured>, streams: bool) -> Actual {
    measured.map(|measured| if streams { measured } else { measured.all_at_once() }).into()
}

/// Tables of the block whose rows a derived table is made anew for.
fn invalidated_by(query: &QueryPlan, names: &Names<'_>) -> Vec<String> {
    let mut slots = Vec::new();
    crate::exec::apply::outer_slots(query, &mut slots);
    let mut tables: Vec<usize> = slots
        .into_iter()
        .filter_map(|slot| match names.block.slots[slot] {
            SlotSource::Column { table, .. } => Some(table),
            _ => None,
        })
        .collect();
    tables.sort_unstable();
    tables.dedup();
    tables.into_iter().map(|table| names.block.tables[table].alias.to_string()).collect()
}

/// With the table's names, and the columns that are read.
fn named(shown: Shown, access: &AccessNode, table: &PlannedTable, name: &str) -> Shown {
    let mut shown = match &table.source {
        PlannedSource::Base(base) => {
            let shown = shown.with("table_name", text(&base.def.name));
            if base.def.name == *table.alias { shown } else { shown.with("alias", text(&table.alias)) }
        }
        _ => shown.with("table_name", text(name)),
    };
    if let Some(schema) = &table.schema {
        shown = shown.with("schema_name", text(schema));
    }
    let used: Vec<String> = access.decode.iter().map(|(column, _)| table.columns[*column].to_string()).collect();
    if used.is_empty() { shown } else { shown.with("used_columns", texts(used)) }
}

/// A table of the engine.
fn base_table(access: &AccessNode, index: &IndexAccess, covered: &Covered, def: &TableDef, names: &Names<'_>) -> Shown {
    let table = &names.block.tables[access.table];
    if index.parts.is_empty() && index.index == 0 && !index.descending && !access.for_order {
        let shown = Shown::of("table", format!("Table scan on {}", table.alias));
        return named(shown, access, table, &table.alias);
    }
    let key = &def.indexes[index.index];
    let in_key = |(column, _): &(usize, usize)| key.parts.iter().any(|part| part.column == *column);
    // All columns of a row are in the clustered index; MySQL calls it covering where only the key's are read.
    let covering = match covered {
        Covered::Row => !index.parts.is_empty() && access.row_image.is_none() && access.decode.iter().all(in_key),
        Covered::Covering => true,
        Covered::Fetch => false,
    };
    let is_lookup = !index.parts.is_empty() && index.parts.iter().all(|part| is_one_point(&part.intervals));
    let kind = match (index.parts.is_empty(), is_lookup) {
        (true, _) => "scan",
        (_, true) => "lookup",
        _ => "range scan",
    };
    let single = if is_lookup && index.is_single_row() { "Single-row " } else { "" };
    let index_word = if covering { "covering index" } else { "index" };
    let mut operation = format!("{single}{index_word} {kind} on {} using {}", table.alias, key.name);
    if let (true, Some(first)) = (single.is_empty(), operation.get(..1).map(str::to_uppercase)) {
        operation.replace_range(..1, &first);
    }
    let mut members = vec![
        ("covering", Json::Bool(covering)),
        ("index_name", text(&key.name)),
        ("index_access_type", text(&format!("index_{}", kind.replace(' ', "_")))),
    ];
    if !index.parts.is_empty() {
        members.push(("key_columns", texts(index.parts.iter().map(|part| def.columns[part.column].name.clone()))));
    }
    if is_lookup {
        let condition = lookup_text(index, def, names);
        operation += &format!(" ({condition})");
        members.push(("lookup_condition", text(&condition)));
        let refs = index.parts.iter().map(|part| table::ref_name(&part.intervals, names.block));
        members.push(("lookup_references", texts(refs)));
    } else if !index.parts.is_empty() {
        operation += &format!(" over {}", ranges_text(index, def, names, RANGES_MAX));
        members.push(("ranges", texts([ranges_text(index, def, names, JSON_RANGES_MAX)])));
    }
    if index.descending {
        operation += " (reverse)";
        members.push(("reverse", Json::Bool(true)));
    }
    let conditions = told(&access.index_filter, access, names);
    if !conditions.is_empty() {
        let condition = names.all(conditions);
        operation += &format!(", with index condition: {condition}");
        members.push(("pushed_index_condition", text(&condition)));
    }
    let mut shown = Shown::of("index", operation);
    shown.members.extend(members);
    named(shown, access, table, &table.alias)
}

fn lookup_text(index: &IndexAccess, def: &TableDef, names: &Names<'_>) -> String {
    let part = |part: &PartRange| {
        let value = match &part.intervals[..] {
            [Interval::Point(expr) | Interval::NullSafePoint(expr)] => names.text(expr),
            _ => "NULL".into(),
        };
        format!("{} = {value}", def.columns[part.column].name)
    };
    index.parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// The ranges that are read, each over all parts, joined by OR.
fn ranges_text(index: &IndexAccess, def: &TableDef, names: &Names<'_>, max: usize) -> String {
    let count = index.parts.iter().fold(1usize, |count, part| count.saturating_mul(part.intervals.len()));
    let shown = if count > max { max - 1 } else { count };
    let mut ranges: Vec<String> =
        (0..shown).map(|number| format!("({})", range_text(number, index, def, names))).collect();
    if count > shown {
        ranges.push(format!("({} more)", count - shown));
    }
    ranges.join(" OR ")
}

/// The range with a number: the last part's intervals come one after the other first.
fn range_text(number: usize, index: &IndexAccess, def: &TableDef, names: &Names<'_>) -> String {
    let mut number = number;
    let mut parts: Vec<String> = Vec::with_capacity(index.parts.len());
    for part in index.parts.iter().rev() {
        let interval = &part.intervals[number % part.intervals.len()];
        number /= part.intervals.len();
        let column = &def.columns[part.column];
        parts.push(interval_text(interval, (&column.name, column.nullable), names));
    }
    parts.reverse();
    parts.join(" AND ")
}

fn interval_text(interval: &Interval, (column, nullable): (&str, bool), names: &Names<'_>) -> String {
    let sign = |inclusive: bool| if inclusive { "<=" } else { "<" };
    match interval {
        Interval::Point(expr) | Interval::NullSafePoint(expr) => format!("{column} = {}", names.text(expr)),
        Interval::Null => format!("{column} = NULL"),
        Interval::Like { pattern, .. } => format!("{column} LIKE {}", names.text(pattern)),
        Interval::Span { lower, upper } => {
            let lower = match (lower, upper) {
                (Some((expr, inclusive)), _) => format!("{} {} ", names.text(expr), sign(*inclusive)),
                (None, Some(_)) if !nullable => String::new(),
                (None, _) => "NULL < ".into(),
            };
            let upper = upper.as_ref().map(|(expr, inclusive)| format!(" {} {}", sign(*inclusive), names.text(expr)));
            format!("{lower}{column}{}", upper.unwrap_or_default())
        }
    }
}

/// Whether a block has the slot of a subquery.
pub(super) fn subquery_of(block: &BlockPlan, slot: usize) -> Option<usize> {
    match block.slots[slot] {
        SlotSource::Subquery { index } => Some(index),
        _ => None,
    }
}
