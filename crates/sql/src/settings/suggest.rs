//! The nearest name for one that is unknown.

use super::table;

/// The name in the table that is nearest to `name`, if one is near enough to be what was meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    /// None is meant by what is much longer than the longest, and the search takes a time that grows with it.
    const LONGEST: usize = 80;
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_ascii_lowercase().replace('-', "_");
    let names = table::all().iter().flat_map(|setting| std::iter::once(&setting.name).chain(setting.aliases));
    let (distance, near) = names.map(|known| (distance(&name, known), *known)).min()?;
    (distance <= 1 + name.len() / 5).then_some(near)
}

/// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = above[j] + usize::from(a[i] != b[j]);
            let mut best = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names() {
        assert_eq!(nearest("inodb_buffer_pool_size"), Some("innodb_buffer_pool_size"));
        assert_eq!(nearest("SERVER-IDS"), Some("server_id"));
        assert_eq!(nearest("completely_different_thing"), None);
        assert_eq!(nearest(&"a".repeat(60_000_000)), None);
    }
}
