//! What people read for names of results: causes of flash operations.

/// The cause of that name (`CAUSE` of docs/results.md) in tables, pictures and on pages.
pub(crate) fn cause(name: &str) -> String {
    match name {
        "merge" => "read-modify-write".to_owned(),
        "cleaning" => "GC".to_owned(),
        "wear_leveling" => "wear levelling".to_owned(),
        "promote" => "promotion".to_owned(),
        "destage" => "SLC destage".to_owned(),
        "read_ahead" => "read-ahead".to_owned(),
        other => other.replace('_', " "),
    }
}
