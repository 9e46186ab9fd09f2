//! What servers said to a file's statements, and whether it is the same.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use interop::Answer;
use serde_json::{Value, json};

/// Longer rows are kept by their beginning and a hash.
const KEPT: usize = 6000;

/// One statement of a file and what one server said.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    /// Where it stands: the file's or an included file's line, and how many times it was executed before.
    pub(crate) key: String,
    /// Its text.
    pub(crate) sql: String,
    /// The answer.
    pub(crate) outcome: Outcome,
}

/// An answer, as it is compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The rows of all results, sorted where the statement orders none.
    Rows(String),
    /// Success; of a change, the number of rows.
    Done(Option<u64>),
    /// An error's number and text.
    Failed(u16, String),
    /// No answer: the connection or the server went, or the time was over.
    Lost(String),
}

impl Outcome {
    /// Makes one of a statement's answers; the last one decides where one of several has failed.
    pub(crate) fn of(sql: &str, answers: &[Answer]) -> Outcome {
        if let Some(Answer::Failed(code, message)) = answers.last() {
            return Outcome::Failed(*code, message.clone());
        }
        let lower = sql.to_ascii_lowercase();
        let is_ordered = lower.contains("order by") || lower.contains("group_concat");
        let mut results = Vec::new();
        for answer in answers {
            let Answer::Rows { rows, .. } = answer else { continue };
            let mut lines: Vec<String> = rows.iter().map(|row| shown(row)).collect();
            if !is_ordered {
                lines.sort();
            }
            results.push(lines.join("\n"));
        }
        if !results.is_empty() {
            return Outcome::Rows(if varies(&lower) { "(varies)".into() } else { shortened(&results.join("\n--\n")) });
        }
        let changes = ["insert", "update", "delete", "replace"].iter().any(|word| lower.starts_with(word));
        match answers.last() {
            Some(Answer::Done(done)) if changes => Outcome::Done(Some(done.affected_rows)),
            _ => Outcome::Done(None),
        }
    }

    /// Whether two servers mean the same; the texts of errors are each server's own.
    pub(crate) fn equals(&self, other: &Outcome) -> bool {
        match (self, other) {
            (Outcome::Failed(ours, _), Outcome::Failed(theirs, _)) => ours == theirs,
            (Outcome::Lost(_), _) | (_, Outcome::Lost(_)) => false,
            _ => self == other,
        }
    }

    /// Whether the statement was done.
    pub(crate) fn is_success(&self) -> bool {
        matches!(self, Outcome::Rows(_) | Outcome::Done(_))
    }

    /// For people.
    pub(crate) fn shown(&self) -> String {
        match self {
            Outcome::Rows(rows) => format!("rows\n      {}", rows.replace('\n', "\n      ")),
            Outcome::Done(None) => "done".into(),
            Outcome::Done(Some(rows)) => format!("done, {rows} rows"),
            Outcome::Failed(code, message) => format!("error {code}: {message}"),
            Outcome::Lost(why) => format!("no answer: {why}"),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Outcome::Rows(rows) => json!({ "rows": rows }),
            Outcome::Done(count) => json!({ "done": count }),
            Outcome::Failed(code, message) => json!({ "error": code, "message": message }),
            Outcome::Lost(why) => json!({ "lost": why }),
        }
    }

    fn from_json(value: &Value) -> Option<Outcome> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Some(rows) = text("rows") {
            return Some(Outcome::Rows(rows));
        }
        if let Some(count) = value.get("done") {
            return Some(Outcome::Done(count.as_u64()));
        }
        if let Some(why) = text("lost") {
            return Some(Outcome::Lost(why));
        }
        let code = u16::try_from(value.get("error")?.as_u64()?).ok()?;
        Some(Outcome::Failed(code, text("message")?))
    }
}

/// A file's answers as text, to be read again by [`read`].
pub(crate) fn write(said: &[Said]) -> String {
    let line = |said: &Said| json!([said.key, said.sql, said.outcome.to_json()]).to_string() + "\n";
    said.iter().map(line).collect()
}

/// What [`write`] wrote; nothing if it was something else.
pub(crate) fn read(text: &str) -> Option<Vec<Said>> {
    let line = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |at: usize| value.get(at).and_then(Value::as_str).map(str::to_owned);
        Some(Said { key: text(0)?, sql: text(1)?, outcome: Outcome::from_json(value.get(2)?)? })
    };
    text.lines().map(line).collect()
}

/// Both peers' answers by place.
pub(crate) struct Expected(BTreeMap<String, Vec<Said>>);

impl Expected {
    /// Of all peers that executed the file.
    pub(crate) fn new(peers: Vec<Vec<Said>>) -> Expected {
        let mut by_key: BTreeMap<String, Vec<Said>> = BTreeMap::new();
        for said in peers.into_iter().flatten() {
            by_key.entry(said.key.clone()).or_default().push(said);
        }
        Expected(by_key)
    }

    /// What the peers said there.
    pub(crate) fn at(&self, key: &str) -> &[Said] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether a peer at least has answered there.
    pub(crate) fn is_known(&self, key: &str) -> bool {
        self.at(key).iter().any(|said| !matches!(said.outcome, Outcome::Lost(_)))
    }

    /// Whether one peer at least says what we say.
    pub(crate) fn allows(&self, said: &Said) -> bool {
        self.at(&said.key).iter().any(|theirs| said.outcome.equals(&theirs.outcome))
    }
}

/// How an answer of ours differs from all peers' answers, by how bad it is.
pub(crate) fn kind_of_difference(ours: &Outcome, theirs: &[Said]) -> &'static str {
    let succeeded = theirs.iter().any(|said| said.outcome.is_success());
    match ours {
        Outcome::Lost(_) => "lost",
        Outcome::Rows(_) | Outcome::Done(_) if succeeded => "values",
        Outcome::Rows(_) | Outcome::Done(_) => "accepted",
        Outcome::Failed(..) if succeeded => "refused",
        Outcome::Failed(..) => "other error",
    }
}

/// Whether a statement gives something else each time.
fn varies(lower: &str) -> bool {
    const WORDS: [&str; 22] = [
        "now(",
        "sysdate",
        "current_timestamp",
        "current_time",
        "current_date",
        "curdate",
        "curtime",
        "localtime",
        "uuid",
        "rand(",
        "connection_id",
        "unix_timestamp()",
        "utc_",
        "processlist",
        "version()",
        "@@port",
        "last_seen",
        "datadir",
        "show warnings",
        "thread_id",
        "create_time",
        "rowid",
    ];
    WORDS.iter().any(|word| lower.contains(word))
}

fn shown(row: &[Option<Vec<u8>>]) -> String {
    let value = |value: &Option<Vec<u8>>| match value {
        None => "NULL".to_owned(),
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\0', "\\0"),
            Err(_) => bytes.escape_ascii().to_string(),
        },
    };
    row.iter().map(value).collect::<Vec<_>>().join("\t")
}

fn shortened(text: &str) -> String {
    if text.len() <= KEPT {
        return text.to_owned();
    }
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let end = (0..=KEPT).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    format!("{}… ({} bytes, {:016x})", &text[..end], text.len(), hasher.finish())
}
