//! Devices by numbers that may be larger than the 16 bits that tell devices apart everywhere else.

use super::fields::{Bad, Number};
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use crate::base::report::{NAMES_SHOWN, OTHERS};
use std::collections::BTreeMap;

/// The largest number that devices are told apart by.
const LARGEST: u64 = u16::MAX as u64;
const ALLOWED: &str = "at most 65536 devices (--device reads some of them)";

/// Devices and what stands for each. One that is called by up to 65,535 keeps its number, and others get the last ones
/// that are free, as they appear. If some are asked for, these come first, and all others above 65,535 are one: so a
/// trace may have any number of them.
pub(crate) struct Volumes {
    /// The device of the line before, and its number.
    last: (u64, u16),
    /// Numbers that stand for a device, a bit each.
    taken: Vec<u64>,
    /// Those of them that stand for one called otherwise.
    lent: Vec<u64>,
    /// Devices that another number stands for.
    moved: BTreeMap<u64, u16>,
    /// All numbers above it are taken.
    free_below: u64,
    /// What stands for devices that nobody asked for, and whether there are any.
    others: Option<u16>,
    has_others: bool,
}

fn has(bits: &[u64], number: u64) -> bool {
    bits[number as usize / 64] >> (number % 64) & 1 == 1
}

fn add(bits: &mut [u64], number: u64) {
    bits[number as usize / 64] |= 1 << (number % 64);
}

impl Volumes {
    /// For a trace that is read so.
    pub(crate) fn new(options: &ReadOptions) -> Self {
        let mut volumes = Volumes {
            // No device yet: one of this number is looked up all the same.
            last: (u64::MAX, 0),
            taken: vec![0; LARGEST as usize / 64 + 1],
            lent: vec![0; LARGEST as usize / 64 + 1],
            moved: BTreeMap::new(),
            free_below: LARGEST + 1,
            others: None,
            has_others: false,
        };
        let mut asked = options.devices.clone();
        asked.sort_unstable();
        for device in asked {
            volumes.find(device);
        }
        if !options.devices.is_empty() {
            volumes.others = volumes.lend();
        }
        volumes
    }

    /// What stands for a device.
    #[inline]
    pub(crate) fn number(&mut self, device: Number) -> Result<u16, Bad> {
        if device.value != self.last.0 || device.value == u64::MAX {
            let too_many = || Bad {
                reason: BadReason::TooLarge,
                column: device.column,
                allowed: ALLOWED,
                at: device.at,
            };
            let number = self.find(device.value).ok_or_else(too_many)?;
            self.last = (device.value, number);
        }
        Ok(self.last.1)
    }

    #[inline]
    fn find(&mut self, device: u64) -> Option<u16> {
        if device <= LARGEST && !has(&self.lent, device) {
            add(&mut self.taken, device);
            return Some(device as u16);
        }
        self.find_moved(device)
    }

    #[cold]
    fn find_moved(&mut self, device: u64) -> Option<u16> {
        if let Some(number) = self.moved.get(&device) {
            return Some(*number);
        }
        if let Some(number) = self.others {
            self.has_others = true;
            return Some(number);
        }
        let number = self.lend()?;
        self.moved.insert(device, number);
        Some(number)
    }

    /// The last number that is free, from now on another device's.
    fn lend(&mut self) -> Option<u16> {
        while self.free_below > 0 {
            self.free_below -= 1;
            let number = self.free_below;
            if !has(&self.taken, number) {
                add(&mut self.taken, number);
                add(&mut self.lent, number);
                return Some(number as u16);
            }
        }
        None
    }

    /// The number of a device that was asked for.
    pub(crate) fn number_of(&self, device: u64) -> Option<u16> {
        self.moved.get(&device).copied().or_else(|| u16::try_from(device).ok())
    }

    /// Numbers that stand for a device called otherwise, and what it is called.
    pub(crate) fn renumbered(&self) -> Vec<(u16, String)> {
        let moved = self.moved.iter().map(|(device, number)| (*number, device.to_string()));
        let others = self.others.filter(|_| self.has_others).map(|number| (number, OTHERS.to_owned()));
        moved.take(NAMES_SHOWN).chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(devices: &[u64], asked: &[u64]) -> (Vec<Option<u16>>, Volumes) {
        let mut volumes = Volumes::new(&ReadOptions { devices: asked.to_vec(), ..ReadOptions::default() });
        let number = |&value: &u64| volumes.number(Number { value, ..Number::default() }).ok();
        (devices.iter().map(number).collect(), volumes)
    }

    #[test]
    fn devices_keep_their_numbers_as_far_as_there_are_such() {
        let (numbers, volumes) = of(&[5, 70_000, 5, u64::MAX, 70_000, 65_535, 65_534, 0], &[]);
        let expected = [5, 65_535, 5, 65_534, 65_535, 65_533, 65_532, 0];
        assert_eq!(numbers, expected.map(Some));
        assert_eq!(volumes.number_of(70_000), Some(65_535));
        assert_eq!(volumes.renumbered().len(), 4);
        let (numbers, volumes) = of(&[65_535, 70_000, 65_535], &[]);
        assert_eq!(numbers, [65_535, 65_534, 65_535].map(Some));
        assert_eq!(volumes.renumbered(), [(65_534, "70000".to_owned())]);
    }

    #[test]
    fn as_many_as_there_are_numbers_are_told_apart() {
        let all: Vec<u64> = (100_000..165_536).collect();
        let (numbers, mut volumes) = of(&all, &[]);
        let mut different: Vec<u16> = numbers.into_iter().flatten().collect();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 65_536);
        assert_eq!(volumes.find(165_536), None);
        assert_eq!(volumes.find(3), None);
        assert!(volumes.find(100_000).is_some());
    }

    #[test]
    fn those_that_are_asked_for_are_told_apart_from_any_number_of_others() {
        let all: Vec<u64> = (0..200_000).collect();
        let asked = [65_535, 5, 150_000, 65_534];
        let (numbers, volumes) = of(&all, &asked);
        let kept: Vec<Option<u16>> = asked.iter().map(|device| volumes.number_of(*device)).collect();
        for (device, number) in all.iter().zip(numbers) {
            let is_asked = asked.contains(device);
            assert_eq!(kept.contains(&number), is_asked && number.is_some(), "{device}");
            assert!(number.is_some(), "{device}");
        }
        assert_eq!(kept, [65_535, 5, 65_533, 65_534].map(Some));
    }
}
