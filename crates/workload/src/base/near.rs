//! "Did you mean …?": the known name closest to a mistyped one, by the same measure as in a drive's configuration.

use ssd::config::Problem;

/// The closest of `known` to `given`, if it is close enough to be worth suggesting.
pub(crate) fn near<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    match Problem::no_such_name("value", given, known) {
        Problem::NoSuchName { near, .. } => near,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn suggests_what_is_near_and_nothing_else() {
        let known = ["path", "address", "repeat", "speed_up"];
        assert_eq!(near("adress", known).as_deref(), Some("address"));
        assert_eq!(near("Repaet", known).as_deref(), Some("repeat"));
        assert_eq!(near("banana", known), None);
        assert_eq!(near("", []), None);
    }
}
