//! Loops in a paper's files: an item of a list that stands for many.
//!
//! An item with `for` is copied for every combination of its variables, the first of which changes slowest; `{name}`
//! and `{name.field}` in its texts are replaced, and a text that is nothing else becomes the value itself. With `each`
//! the copies are of that, one thing or several, so that lists of names have loops, too. Lists of the top table `loops`
//! can be named by several.

use super::PaperError;
use crate::base::document::File;
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// A value with its place.
type Item<'a> = Spanned<DeValue<'a>>;
/// Variables with their values.
type Scope<'a> = [(String, Item<'a>)];

/// The keys of a loop.
const FOR: &str = "for";
const EACH: &str = "each";
/// The table of named lists.
const LOOPS: &str = "loops";

/// All loops of a file carried out.
pub(super) fn unrolled<'a>(file: &File, mut top: DeTable<'a>) -> Result<DeTable<'a>, PaperError> {
    let named = match top.remove(LOOPS).map(Spanned::into_inner) {
        None => DeTable::new(),
        Some(DeValue::Table(named)) => named,
        Some(_) => return Err(file.wrong(0, LOOPS, "no table", "a table of lists")),
    };
    Unroller { file, named }.table(&top, &[])
}

struct Unroller<'f, 'a> {
    file: &'f File,
    named: DeTable<'a>,
}

impl<'a> Unroller<'_, 'a> {
    fn table(&self, table: &DeTable<'a>, scope: &Scope<'a>) -> Result<DeTable<'a>, PaperError> {
        table.iter().map(|(key, item)| Ok((key.clone(), self.item(item, scope)?))).collect()
    }

    fn item(&self, item: &Item<'a>, scope: &Scope<'a>) -> Result<Item<'a>, PaperError> {
        let value = match item.get_ref() {
            DeValue::Table(table) => DeValue::Table(self.table(table, scope)?),
            DeValue::Array(items) => {
                let mut list = DeArray::new();
                for item in items.iter() {
                    self.add_item(item, scope, &mut list)?;
                }
                DeValue::Array(list)
            }
            DeValue::String(text) if !scope.is_empty() => self.replaced(text, item.span().start, scope)?,
            other => other.clone(),
        };
        Ok(Spanned::new(item.span(), value))
    }

    /// An item of a list, or all that it stands for.
    fn add_item(&self, item: &Item<'a>, scope: &Scope<'a>, list: &mut DeArray<'a>) -> Result<(), PaperError> {
        let looped = item.get_ref().as_table().and_then(|table| Some((table, table.get(FOR)?)));
        let Some((table, variables)) = looped else {
            list.push(self.item(item, scope)?);
            return Ok(());
        };
        let mut body = table.clone();
        body.remove(FOR);
        let bodies = match body.remove(EACH) {
            None => vec![Spanned::new(item.span(), DeValue::Table(body))],
            Some(each) if body.is_empty() => match each.get_ref() {
                DeValue::Array(several) => several.iter().cloned().collect(),
                _ => vec![each],
            },
            Some(_) => {
                return Err(self.file.wrong(
                    item.span().start,
                    EACH,
                    "other keys beside it",
                    "each and for alone",
                ));
            }
        };
        for bound in self.combinations(variables)? {
            let scope: Vec<_> = scope.iter().cloned().chain(bound).collect();
            for body in &bodies {
                // A loop in a loop sees the variables of both.
                self.add_item(body, &scope, list)?;
            }
        }
        Ok(())
    }

    /// Every combination of a loop's variables, the first of which changes slowest.
    fn combinations(&self, variables: &Item<'a>) -> Result<Vec<Vec<(String, Item<'a>)>>, PaperError> {
        let at = variables.span().start;
        let Some(table) = variables.get_ref().as_table().filter(|table| !table.is_empty()) else {
            return Err(self.file.wrong(
                at,
                FOR,
                "no table",
                "variables, each with a list or the name of one",
            ));
        };
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        let mut all = vec![Vec::new()];
        for (name, values) in keys {
            let values = self.list(values)?;
            let with = |bound: &Vec<(String, Item<'a>)>| {
                let bound = bound.clone();
                let one = move |value: &Item<'a>| {
                    bound.iter().cloned().chain([(name.get_ref().to_string(), value.clone())]).collect()
                };
                values.iter().map(one).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
        }
        Ok(all)
    }

    /// The values of a variable.
    fn list<'s>(&'s self, values: &'s Item<'a>) -> Result<&'s DeArray<'a>, PaperError> {
        let named = values.get_ref().as_str().map(|name| (name, self.named.get(name)));
        let list = match named {
            None => values.get_ref().as_array(),
            Some((_, found)) => found.and_then(|found| found.get_ref().as_array()),
        };
        list.filter(|list| !list.is_empty()).ok_or_else(|| {
            let names: Vec<&str> = self.named.keys().map(|key| key.get_ref().as_ref()).collect();
            let found = named.map_or("no list".to_owned(), |(name, _)| format!("no list is called {name:?}"));
            let allowed = format!("a list, or the name of one of [{LOOPS}]: {}", names.join(", "));
            self.file.wrong(values.span().start, FOR, found, allowed)
        })
    }

    /// A text with the values of its variables.
    fn replaced(&self, text: &str, at: usize, scope: &Scope<'a>) -> Result<DeValue<'a>, PaperError> {
        if let Some(name) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'))
            && !name.contains('{')
        {
            return Ok(self.found(name, at, scope)?.get_ref().clone());
        }
        let (mut whole, mut rest) = (String::new(), text);
        while let Some((before, behind)) = rest.split_once('{') {
            let Some((name, after)) = behind.split_once('}') else { break };
            whole.push_str(before);
            whole.push_str(&shown(self.found(name, at, scope)?.get_ref()));
            rest = after;
        }
        Ok(DeValue::String(Cow::Owned(whole + rest)))
    }

    /// What `name` or `name.field` stands for.
    fn found<'s>(&self, name: &str, at: usize, scope: &'s Scope<'a>) -> Result<&'s Item<'a>, PaperError> {
        let (variable, field) =
            name.split_once('.').map_or((name, None), |(name, field)| (name, Some(field)));
        let value = scope.iter().rev().find(|(known, _)| known == variable).map(|(_, value)| value);
        let value = match field {
            None => value,
            Some(field) => value.and_then(|value| value.get_ref().as_table()?.get(field)),
        };
        value.ok_or_else(|| {
            let names: Vec<&str> = scope.iter().map(|(known, _)| known.as_str()).collect();
            self.file.wrong(
                at,
                FOR,
                format!("{{{name}}}"),
                format!("variables of the loop: {}", names.join(", ")),
            )
        })
    }
}

/// A value in a text.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| number.as_str().to_owned(), |whole| whole.to_string()),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(is_so) => is_so.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Table(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn unroll(text: &str) -> Result<String, PaperError> {
        let file = File { path: PathBuf::from("experiment.toml"), text: text.to_owned() };
        let table = unrolled(&file, DeTable::parse(text).unwrap().into_inner())?;
        Ok(format!("{:?}", crate::plan::settings::of_table(&table)))
    }

    #[test]
    fn an_item_stands_for_every_combination() {
        let looped = "[loops]\nschemes = [{ name = \"a\", up = \"A\" }, { name = \"b\", up = \"B\" }]\n\
                      [[technique]]\nfor = { p = [[1.0, 0.1], [0.5]], scheme = \"schemes\" }\nname = \"{scheme.name}_{p}\"\n\
                      label = \"{scheme.up} {p}\"\nset = [\"p={p}\"]\nnumber = \"{p}\"\n";
        let one = |name: &str, up: &str, p: &str| {
            format!(
                "[[technique]]\nname = \"{name}_{p}\"\nlabel = \"{up} {p}\"\nset = [\"p={p}\"]\nnumber = {p}\n"
            )
        };
        let by_hand =
            [("a", "A", "[1.0, 0.1]"), ("b", "B", "[1.0, 0.1]"), ("a", "A", "[0.5]"), ("b", "B", "[0.5]")];
        let by_hand: String = by_hand.map(|(name, up, p)| one(name, up, p)).concat();
        assert_eq!(unroll(looped).unwrap(), unroll(&by_hand).unwrap());
    }

    #[test]
    fn lists_of_names_and_loops_in_loops() {
        let looped = "names = [\"first\", { for = { x = [1, 2] }, each = [\"w{x}\", \"r{x}\"] }]\n\
                      [[workload]]\nfor.x = [1, 2]\nname = \"{x}\"\n[[workload.phases]]\nfor.y = [3, 4]\nat = \"{y}\"\n\
                      name = \"{x} {y}\"\n";
        let by_hand = "names = [\"first\", \"w1\", \"r1\", \"w2\", \"r2\"]\n\
                       [[workload]]\nname = 1\n[[workload.phases]]\nat = 3\nname = \"1 3\"\n[[workload.phases]]\nat = 4\n\
                       name = \"1 4\"\n[[workload]]\nname = 2\n[[workload.phases]]\nat = 3\nname = \"2 3\"\n\
                       [[workload.phases]]\nat = 4\nname = \"2 4\"\n";
        assert_eq!(unroll(looped).unwrap(), unroll(by_hand).unwrap());
    }

    #[test]
    fn what_a_loop_lacks_is_told_with_its_line() {
        for (text, says) in [
            (
                "[[technique]]\nfor.x = [1]\nname = \"{y}\"",
                ["experiment.toml:3", "{y}", "variables of the loop: x"],
            ),
            (
                "[[technique]]\nfor.x = \"xs\"\nname = \"{x}\"",
                ["experiment.toml:2", "\"xs\"", "a list, or the name"],
            ),
            ("[[technique]]\nfor.x = []\nname = \"{x}\"", ["experiment.toml:2", "no list", "a list"]),
            ("[[technique]]\nfor = 3\nname = \"{x}\"", ["experiment.toml:2", "no table", "variables"]),
            (
                "names = [{ for.x = [1], each = \"{x}\", z = 1 }]",
                ["experiment.toml:1", "other keys", "alone"],
            ),
        ] {
            let error = unroll(text).unwrap_err().to_string();
            assert!(says.iter().all(|part| error.contains(part)), "{error}");
        }
    }
}
