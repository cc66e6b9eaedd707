//! Holds what a block printed against what its page shows.

/// What a page writes for lines, or parts of a line, that it leaves out.
pub const LEFT_OUT: &str = "...";

/// Compares what a page shows with what was printed: equal but for blanks at the ends of lines, a line `...` stands for
/// any number of lines, and `...` within a line for anything on it.
pub fn compare(shown: &str, printed: &str) -> Result<(), String> {
    let (shown, printed) = (lines(shown), lines(printed));
    if shown.iter().all(|line| line.trim() == LEFT_OUT) {
        return Err("the page shows nothing of it, so that nothing is checked".to_owned());
    }
    match furthest(&shown, &printed) {
        None => Ok(()),
        Some((line, at)) => {
            let wanted = shown.get(line).copied().unwrap_or("nothing more");
            let found = printed.get(at).copied().unwrap_or("nothing more");
            Err(format!("the page shows:  {wanted}\nit prints:       {found}"))
        }
    }
}

/// Lines without blanks at their ends, and without empty ones at both ends of the text.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// Nothing if all fits; else the lines of both sides at which the best attempt failed.
fn furthest(shown: &[&str], printed: &[&str]) -> Option<(usize, usize)> {
    let (mut line, mut at) = (0, 0);
    // Where the last `...` stood, and how many printed lines it has taken.
    let mut open: Option<(usize, usize)> = None;
    let mut best = (0, 0);
    loop {
        if line == shown.len() && at == printed.len() {
            return None;
        }
        best = best.max((line, at));
        if shown.get(line).is_some_and(|text| text.trim() == LEFT_OUT) {
            open = Some((line, at));
            line += 1;
        } else if line < shown.len() && at < printed.len() && is_like(shown[line], printed[at]) {
            (line, at) = (line + 1, at + 1);
        } else if let Some((begin, taken)) = open.filter(|(_, taken)| *taken < printed.len()) {
            open = Some((begin, taken + 1));
            (line, at) = (begin + 1, taken + 1);
        } else {
            return Some(best);
        }
    }
}

/// Is a printed line what a page shows of it?
fn is_like(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split(LEFT_OUT);
    let Some(mut rest) = printed.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
