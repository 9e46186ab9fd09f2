//! What EXPLAIN shows of a plan, before it is printed: FORMAT=TREE and FORMAT=JSON are two texts of the same.
//!
//! # Invariants
//! - A text is bounded: there are at most [`NODES_MAX`] operators in it, none deeper than [`DEPTH_MAX`].

use types::json::{Json, Object};

use crate::exec::measured::Measured;

/// Operators of one plan that are shown.
pub(super) const NODES_MAX: usize = 10_000;

/// How deep an operator may be.
pub(super) const DEPTH_MAX: usize = 200;

/// One operator with its inputs.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Lines above it: what it is to the operator that reads it.
    pub(super) headings: Vec<String>,
    pub(super) operation: String,
    /// What JSON says beside.
    pub(super) members: Vec<(&'static str, Json)>,
    pub(super) expected: Option<Expected>,
    pub(super) actual: Actual,
    pub(super) inputs: Vec<Shown>,
    /// Subqueries of the select list.
    pub(super) of_select_list: Vec<Shown>,
}

/// What the planner expects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Expected {
    pub(super) rows: f64,
    /// Of all of them.
    pub(super) cost: f64,
    /// Of the first one, where all have to be made before it.
    pub(super) first_cost: Option<f64>,
}

/// What it has done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Actual {
    #[default]
    NotMeasured,
    NeverExecuted,
    Measured(Measured),
}

impl From<Option<Measured>> for Actual {
    fn from(measured: Option<Measured>) -> Actual {
        measured.map_or(Actual::NeverExecuted, Actual::Measured)
    }
}

impl Shown {
    pub(super) fn new(operation: impl Into<String>) -> Shown {
        Shown { operation: operation.into(), ..Shown::default() }
    }

    /// With a kind, as JSON says it.
    pub(super) fn of(access_type: &str, operation: impl Into<String>) -> Shown {
        Shown::new(operation).with("access_type", text(access_type))
    }

    pub(super) fn with(mut self, name: &'static str, value: Json) -> Shown {
        self.members.push((name, value));
        self
    }

    pub(super) fn over(mut self, inputs: Vec<Shown>) -> Shown {
        self.inputs = inputs;
        self
    }

    pub(super) fn expecting(mut self, expected: Option<Expected>) -> Shown {
        self.expected = expected;
        self
    }

    pub(super) fn headed(mut self, heading: impl Into<String>) -> Shown {
        self.headings.insert(0, heading.into());
        self
    }

    /// As a tree: one operator to a line, inputs below it and further in.
    pub(super) fn tree(&self) -> String {
        let mut out = String::new();
        self.add_lines(0, &mut out);
        out
    }

    fn add_lines(&self, depth: usize, out: &mut String) {
        let mut depth = depth;
        for heading in &self.headings {
            add_line(depth, heading, out);
            depth += 1;
        }
        add_line(depth, &(self.operation.clone() + &self.numbers()), out);
        self.inputs.iter().for_each(|input| input.add_lines(depth + 1, out));
        self.of_select_list.iter().for_each(|subquery| subquery.add_lines(depth, out));
    }

    fn numbers(&self) -> String {
        let mut parts = Vec::new();
        if let Some(Expected { rows, cost, first_cost }) = self.expected {
            let first = first_cost.map_or(String::new(), |first| number(first) + "..");
            parts.push(format!("(cost={first}{} rows={})", number(cost), number(rows)));
        }
        match self.actual {
            Actual::NotMeasured => {}
            Actual::NeverExecuted => parts.push("(never executed)".into()),
            Actual::Measured(Measured { loops, rows, first_ms, last_ms }) => parts.push(format!(
                "(actual time={}..{} rows={} loops={loops})",
                number(first_ms),
                number(last_ms),
                number(rows)
            )),
        }
        if parts.is_empty() { String::new() } else { format!("  {}", parts.join(" ")) }
    }

    /// As a document.
    pub(super) fn json(&self) -> Json {
        let mut members: Vec<(String, Json)> = vec![("operation".into(), text(&self.operation))];
        let mut put = |name: &str, value: Json| members.push((name.into(), value));
        self.members.iter().for_each(|(name, value)| put(name, value.clone()));
        if !self.headings.is_empty() {
            put("heading", text(&self.headings.join("; ")));
        }
        if let Some(Expected { rows, cost, first_cost }) = self.expected {
            put("estimated_rows", Json::Double(rows));
            put("estimated_total_cost", Json::Double(cost));
            if let Some(first) = first_cost {
                put("estimated_first_row_cost", Json::Double(first));
            }
        }
        for (name, value) in self.actual.members() {
            put(name, value);
        }
        let all = |shown: &[Shown]| Json::Array(shown.iter().map(Shown::json).collect());
        if !self.inputs.is_empty() {
            put("inputs", all(&self.inputs));
        }
        if !self.of_select_list.is_empty() {
            put("inputs_from_select_list", all(&self.of_select_list));
        }
        Json::Object(Object::from_members(members))
    }
}

impl Actual {
    fn members(self) -> Vec<(&'static str, Json)> {
        let members = ["actual_rows", "actual_loops", "actual_first_row_ms", "actual_last_row_ms"];
        let values = match self {
            Actual::NotMeasured => return Vec::new(),
            Actual::NeverExecuted => [Json::Null, Json::Null, Json::Null, Json::Null],
            Actual::Measured(Measured { loops, rows, first_ms, last_ms }) => {
                [Json::Double(rows), Json::UInt(loops), Json::Double(first_ms), Json::Double(last_ms)]
            }
        };
        members.into_iter().zip(values).collect()
    }
}

fn add_line(depth: usize, line: &str, out: &mut String) {
    for _ in 0..depth {
        out.push_str("    ");
    }
    out.push_str("-> ");
    out.push_str(line);
    out.push('\n');
}

/// A text of a document.
pub(super) fn text(text: &str) -> Json {
    Json::String(text.to_owned())
}

/// Texts of a document.
pub(super) fn texts(texts: impl IntoIterator<Item = impl Into<String>>) -> Json {
    Json::Array(texts.into_iter().map(|text| Json::String(text.into())).collect())
}

/// A number as MySQL prints it here: three digits, all digits of what is before the point, and powers of a thousand for what is large or
/// small.
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() || value == 0.0 {
        return if value == 0.0 { "0".into() } else { value.to_string() };
    }
    let size = value.abs();
    if (1e-3..1e6).contains(&size) {
        return plain(value);
    }
    let mut power = (size.log10() / 3.0).floor() as i32 * 3;
    let mut scaled = plain(value / 10f64.powi(power));
    if scaled.trim_start_matches('-') == "1000" {
        power += 3;
        scaled = plain(value / 10f64.powi(power));
    }
    format!("{scaled}e{power:+}")
}

/// Three digits, or all that are before the point.
fn plain(value: f64) -> String {
    if value.abs() >= 999.5 {
        return format!("{value:.0}");
    }
    let digits = 2 - value.abs().log10().floor() as i32;
    let text = format!("{value:.*}", digits.max(0) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_as_mysql_prints_them() {
        for (value, wanted) in [
            (0.0, "0"),
            (10.25, "10.2"),
            (0.0188, "0.0188"),
            (0.00004, "40e-6"),
            (0.0009219, "922e-6"),
            (1.1111, "1.11"),
            (20000.0, "20000"),
            (101_010.8, "101011"),
            (1e6, "1e+6"),
            (33_142_497.1, "33.1e+6"),
            (100e6, "100e+6"),
            (0.000021694, "21.7e-6"),
            (0.33333, "0.333"),
            (999.96, "1000"),
            (0.5e-6, "500e-9"),
            (999_999_999.0, "1e+9"),
        ] {
            assert_eq!(number(value), wanted);
        }
    }
}
