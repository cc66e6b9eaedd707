//! How a process died that was to carry out a run, and whose doing that may have been.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use toml::de::{DeTable, DeValue};

/// Signals by which programs die of their own doing; their numbers are the same on all systems that this is built for.
const SIGNALS: [(i32, &str); 7] = [
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (15, "SIGTERM"),
];

/// How it died: by a signal, or by an end that was not its own.
pub fn told(status: ExitStatus) -> String {
    let Some(signal) = status.signal() else {
        let code =
            status.code().map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}"));
        return format!("{code}, before it was done");
    };
    let name = match signal {
        libc::SIGBUS => Some("SIGBUS"),
        _ => SIGNALS.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name),
    };
    name.map_or_else(|| format!("signal {signal}"), |name| format!("signal {signal} ({name})"))
}

/// The libraries whose policies a configuration runs, as it names them: they are code in the process that died.
pub fn suspects(config: &str) -> Vec<String> {
    let Ok(table) = DeTable::parse(config) else { return Vec::new() };
    let Some(DeValue::Table(policies)) = table.get_ref().get("policy").map(|policies| policies.get_ref())
    else {
        return Vec::new();
    };
    policies.values().filter_map(|path| path.get_ref().as_str()).map(str::to_owned).collect()
}

/// Where to look: the libraries, if there are any.
pub fn blame(suspects: &[String]) -> String {
    match suspects {
        [] => String::new(),
        [one] => format!(", while it ran the policy {one}"),
        many => format!(", while it ran the policies {}", many.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deaths_are_told_by_what_ended_them() {
        let signal = |number| told(ExitStatus::from_raw(number));
        assert_eq!(signal(11), "signal 11 (SIGSEGV)");
        assert_eq!(signal(libc::SIGBUS), format!("signal {} (SIGBUS)", libc::SIGBUS));
        assert_eq!(signal(31), "signal 31");
        assert_eq!(told(ExitStatus::from_raw(0)), "exit code 0, before it was done");
        assert_eq!(told(ExitStatus::from_raw(3 << 8)), "exit code 3, before it was done");
    }

    #[test]
    fn libraries_of_a_configuration_are_named() {
        let config = "[drive]\nseed = 1\n\n[policy]\ngc_victim = \"/a/mine.so\"\nstream = \"b.so\"\n";
        assert_eq!(suspects(config), ["/a/mine.so", "b.so"]);
        assert!(suspects("[drive]\nseed = 1\n").is_empty() && suspects("= 1").is_empty());
        assert_eq!(blame(&suspects(config)), ", while it ran the policies /a/mine.so, b.so");
    }
}
