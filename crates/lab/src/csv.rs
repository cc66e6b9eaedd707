//! Tables as CSV (RFC 4180).

/// Rows of values with commas between them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Csv {
    text: String,
}

impl Csv {
    /// No rows yet; the names of the columns.
    pub fn new(columns: &[&str]) -> Self {
        let mut csv = Csv { text: String::new() };
        csv.row(columns);
        csv
    }

    /// The rows so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole table.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Adds a row; values with commas, quotes or line breaks stand in quotes (RFC 4180, section 2).
    pub fn row<S: AsRef<str>>(&mut self, values: &[S]) {
        for (place, value) in values.iter().enumerate() {
            let value = value.as_ref();
            let comma = if place == 0 { "" } else { "," };
            self.text.push_str(comma);
            if value.contains([',', '"', '\n', '\r']) {
                self.text.push_str(&format!("\"{}\"", value.replace('"', "\"\"")));
            } else {
                self.text.push_str(value);
            }
        }
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_commas_and_quotes_stand_in_quotes() {
        let mut csv = Csv::new(&["run", "value"]);
        csv.row(&["first in, first out", "1"]);
        csv.row(&["a \"b\"", "2"]);
        assert_eq!(csv.text, "run,value\n\"first in, first out\",1\n\"a \"\"b\"\"\",2\n");
    }
}
