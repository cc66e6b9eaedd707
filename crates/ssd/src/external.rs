//! Drives that run policies from outside: those of the program that uses the crate, and those that it brings along,
//! from a library or a script.

use crate::config::{ConfigErrors, FamilyInfo};
use crate::drive::Drive;
use crate::drive_config::DriveConfig;
use crate::ftl::outside::Record;
pub use crate::ftl::outside::{Identity, LaneCall, LanePolicy, PolicyFault};
pub use crate::ftl::stream::external::{StreamPolicy, Unit, UnitCall};
pub use crate::ftl::tables::blocks::NOT_ELIGIBLE;
use crate::ftl::{gc_victim, stream, wear_leveling};

/// Policies that a drive is given, for the families whose policy is `external`.
#[derive(Clone, Debug, Default)]
pub struct ExternalPolicies {
    /// For `ftl.gc_victim`.
    pub gc_victim: Option<Box<dyn LanePolicy>>,
    /// For `ftl.wear_leveling`.
    pub wear_leveling: Option<Box<dyn LanePolicy>>,
    /// For `ftl.stream`.
    pub stream: Option<Box<dyn StreamPolicy>>,
}

impl ExternalPolicies {
    /// Whether there is one for each family, in the order of the fields.
    pub(crate) fn given(&self) -> [bool; 3] {
        [self.gc_victim.is_some(), self.wear_leveling.is_some(), self.stream.is_some()]
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.given() == [false; 3]
    }

    /// Those that there are, by the section of their family.
    pub fn identities(&self) -> Vec<(String, Identity)> {
        let victim = self.gc_victim.as_ref().map(|it| (gc_victim::FAMILY.section(), it.identity()));
        let wear = self.wear_leveling.as_ref().map(|it| (wear_leveling::FAMILY.section(), it.identity()));
        let stream = self.stream.as_ref().map(|it| (stream::FAMILY.section(), it.identity()));
        victim.into_iter().chain(wear).chain(stream).collect()
    }
}

impl DriveConfig {
    /// Is there a policy for each family that asks for one, and for no other? The errors name the families' keys.
    pub fn missing_policies(&self, policies: &ExternalPolicies) -> Result<(), ConfigErrors> {
        self.check_given(policies.given())
    }
}

impl Drive {
    /// A fresh drive with policies from outside, one for each family whose policy is `external`. What they answer is
    /// checked: after a wrong answer the plainest policy decides, and [`Drive::policy_fault`] tells it. Such a drive
    /// cannot be saved.
    ///
    /// # Errors
    /// As for [`Drive::new`], and if a policy is missing, or given and not asked for.
    pub fn with_policies(cfg: &DriveConfig, policies: ExternalPolicies) -> Result<Drive, ConfigErrors> {
        cfg.missing_policies(&policies)?;
        let ExternalPolicies { gc_victim, wear_leveling, stream } = policies;
        let built = stream::Policy::build(&cfg.stream);
        let mut drive = Drive::build(
            cfg,
            match stream {
                Some(policy) => stream::external::given(&built, policy),
                None => built,
            },
        )?;
        let ftl = &mut drive.state.ftl;
        if let Some(policy) = gc_victim {
            ftl.gc_victim = gc_victim::external::given(policy);
        }
        if let Some(policy) = wear_leveling {
            ftl.wear_leveling = wear_leveling::external::given(policy);
        }
        Ok(drive)
    }

    /// A fresh drive with copies of the policies from outside of another, for those families that ask for one: to try
    /// something out beside it.
    ///
    /// # Errors
    /// As for [`Drive::new`], and if the other drive has none for a family that asks for one.
    pub fn with_policies_of(cfg: &DriveConfig, other: &Drive) -> Result<Drive, ConfigErrors> {
        let ftl = &other.state.ftl;
        let asked = cfg.asks_for_policies().map(|(_, is_asked)| is_asked);
        let has = [ftl.gc_victim.record(), ftl.wear_leveling.record(), ftl.stream.record()];
        let has = has.map(|record| record.is_some());
        cfg.check_given([asked[0] && has[0], asked[1] && has[1], asked[2] && has[2]])?;
        let stream = if asked[2] { ftl.stream.clone() } else { stream::Policy::build(&cfg.stream) };
        let mut drive = Drive::build(cfg, stream)?;
        if asked[0] {
            drive.state.ftl.gc_victim = ftl.gc_victim.clone();
        }
        if asked[1] {
            drive.state.ftl.wear_leveling = ftl.wear_leveling.clone();
        }
        Ok(drive)
    }

    /// A fresh drive on which a policy of the caller's own decides which data shares a block, in place of the one that
    /// the configuration names. Such a drive cannot be saved. It is trusted: a
    /// wrong answer is a panic. [`Drive::with_policies`] takes one that is not.
    ///
    /// # Errors
    /// As for [`Drive::new`], and if the lanes have no blocks to spare for so many streams.
    ///
    /// # Panics
    /// If the policy names more streams than there can be, or none for the host.
    pub fn with_stream(cfg: &DriveConfig, policy: Box<dyn stream::External>) -> Result<Drive, ConfigErrors> {
        Drive::build(cfg, stream::Policy::External(policy))
    }

    /// Lets a policy of the caller's own choose which block is reclaimed, from now on, in place of the one that the
    /// configuration names. It must choose a block that [`LaneView::eligible`] names. Such a drive cannot be saved.
    ///
    /// [`LaneView::eligible`]: crate::ftl::tables::blocks::LaneView::eligible
    pub fn set_gc_victim(&mut self, policy: Box<dyn gc_victim::External>) {
        self.state.ftl.gc_victim = gc_victim::Policy::External(policy);
    }

    /// What a policy from outside did wrong, if one did: it is not asked any more, and whoever runs the drive should
    /// end that.
    #[inline]
    pub fn policy_fault(&self) -> Option<&PolicyFault> {
        let ftl = &self.state.ftl;
        let all = [ftl.gc_victim.record(), ftl.stream.record(), ftl.wear_leveling.record()];
        all.into_iter().flatten().find_map(|record| record.fault.as_deref())
    }

    /// The policy that chooses which block is reclaimed.
    pub fn gc_victim(&self) -> &gc_victim::Policy {
        &self.state.ftl.gc_victim
    }

    /// Whether a policy from outside decides anything.
    pub fn has_external_policy(&self) -> bool {
        self.external_family().is_some()
    }

    /// The policies from outside that it was given, by the section of their family, and how often each was asked.
    pub fn external_policies(&self) -> Vec<(String, Identity, u64)> {
        let ftl = &self.state.ftl;
        let all = [
            (&gc_victim::FAMILY, ftl.gc_victim.record()),
            (&wear_leveling::FAMILY, ftl.wear_leveling.record()),
            (&stream::FAMILY, ftl.stream.record()),
        ];
        let told = |(family, found): (&FamilyInfo, Option<&Record>)| {
            found.map(|record| (family.section(), record.identity.clone(), record.calls))
        };
        all.into_iter().filter_map(told).collect()
    }
}
