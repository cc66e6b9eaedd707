//! Differences to one of a sweep's points, seed by seed: what chance does to both alike is not in them.

use super::error::SweepError;
use super::labels::Labels;
use super::pivot::Row;
use super::tables::{Table, bare};
use std::collections::BTreeMap;

/// What all else is compared with: values of some varied keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline(BTreeMap<String, String>);

impl Baseline {
    /// Reads them; each is a value that the key has in this sweep.
    pub(super) fn read(table: &Table<'_>, varied: &[(String, Vec<String>)]) -> Result<Self, SweepError> {
        let mut values = BTreeMap::new();
        for leaf in table.leaves(|_| false)? {
            let names = || varied.iter().map(|(key, _)| key.as_str());
            let Some((key, allowed)) = varied.iter().find(|(key, _)| *key == leaf.key) else {
                let allowed = names().collect::<Vec<_>>().join(", ");
                return Err(table.wrong_at(&leaf, "which does not vary", &allowed).near(&leaf.key, names()));
            };
            let found = table.spelled(&leaf);
            let Some(value) = allowed.iter().find(|value| bare(value) == bare(&found)) else {
                let near = bare(&found);
                let values: Vec<String> = allowed.iter().map(|value| bare(value)).collect();
                let error = table.wrong_at(&leaf, found, &allowed.join(", "));
                return Err(error.near(&near, values.iter().map(String::as_str)));
            };
            values.insert(key.clone(), value.clone());
        }
        Ok(Baseline(values))
    }

    /// Whether nothing is to be compared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In words: `ftl.gc_victim.policy = greedy`.
    pub fn text(&self, labels: &Labels) -> String {
        let told =
            self.0.iter().map(|(key, value)| format!("{} = {}", labels.of(key), labels.of(&bare(value))));
        told.collect::<Vec<_>>().join(", ")
    }

    /// How far each point's numbers lie from those of the baseline that is otherwise set alike, in % of these, for
    /// every repeat that both have. The baseline's own points are left out.
    pub fn differences(&self, rows: &[Row]) -> Vec<Row> {
        let as_baseline = |row: &Row| -> Vec<(String, String)> {
            let of =
                |(key, value): &(String, String)| (key.clone(), self.0.get(key).unwrap_or(value).clone());
            row.varied.iter().map(of).collect()
        };
        let places: BTreeMap<&[(String, String)], &Row> =
            rows.iter().map(|row| (row.varied.as_slice(), row)).collect();
        let of = |row: &Row| {
            let others = as_baseline(row);
            let base = places.get(others.as_slice()).filter(|_| others != row.varied)?;
            let paired = |(name, values): (&String, &Vec<(u32, f64)>)| {
                let base: BTreeMap<u32, f64> = base.values.get(name)?.iter().copied().collect();
                let pair = |(repeat, value): &(u32, f64)| {
                    let base = *base.get(repeat)?;
                    (base != 0.0).then(|| (*repeat, 100.0 * (value - base) / base.abs()))
                };
                Some((name.clone(), values.iter().filter_map(pair).collect()))
            };
            let problems = row.problems.union(&base.problems).cloned().collect();
            let values = row.values.iter().filter_map(paired).collect();
            Some(Row { varied: row.varied.clone(), values, problems })
        };
        rows.iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two seeds that differ by far more than two policies do.
    #[test]
    fn differences_are_those_of_the_same_seed() {
        let row = |policy: &str, spare: &str, values: &[(u32, f64)]| Row {
            varied: vec![
                ("policy".to_owned(), format!("\"{policy}\"")),
                ("spare".to_owned(), spare.to_owned()),
            ],
            values: [("wa".to_owned(), values.to_vec())].into(),
            ..Row::default()
        };
        let rows = [
            row("greedy", "7", &[(0, 2.0), (1, 10.0)]),
            row("fifo", "7", &[(0, 2.2), (1, 11.0), (2, 5.0)]),
            row("greedy", "28", &[(0, 1.0)]),
            row("fifo", "28", &[(0, 0.5)]),
            row("random", "15", &[(0, 3.0)]),
        ];
        let baseline = Baseline([("policy".to_owned(), "\"greedy\"".to_owned())].into());
        let found = baseline.differences(&rows);
        let values =
            |row: &Row| row.values["wa"].iter().map(|(repeat, by)| (*repeat, by.round())).collect::<Vec<_>>();
        assert_eq!(found.len(), 2, "that at 15 has nothing to be compared with");
        assert_eq!((values(&found[0]), values(&found[1])), (vec![(0, 10.0), (1, 10.0)], vec![(0, -50.0)]));
        assert_eq!(baseline.text(&Labels::default()), "policy = greedy");
    }
}
