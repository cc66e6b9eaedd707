//! Programs and libraries: what is needed of them to unwind a stack, read once however many processes run them.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use framehop::{ExplicitModuleSectionInfo, Module as Unwindable};
use object::read::{Object, ObjectSection, ObjectSegment, ReadCache};
use workload::capture::Module;

use super::maps::Mapping;
use super::sys::{self, FileId, Tid};

/// Bytes of a section.
pub type Bytes = Arc<[u8]>;

/// Modules lie so far apart in the addresses that the unwinder knows: more than a module has.
const APART: u64 = 1 << 32;

/// A module that was read.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its place among those recorded.
    pub place: u32,
    /// Where the unwinder has its address 0.
    pub base: u64,
}

/// A part of a file with code, which is loaded at an address of its own.
struct Segment {
    offset: u64,
    bytes: u64,
    address: u64,
}

/// What is recorded of a module, what the unwinder needs, and where its parts are to be loaded.
struct Read {
    module: Module,
    unwindable: Unwindable<Bytes>,
    segments: Vec<Segment>,
}

/// All modules that were met.
#[derive(Default)]
pub struct Modules {
    known: HashMap<FileId, Option<(Known, Vec<Segment>)>>,
    count: u32,
}

impl Modules {
    /// The module that a process has mapped, and the address that belongs to the mapping's start according to it. One
    /// that is new is handed to `add` first. `None` for what is no module, or cannot be read.
    pub fn find(
        &mut self,
        pid: Tid,
        mapping: &Mapping,
        add: &mut impl FnMut(Module, Unwindable<Bytes>),
    ) -> Option<(Known, u64)> {
        if mapping.inode == 0 || !mapping.path.starts_with('/') {
            return None;
        }
        let path = format!("/proc/{pid}/root{}", mapping.path);
        let facts = sys::facts_of(&CString::new(path.as_str()).ok()?, true)?;
        // Another file may have its name by now.
        if facts.id.1 != mapping.inode {
            return None;
        }
        let count = &mut self.count;
        let found = self.known.entry(facts.id).or_insert_with(|| {
            let base = (u64::from(*count) + 1) * APART;
            let Read { module, unwindable, segments } = read(Path::new(&path), &mapping.path, base)?;
            add(module, unwindable);
            *count += 1;
            Some((Known { place: *count - 1, base }, segments))
        });
        let (known, segments) = found.as_ref()?;
        // Mappings begin with a page, segments anywhere in it.
        let offset = mapping.offset;
        let is_here = |part: &&Segment| offset < part.offset + part.bytes && offset + PAGE > part.offset;
        let segment = segments.iter().rfind(is_here)?;
        Some((*known, segment.address.wrapping_sub(segment.offset).wrapping_add(offset)))
    }
}

/// Bytes of the largest page that mappings are aligned to.
const PAGE: u64 = 1 << 16;

/// Reads a module.
fn read(path: &Path, told: &str, base: u64) -> Option<Read> {
    let file = File::open(path).ok()?;
    let bytes = file.metadata().ok()?.size();
    let data = ReadCache::new(file);
    let object = object::File::parse(&data).ok()?;
    let hash = match object.build_id().ok().flatten() {
        Some(id) => hash_of(id),
        None => hash_of(format!("{told} {bytes}").as_bytes()),
    };
    let name =
        Path::new(told).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let section = |name: &str| object.section_by_name(name);
    let bytes_of = |name| section(name).and_then(|part| Some(Bytes::from(part.uncompressed_data().ok()?)));
    let place_of = |name| section(name).map(|part| part.address()..part.address() + part.size());
    let info = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: place_of(".text"),
        got_svma: place_of(".got"),
        eh_frame_svma: place_of(".eh_frame"),
        eh_frame: bytes_of(".eh_frame"),
        eh_frame_hdr_svma: place_of(".eh_frame_hdr"),
        eh_frame_hdr: bytes_of(".eh_frame_hdr"),
        debug_frame: bytes_of(".debug_frame"),
        ..Default::default()
    };
    let is_code = |part: &object::Segment<'_, '_, _>| match part.flags() {
        object::SegmentFlags::Elf { p_flags, .. } => p_flags.0 & object::elf::PF_X.0 != 0,
        _ => false,
    };
    let segments: Vec<Segment> = object
        .segments()
        .filter(is_code)
        .map(|part| {
            let (offset, bytes) = part.file_range();
            Segment { offset, bytes, address: part.address() }
        })
        .collect();
    let end = object.segments().map(|part| part.address() + part.size()).max()?;
    if end >= APART {
        return None;
    }
    let unwindable = Unwindable::new(name.clone(), base..base + end, base, info);
    Some(Read { module: Module { hash, name }, unwindable, segments })
}

/// FNV-1a, 64 bits (Fowler, Noll and Vo), then stirred: sums of addresses and hashes are not to meet by chance.
fn hash_of(bytes: &[u8]) -> u64 {
    let fnv = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, fnv)
}
