//! What people read for names in results: causes of flash operations, parts of a request's way, what holds a request
//! up. The console, plots and pages use the same; docs/reading-a-report.md explains them.

use ssd::Part;

/// The cause of that name (`CAUSE` of docs/results.md).
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

/// A part of a request's way (`PART` of docs/results.md).
pub(crate) fn part(part: Part) -> &'static str {
    match part {
        Part::HostQueue => "host queue",
        Part::Submission => "submission queue",
        Part::Firmware => "firmware",
        Part::LinkWait => "host link wait",
        Part::Link => "host link",
        Part::BufferWait => "buffer wait",
        Part::Buffer => "buffer access",
        Part::Dispatch => "dispatch",
        Part::DieWait => "die wait",
        Part::ChannelWait => "channel wait",
        Part::Array => "array (tR, tPROG)",
        Part::Transfer => "channel transfer",
        Part::Decode => "ECC decoding",
        Part::Suspended => "suspended",
        Part::LockWait => "lock wait",
    }
}

/// The same by its name; one that is not known is called that.
pub(crate) fn part_of(name: &str) -> &str {
    part_named(name).map_or(name, |named| part(named))
}

fn part_named(name: &str) -> Option<Part> {
    Part::ALL.into_iter().find(|part| part.name() == name)
}

/// Where a request is in a part, in words that follow "spent ... of its time".
pub(crate) fn spent(part: Part) -> &'static str {
    match part {
        Part::HostQueue => "waiting for a place in a full submission queue",
        Part::Submission => "in its submission queue",
        Part::Firmware => "in the firmware",
        Part::LinkWait => "waiting for the host link",
        Part::Link => "on the host link",
        Part::BufferWait => "waiting for space in the buffer",
        Part::Buffer => "in the buffer",
        Part::Dispatch => "waiting for dispatch to a die",
        Part::DieWait => "waiting for a die",
        Part::ChannelWait => "waiting for the channel",
        Part::Array => "in the flash array",
        Part::Transfer => "on the channel",
        Part::Decode => "in ECC decoding",
        Part::Suspended => "suspended for other reads",
        Part::LockWait => "waiting for invalid data to be locked",
    }
}

/// The same of a part by its name; one that is not known is called that.
pub(crate) fn spent_in(name: &str) -> &str {
    part_named(name).map_or(name, |named| spent(named))
}

/// What held a request up (`tail.KIND.reasons[].what` of docs/results.md).
pub(crate) fn reason(what: &str) -> String {
    match what.split('.').collect::<Vec<_>>()[..] {
        ["array", work, by] => format!("die busy: {work} ({})", cause(by)),
        ["transfer", "in", by] => format!("channel or die occupied: data in ({})", cause(by)),
        ["transfer", _, by] => format!("channel or die occupied: data out ({})", cause(by)),
        ["own", "array"] => "own array operation (tR, tPROG)".to_owned(),
        ["own", "transfer"] => "own channel transfer".to_owned(),
        ["own", "link"] => "own host link transfer".to_owned(),
        ["own", name] => part_named(name).map_or_else(|| name.replace('_', " "), |of| part(of).to_owned()),
        ["switching"] => "die busy: suspending or resuming".to_owned(),
        ["returning"] => "die occupied: read retry pending".to_owned(),
        ["nobody"] => "die idle: not its turn".to_owned(),
        ["page"] => "no free page: waiting for GC".to_owned(),
        ["room"] => "buffer full: its program not issued yet".to_owned(),
        ["row"] => "waiting for data to fill a row".to_owned(),
        ["locks"] => "waiting for invalid data to be locked".to_owned(),
        _ => what.to_owned(),
    }
}
