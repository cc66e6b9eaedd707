//! The answer as lines for a person.

use super::amounts::shown;
use super::answer::Answer;
use super::budget::{hundredths, rating_counts};

/// A number with as many digits as its size asks for: `.86`, `5.4`, `12`.
fn number(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        _ if size >= 9.95 => format!("{value:.0}"),
        _ if size >= 0.995 => format!("{value:.1}"),
        _ if size >= 0.0995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    text.strip_prefix("0.").map_or(text.clone(), |rest| format!(".{rest}"))
}

/// The same with a digit more, for what is nearly alike.
fn finer(value: f64) -> String {
    let decimals = if value >= 99.5 {
        0
    } else if value >= 9.95 {
        1
    } else {
        2
    };
    let text = format!("{value:.decimals$}");
    text.strip_prefix("0.").map_or(text.clone(), |rest| format!(".{rest}"))
}

/// A share in whole percent.
fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Lines of what is told.
struct Lines(String);

impl Lines {
    fn row(&mut self, name: &str, text: &str) {
        self.0.push_str(&format!("{name:<20} {text}\n"));
    }
}

/// The answer as lines.
pub fn table(answer: &Answer) -> String {
    let mut lines = Lines(String::new());
    if let (true, Some([low, high])) = (answer.is_range, answer.years_range) {
        let text = format!(
            "nobody says where is written: {} years if all is random, {} if it is a log (--pattern, or a trace)",
            number(low),
            number(high)
        );
        lines.row("unknown workload", &text);
    }
    drive(answer, &mut lines);
    writes(answer, &mut lines);
    years(answer, &mut lines);
    if !answer.what_if.is_empty() {
        let what_if: Vec<String> =
            answer.what_if.iter().map(|other| format!("{}: {}", other.name, number(other.years))).collect();
        lines.row("what if (years)", &what_if.join("   "));
    }
    lines.row("flush and FUA", &answer.flush);
    lines.row("end of life", &answer.retention);
    for remark in &answer.remarks {
        lines.0.push_str(&format!("- {remark}\n"));
    }
    lines.0
}

fn drive(answer: &Answer, lines: &mut Lines) {
    let measured = if answer.scale > 1.005 {
        format!("; measured on one 1/{:.0} as large", answer.scale)
    } else {
        String::new()
    };
    let text = format!(
        "{}, {}: {:.1} % over-provisioning, units of {} KiB{measured}",
        answer.drive,
        shown(answer.capacity_bytes),
        100.0 * answer.spare,
        answer.unit_bytes / 1_024
    );
    lines.row("drive", &text);
}

fn writes(answer: &Answer, lines: &mut Lines) {
    let text = match answer.host_bytes_a_day > 0.0 {
        true => format!(
            "{}/day   {} of the drive a day   {}",
            shown(answer.host_bytes_a_day),
            number(answer.drive_writes_a_day),
            answer.workload
        ),
        false => "none".to_owned(),
    };
    lines.row("host writes", text.trim_end());
    if answer.host_bytes_a_day > 0.0 {
        let [least, most] = answer.write_amplification;
        let own = match answer.is_range {
            true => format!("{} to {}", hundredths(least), hundredths(most)),
            false => hundredths(least),
        };
        let rated = answer.rated_workload.as_ref().zip(answer.rated_write_amplification);
        let rated = rated.map_or(String::new(), |(workload, amplification)| {
            format!("   the rating's workload: {} ({workload}, this drive)", hundredths(amplification))
        });
        lines.row("write amplification", &format!("{own}{rated}"));
    }
    if let Some(reads) = &answer.reads {
        let text = format!(
            "{}/day   read reclaim programs {}/day: a block is moved after {:.0} reads",
            shown(reads.bytes_a_day),
            shown(reads.programmed_a_day),
            reads.reads_a_block
        );
        lines.row("host reads", &text);
    }
    for budget in &answer.budgets {
        let counts =
            if budget.bytes > answer.budget_bytes { "   (more than the one that counts)" } else { "" };
        lines.row("budget", &format!("{} of flash: {}{counts}", shown(budget.bytes), budget.basis));
    }
}

fn years(answer: &Answer, lines: &mut Lines) {
    let by_rating = rating_counts(&answer.budgets, answer.rated_write_amplification.is_some());
    let to = match (by_rating, answer.tbw_bytes) {
        (true, _) => "years to the rating",
        (false, Some(_)) => "years to the cycles",
        (false, None) => "years",
    };
    match (answer.years, answer.years_range) {
        (None, _) => lines.row(to, "for ever: nothing is programmed"),
        (Some(years), range) => {
            let mut text = if answer.is_range { String::new() } else { finer(years) };
            if let Some([low, high]) = range {
                text = match answer.is_range {
                    true => format!("{} to {}", number(low), number(high)),
                    false if finer(low) == finer(high) => text,
                    false => format!("{text} ({} to {})", finer(low), finer(high)),
                };
            }
            if let Some(by_host) = answer.years_by_host_bytes {
                text.push_str(&format!("   by host bytes alone {}", number(by_host)));
            }
            if let Some(other) = answer.years_if_rated_sequential {
                text.push_str(&format!("   if the rating is for sequential writes {}", number(other)));
            }
            lines.row(to, &text);
        }
    }
    if let (Some(share), Some(headroom)) = (answer.share_used, answer.headroom) {
        let room = if headroom >= 0.0 {
            format!("headroom {}", percent(headroom))
        } else {
            format!("too much: {} less would do", percent(1.0 - 1.0 / share))
        };
        let name = if by_rating && answer.dwpd.is_some() { "share of DWPD used" } else { "share used" };
        let at_worst = if answer.is_range { "at worst " } else { "" };
        let text = format!("{at_worst}{}   {room}   over {} years", number(share), answer.wanted_years);
        lines.row(name, &text);
    }
    if let Some([three, five]) = answer.dwpd {
        lines.row("DWPD", &format!("{} over 3 years, {} over 5", number(three), number(five)));
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_two_digits() {
        for (value, text) in
            [(0.864, ".86"), (5.43, "5.4"), (12.4, "12"), (0.0512, ".051"), (0.999, "1.0"), (9.96, "10")]
        {
            assert_eq!(number(value), text);
        }
    }
}
