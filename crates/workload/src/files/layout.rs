//! Where the file system keeps what: superblock, group descriptors, bitmaps, inode table, journal, directories, then
//! data. It is ext4's layout with one flexible group (`flex_bg`) as large as the file system (assumed); directories lie
//! together, since it is not their place that matters but how often they are written.

use super::space::Extent;
use super::spec::FilesSpec;
use crate::base::error::{Problem, WorkloadError};
use crate::base::request::{PAGE_BYTES, PAGE_SECTORS};
use ssd::rng::mix;

/// Blocks of a group: 128 MiB, what one block of a bitmap counts.
pub(super) const GROUP_BLOCKS: u32 = 32_768;
/// Inodes of a block (256 bytes each).
const INODES_PER_BLOCK: u32 = 16;
/// Group descriptors of a block (64 bytes each).
const DESCRIPTORS_PER_BLOCK: u32 = 64;
/// Entries of a directory block: of 16 bytes each (names of 8 letters, as filebench's), two thirds full (assumed).
const ENTRIES_PER_BLOCK: u32 = 170;

/// Where things are, in blocks from the start of the file system.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Blocks of the file system.
    pub blocks: u32,
    block_bitmaps: u32,
    inode_bitmaps: u32,
    inode_table: u32,
    inodes_per_group: u32,
    pub journal: Extent,
    directories: u32,
    directory_files: u32,
    blocks_per_directory: u32,
    /// Files there can be; inodes of directories come after.
    files: u32,
    /// The first block that files may have.
    pub data: u32,
}

impl Layout {
    /// The layout for so many files in so many blocks.
    pub(super) fn new(spec: &FilesSpec, files: u32, blocks: u32) -> Result<Self, WorkloadError> {
        let directory_files = u32::try_from(spec.directory_files).unwrap_or(u32::MAX).min(files.max(1));
        let directories = files.div_ceil(directory_files);
        let blocks_per_directory = directory_files.div_ceil(ENTRIES_PER_BLOCK);
        let groups = blocks.div_ceil(GROUP_BLOCKS);
        let wanted = u64::from(GROUP_BLOCKS) * PAGE_BYTES / spec.bytes_per_inode;
        let inodes_per_group = (wanted as u32).next_multiple_of(INODES_PER_BLOCK);
        let inodes = files.saturating_add(directories);
        if inodes > inodes_per_group.saturating_mul(groups) {
            let found = format!("found {}, for {inodes} files and directories", spec.bytes_per_inode);
            let least = u64::from(blocks) * PAGE_BYTES / u64::from(inodes);
            return Err(WorkloadError::setting("bytes_per_inode", found, format!("{least} or less")));
        }
        let lengths = [
            1,
            groups.div_ceil(DESCRIPTORS_PER_BLOCK),
            groups,
            groups,
            groups.saturating_mul(inodes_per_group / INODES_PER_BLOCK),
            (spec.journal_mib << 8) as u32,
            directories.saturating_mul(blocks_per_directory),
        ];
        let mut next = 0u32;
        let [_, _, block_bitmaps, inode_bitmaps, inode_table, journal, directories] = lengths.map(|len| {
            let start = next;
            next = next.saturating_add(len);
            start
        });
        if next >= blocks {
            return Err(Problem::DoesNotFit {
                what: "the file system's inodes, journal and directories".into(),
                needed_sectors: (u64::from(next) + 1) * PAGE_SECTORS,
                drive_sectors: u64::from(blocks) * PAGE_SECTORS,
                advice: "take a larger drive or footprint_gib, or a smaller journal_mib".into(),
            }
            .into());
        }
        Ok(Layout {
            blocks,
            block_bitmaps,
            inode_bitmaps,
            inode_table,
            inodes_per_group,
            journal: Extent { start: journal, len: lengths[5] },
            directories,
            directory_files,
            blocks_per_directory,
            files,
            data: next,
        })
    }

    /// The block of a group's descriptor.
    fn descriptor(group: u32) -> u32 {
        1 + group / DESCRIPTORS_PER_BLOCK
    }

    /// The block that holds an inode.
    pub(super) fn inode(&self, number: u32) -> u32 {
        self.inode_table + number / INODES_PER_BLOCK
    }

    /// The blocks of an inode's bitmap and of its group's descriptor.
    pub(super) fn inode_bitmap(&self, number: u32) -> [u32; 2] {
        let group = number / self.inodes_per_group;
        [self.inode_bitmaps + group, Self::descriptor(group)]
    }

    /// The blocks of a group's bitmap and of its descriptor.
    pub(super) fn bitmap(&self, group: u32) -> [u32; 2] {
        [self.block_bitmaps + group, Self::descriptor(group)]
    }

    /// The block with the entry of a file of some name, and that of its directory's inode.
    pub(super) fn directory(&self, slot: u32, name: u32) -> [u32; 2] {
        let directory = slot / self.directory_files;
        // Entries are spread over a directory's blocks by the hash of the name.
        let block = (mix(u64::from(name)) % u64::from(self.blocks_per_directory)) as u32;
        let entry = self.directories + directory * self.blocks_per_directory + block;
        [entry, self.inode(self.files + directory)]
    }
}
