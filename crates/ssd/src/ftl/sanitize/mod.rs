//! What happens to copies in flash that nobody may read any more?
//!
//! After an overwrite, a trim or a move the old bytes lie in flash until their block is erased. The lock manager
//! (`ftl/locks`) is told of every copy of secured data that dies; the policy says by which commands of the chips a
//! page, a wordline or a block is kept from being read (RealWear chapter 5).

use crate::nand::Sanitizing;
use crate::units::SimDuration;
use serde::{Deserialize, Serialize};

choice! {
    /// What data is of which nobody says whether it is secret.
    pub enum Class {
        /// Old versions of it may stay where they are until they are erased.
        Insecure = "insecure",
        /// Old versions of it must not be read any more.
        Secure = "secure",
    }
}

choice! {
    /// When trims, flushes and FUA writes complete.
    pub enum Acknowledge {
        /// When what they have killed cannot be read any more, copies by moves included (assumed).
        AfterLock = "after_lock",
        /// Trims, flushes and FUA writes wait for locks, and all writes are to the medium: none is complete while what
        /// it has killed can be read (the paper's drives have no such page at any time, section 5.4).
        EveryWrite = "every_write",
        /// At once; the locks follow (the paper says nothing of it).
        AtOnce = "at_once",
    }
}

/// The parameters of every policy that acts.
macro_rules! acting_params {
    ($doc:literal $(, $($more:tt)*)?) => {
        section! {
            #[doc = $doc]
            pub struct Params {
                /// Class of data for which the host gives none (`Hints::class`).
                default_class: Class = Class::Secure;
                /// When trims, flushes and FUA writes complete.
                acknowledge: Acknowledge = Acknowledge::AfterLock;
                /// Maximum time that invalid copies left behind by a move wait for the move to finish (assumed): if the
                /// block is then erased, they need no lock.
                batch_ms: f64 = 50.0, unit "ms", range 0..=1_000_000;
                $($($more)*)?
            }
        }
    };
}

/// The parameters of every policy that locks.
macro_rules! locking_params {
    ($doc:literal) => {
        acting_params! {
            $doc,
            /// Age of a block's oldest lock at which its pages and blocks are locked again, in months of 730 hours
            /// (assumed, our own addition: flags lose charge over the years). 0: never. An idle drive does nothing.
            // tidy: allow(float): read when a drive is built
            relock_months: f64 = 0.0, unit "months", range 0..=1_200;
            /// Maximum time that a page with an invalid copy stays readable, failed locks aside. Writes and trims wait
            /// until the locks of what they invalidate fit in. 0: no maximum.
            // tidy: allow(float): read when a drive is built
            max_exposed_ms: f64 = 0.0, unit "ms", range 0..=1_000_000;
        }
    };
}

family! {
    /// What happens to copies in flash that nobody may read any more?
    path "ftl/sanitize", default none;
    members {
        none: None,
        page_lock: PageLock,
        page_and_block_lock: PageAndBlockLock,
        erase: Erase,
        scrub: Scrub,
        reprogram: Reprogram,
    }
    methods {
        /// Whether anything is done.
        fn acts(&self) -> bool {
            true
        }
        /// What the chips must be able to do to pages, beside erasing them.
        fn means(&self) -> Option<Sanitizing> {
            None
        }
        /// What holds for all that acts.
        fn rules(&self) -> Rules {
            Rules::default()
        }
        /// Whether it locks whole blocks.
        fn locks_blocks(&self) -> bool {
            false
        }
        /// What is done about pages that died together in a physical block.
        fn answer(&self, deaths: &Deaths) -> Answer {
            Answer::Pages
        }
    }
}

/// What holds for every policy that acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Data of which nothing is said is secret.
    pub is_secure_by_default: bool,
    /// Commands wait for locks.
    pub after_lock: bool,
    /// So do all writes.
    pub every_write: bool,
    /// Copies that moves have killed wait for the end of the job so long at most; ns.
    pub batch_ns: u64,
    /// Locks so old are set again; ns. 0: none.
    pub relock_ns: u64,
    /// No page is exposed for longer; ns. 0: that is left open.
    pub max_exposed_ns: u64,
}

/// Hours of a month, a twelfth of 365 days.
const HOURS_PER_MONTH: f64 = 730.0; // tidy: allow(float): for tables that are built with the drive

impl Rules {
    /// What parameters say.
    // tidy: allow(float): called when a drive is built
    fn of(default_class: Class, acknowledge: Acknowledge, batch_ms: f64) -> Self {
        Rules {
            is_secure_by_default: default_class == Class::Secure,
            after_lock: acknowledge != Acknowledge::AtOnce,
            every_write: acknowledge == Acknowledge::EveryWrite,
            batch_ns: SimDuration::from_ms(batch_ms).0,
            relock_ns: 0,
            max_exposed_ns: 0,
        }
    }

    /// The same where locks of so many months are set again.
    // tidy: allow(float): called when a drive is built
    fn renewing(self, months: f64) -> Self {
        Rules { relock_ns: SimDuration::from_ms(months * HOURS_PER_MONTH * 3_600_000.0).0, ..self }
    }

    /// The same where no page is exposed for more milliseconds than that.
    // tidy: allow(float): called when a drive is built
    fn within(self, max_ms: f64) -> Self {
        Rules { max_exposed_ns: SimDuration::from_ms(max_ms).0, ..self }
    }
}

/// Pages of a physical block that died together and are not locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deaths {
    /// How many, where nothing else lives in the block; else 1.
    pub pages: u32,
    /// Nothing lives in the block, and nothing more is programmed there.
    pub is_dead: bool,
    /// The block is out of use.
    pub is_bad: bool,
    /// Array time of a lock of a page; ns.
    pub page_ns: u64,
    /// Array time of a lock of a block; ns.
    pub block_ns: u64,
}

/// What is done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Each by itself.
    Pages,
    /// The block as a whole.
    Block,
    /// What lives in the block moves elsewhere, and it is erased.
    Erase,
}
