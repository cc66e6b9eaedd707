//! Workloads for several drives.

use crate::spec::kinds::Spec;
use crate::stack::stripe::Stripe;

/// Whether a workload is for one drive or for several.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Split {
    /// One.
    #[default]
    Whole,
    /// Jobs that work on several drives at the same time, of these names ([`Driven::drive`](crate::Driven::drive)).
    Jobs(Vec<String>),
    /// Drives that know nothing of each other: the name of each and its workload.
    Parts(Vec<(String, Spec)>),
    /// Drives that make one volume.
    Striped(Stripe),
}

impl Split {
    /// Names of the drives; none if there is one.
    pub fn names(&self) -> Vec<String> {
        match self {
            Split::Whole => Vec::new(),
            Split::Jobs(names) => names.clone(),
            Split::Parts(parts) => parts.iter().map(|(name, _)| name.clone()).collect(),
            Split::Striped(stripe) => stripe.names(),
        }
    }
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
