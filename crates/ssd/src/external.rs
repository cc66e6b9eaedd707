//! Drives that run policies from outside: those of the program that uses the crate, and those that it brings along,
//! from a library or a script.

use crate::config::{ConfigErrors, FamilyInfo};
use crate::drive_config::DriveConfig;
use crate::ftl::outside::Record;
pub use crate::ftl::outside::{Identity, LaneCall, LanePolicy, PolicyFault};
pub use crate::ftl::stream::external::{StreamPolicy, Unit, UnitCall};
pub use crate::ftl::tables::blocks::NOT_ELIGIBLE;
use crate::ftl::{Ftl, gc_victim, stream, wear_leveling};

/// Policies that a drive is given. What they answer is checked: after a wrong answer the plainest policy decides, and
/// [`External::fault`] tells it. A drive with any cannot be saved.
#[derive(Clone, Debug, Default)]
pub struct ExternalPolicies {
    /// For `ftl.gc_victim`, whose policy is `external`.
    pub gc_victim: Option<Box<dyn LanePolicy>>,
    /// For `ftl.wear_leveling`.
    pub wear_leveling: Option<Box<dyn LanePolicy>>,
    /// For `ftl.stream`.
    pub stream: Option<Box<dyn StreamPolicy>>,
    /// Those that are taken at their word.
    pub trusted: TrustedPolicies,
}

/// Policies of the program's own, members of their families: each decides in place of the one that the configuration
/// names, whichever that is. A wrong answer is a panic.
#[derive(Clone, Debug, Default)]
pub struct TrustedPolicies {
    /// Which block is reclaimed: one that [`LaneView::eligible`] names.
    ///
    /// [`LaneView::eligible`]: crate::ftl::tables::blocks::LaneView::eligible
    pub gc_victim: Option<Box<dyn gc_victim::External>>,
    /// Which blocks trade places.
    pub wear_leveling: Option<Box<dyn wear_leveling::External>>,
    /// Which data shares a block, in as many streams as the lanes have blocks to spare for.
    pub stream: Option<Box<dyn stream::External>>,
}

impl TrustedPolicies {
    /// Those of the layer below the buffer take their places; that of streams has its own.
    pub(crate) fn take_over(self, ftl: &mut Ftl) {
        if let Some(policy) = self.gc_victim {
            ftl.gc_victim = gc_victim::Policy::External(policy);
        }
        if let Some(policy) = self.wear_leveling {
            ftl.wear_leveling = wear_leveling::Policy::External(policy);
        }
    }

    fn given(&self) -> [bool; 3] {
        [self.gc_victim.is_some(), self.wear_leveling.is_some(), self.stream.is_some()]
    }
}

impl From<TrustedPolicies> for ExternalPolicies {
    fn from(trusted: TrustedPolicies) -> Self {
        ExternalPolicies { trusted, ..ExternalPolicies::default() }
    }
}

impl ExternalPolicies {
    /// A separator that is taken at its word, and nothing else.
    pub fn trusted_stream(policy: impl stream::External + 'static) -> Self {
        TrustedPolicies { stream: Some(Box::new(policy)), ..TrustedPolicies::default() }.into()
    }

    /// A victim policy that is taken at its word, and nothing else.
    pub fn trusted_gc_victim(policy: impl gc_victim::External + 'static) -> Self {
        TrustedPolicies { gc_victim: Some(Box::new(policy)), ..TrustedPolicies::default() }.into()
    }

    /// Whether there is one to be checked for each family, in the order of the fields.
    fn given(&self) -> [bool; 3] {
        [self.gc_victim.is_some(), self.wear_leveling.is_some(), self.stream.is_some()]
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.given() == [false; 3] && self.trusted.given() == [false; 3]
    }

    /// Those that are checked, by the section of their family.
    pub fn identities(&self) -> Vec<(String, Identity)> {
        let victim = self.gc_victim.as_ref().map(|it| (gc_victim::FAMILY.section(), it.identity()));
        let wear = self.wear_leveling.as_ref().map(|it| (wear_leveling::FAMILY.section(), it.identity()));
        let stream = self.stream.as_ref().map(|it| (stream::FAMILY.section(), it.identity()));
        victim.into_iter().chain(wear).chain(stream).collect()
    }

    /// The policy of streams, which a drive is built around, and the others, each behind what checks it.
    pub(crate) fn apart(self, config: &stream::Config) -> (stream::Policy, TrustedPolicies) {
        let ExternalPolicies { gc_victim, wear_leveling, stream, mut trusted } = self;
        let victim = gc_victim.map(gc_victim::external::checked);
        trusted.gc_victim = trusted.gc_victim.or(victim);
        let wear = wear_leveling.map(wear_leveling::external::checked);
        trusted.wear_leveling = trusted.wear_leveling.or(wear);
        let stream = stream.map(|policy| stream::external::checked(config, policy));
        let built = match trusted.stream.take().or(stream) {
            Some(policy) => stream::Policy::External(policy),
            None => stream::Policy::build(config),
        };
        (built, trusted)
    }
}

impl DriveConfig {
    /// Is there a policy for each family that asks for one, and none to be checked for another? The errors name the
    /// families' keys.
    pub fn missing_policies(&self, policies: &ExternalPolicies) -> Result<(), ConfigErrors> {
        let mut given = policies.given();
        let trusted = policies.trusted.given();
        for ((given, is_trusted), (_, is_asked)) in
            given.iter_mut().zip(trusted).zip(self.asks_for_policies())
        {
            *given |= is_trusted && is_asked;
        }
        self.check_given(given)
    }
}

/// The policies of a drive that came from outside ([`Drive::external`](crate::Drive::external)).
#[derive(Clone, Copy, Debug)]
pub struct External<'a> {
    pub(crate) ftl: &'a Ftl,
}

impl<'a> External<'a> {
    /// What one did wrong, if one did: it is not asked any more, and whoever runs the drive should end that.
    #[inline]
    pub fn fault(self) -> Option<&'a PolicyFault> {
        let all = [self.ftl.gc_victim.record(), self.ftl.stream.record(), self.ftl.wear_leveling.record()];
        all.into_iter().flatten().find_map(|record| record.fault.as_deref())
    }

    /// The section of a family whose policy comes from outside, if one does.
    pub(crate) fn family(self) -> Option<String> {
        match (&self.ftl.gc_victim, &self.ftl.wear_leveling, &self.ftl.stream) {
            (gc_victim::Policy::External(_), ..) => Some(gc_victim::FAMILY.section()),
            (_, wear_leveling::Policy::External(_), _) => Some(wear_leveling::FAMILY.section()),
            (.., stream::Policy::External(_)) => Some(stream::FAMILY.section()),
            _ => None,
        }
    }

    /// Whether one decides anything.
    pub fn decides(self) -> bool {
        self.family().is_some()
    }

    /// Those that are checked, by the section of their family, and how often each was asked.
    pub fn asked(self) -> Vec<(String, Identity, u64)> {
        let all = [
            (&gc_victim::FAMILY, self.ftl.gc_victim.record()),
            (&wear_leveling::FAMILY, self.ftl.wear_leveling.record()),
            (&stream::FAMILY, self.ftl.stream.record()),
        ];
        let told = |(family, found): (&FamilyInfo, Option<&Record>)| {
            found.map(|record| (family.section(), record.identity.clone(), record.calls))
        };
        all.into_iter().filter_map(told).collect()
    }

    /// Copies of those that another drive of this configuration asks for, as they are now: to try something out beside
    /// this one.
    pub fn copies_for(self, cfg: &DriveConfig) -> ExternalPolicies {
        let asked = cfg.asks_for_policies().map(|(_, is_asked)| is_asked);
        let mut copies = TrustedPolicies::default();
        if let (true, gc_victim::Policy::External(policy)) = (asked[0], &self.ftl.gc_victim) {
            copies.gc_victim = Some(policy.clone());
        }
        if let (true, wear_leveling::Policy::External(policy)) = (asked[1], &self.ftl.wear_leveling) {
            copies.wear_leveling = Some(policy.clone());
        }
        if let (true, stream::Policy::External(policy)) = (asked[2], &self.ftl.stream) {
            copies.stream = Some(policy.clone());
        }
        copies.into()
    }

    /// The policy that chooses which block is reclaimed, from wherever.
    pub fn gc_victim(self) -> &'a gc_victim::Policy {
        &self.ftl.gc_victim
    }
}
