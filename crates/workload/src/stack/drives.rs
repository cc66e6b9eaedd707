//! Several drives: whether devices are drives, and what these are called.

use crate::base::settings::choice;
use crate::stack::stripe::Stripe;

/// Drives that devices may be, at most: each is simulated as a whole.
pub(crate) const DRIVES_MAX: usize = 64;

choice! {
    /// Whether requests for several devices reach one drive, or each device is a drive; or all reach drives in a
    /// stripe.
    pub enum Drives {
        /// One drive.
        Together = "together",
        /// One drive for each device.
        Each = "each",
        /// Several drives that make one volume (RAID 0).
        Striped = "striped",
    }
}

impl Drives {
    /// The stripe of so many drives, in chunks of so many KiB, if they are to be one.
    pub(crate) fn stripe(self, drives: u64, kib: u64) -> Option<Stripe> {
        (self == Drives::Striped).then(|| Stripe::new(drives as u16, kib * 2))
    }
}

/// Whether the requests of a workload are for one drive or for several.
pub(crate) enum Apart {
    /// For one.
    No,
    /// Jobs work on several drives at the same time, of these names.
    Jobs(Vec<String>),
    /// Each device is a drive that knows nothing of the others: its name, and the number by which it is asked for.
    Devices(Vec<(String, u64)>),
}

/// What drives are called that are these devices: the names of folders, each another one.
pub(crate) fn names_of(devices: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for device in devices {
        let kept =
            |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
        let name: String = device.trim_start_matches("/dev/").chars().map(kept).collect();
        // No folder of its own has a name of dots, or is hidden.
        let name = if name.is_empty() || name.starts_with('.') { format!("drive{name}") } else { name };
        let others = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(others).find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_drive_has_a_name_of_its_own_that_a_folder_may_have() {
        let names =
            |devices: &[&str]| names_of(&devices.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        assert_eq!(names(&["/dev/nvme0n1", "/dev/mapper/a b"]), ["nvme0n1", "mapper-a-b"]);
        assert_eq!(names(&["/dev/a/b", "/dev/a-b", "a-b-2", ".."]), ["a-b", "a-b-2", "a-b-2-2", "drive.."]);
    }
}
