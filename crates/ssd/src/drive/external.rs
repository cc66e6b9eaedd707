//! Drives that run policies from outside: those of the program that uses the crate, and those that it brings along,
//! from a library or a script.

use crate::config::{ConfigError, ConfigErrors, FamilyInfo, KeyAt, Problem};
use crate::drive_config::DriveConfig;
use crate::ftl::outside::Record;
pub use crate::ftl::outside::{Identity, LaneCall, LanePolicy, PolicyFault};
pub use crate::ftl::stream::external::{StreamPolicy, Unit, UnitCall};
pub use crate::ftl::tables::blocks::NOT_ELIGIBLE;
#[allow(unused_imports)] // no technique in the list may take policies from outside
use crate::ftl::techniques::*;
use crate::ftl::{Ftl, gc_victim, stream};

/// What there is for each family that takes policies from outside, those of techniques among them: each with what a
/// policy must answer that is checked, and where it lies in the translation layer.
macro_rules! outside {
    (
        { $($(#[doc = $before:literal])+ $family:ident: $policy:ident, at ($($field:ident).+);)+ }
        @techniques { $(
            $(#[$told:meta])* $folder:ident : $name:ident = $section:literal is [$($facet:ident)*]
            $(, cause $cause:ident($number:literal) $called:literal)? $(, external $outside:ident)?;
        )* }
        @members { $($members:tt)* }
    ) => {
        outside! {
            $($(#[doc = $before])+ $family: $policy, at ($($field).+);)+
            $($(
                #[doc = concat!("What decides in place of `", $section, "`.")]
                $folder: $outside, at (moves.media.techniques.$folder.policy);
            )?)*
        }
    };
    ($($(#[doc = $doc:expr])+ $family:ident: $policy:ident, at ($($field:ident).+);)+) => {
        /// Policies that a drive is given. What they answer is checked: after a wrong answer the plainest policy
        /// decides, and [`External::fault`] tells it. A drive with any cannot be saved.
        #[derive(Clone, Debug, Default)]
        pub struct ExternalPolicies {
            $($(#[doc = $doc])+ pub $family: Option<Box<dyn $policy>>,)+
            /// Those that are taken at their word.
            pub trusted: TrustedPolicies,
        }

        /// Policies of the program's own, members of their families: each decides in place of the one that the
        /// configuration names, whichever that is. A wrong answer is a panic.
        #[derive(Clone, Debug, Default)]
        pub struct TrustedPolicies {
            $($(#[doc = $doc])+ pub $family: Option<Box<dyn $family::External>>,)+
        }

        /// How many families there are.
        const FAMILIES: usize = [$(stringify!($family)),+].len();

        impl TrustedPolicies {
            fn given(&self) -> [bool; FAMILIES] {
                [$(self.$family.is_some()),+]
            }

            /// Each takes its place. That of streams is one that a drive is built around: it is taken before.
            pub(crate) fn take_over(self, ftl: &mut Ftl) {
                $(if let Some(policy) = self.$family {
                    ftl.$($field).+ = $family::Policy::External(policy);
                })+
                ftl.moves.media.techniques.look_who_is_on();
            }
        }

        impl ExternalPolicies {
            /// Whether there is one to be checked for each family.
            fn given(&self) -> [bool; FAMILIES] {
                [$(self.$family.is_some()),+]
            }

            /// Those that are checked, by the section of their family.
            pub fn identities(&self) -> Vec<(String, Identity)> {
                let all = [$((&$family::FAMILY, self.$family.as_ref().map(|it| it.identity()))),+];
                all.into_iter().filter_map(|(family, found)| Some((family.section(), found?))).collect()
            }

            /// All of them, those that are checked behind what checks them.
            pub(crate) fn checked(self, cfg: &DriveConfig) -> TrustedPolicies {
                let mut all = self.trusted;
                $(if let Some(policy) = self.$family {
                    all.$family.get_or_insert_with(|| $family::external::checked(&cfg.$family, policy));
                })+
                all
            }
        }

        impl DriveConfig {
            /// The families that take policies from outside, and whether each asks for one.
            pub fn asks_for_policies(&self) -> [(&'static FamilyInfo, bool); FAMILIES] {
                [$((&$family::FAMILY, self.$family.is_external())),+]
            }

            /// The policies of these families, by name.
            fn named(&self) -> [&'static str; FAMILIES] {
                [$(self.$family.name()),+]
            }
        }

        impl External<'_> {
            /// Families whose policy comes from outside.
            fn families(self) -> [Option<&'static FamilyInfo>; FAMILIES] {
                [$(match self.ftl.$($field).+ {
                    $family::Policy::External(_) => Some(&$family::FAMILY),
                    _ => None,
                }),+]
            }

            /// Copies of those that another drive of this configuration asks for, as they are now: to try something out
            /// beside this one.
            pub fn copies_for(self, cfg: &DriveConfig) -> ExternalPolicies {
                let mut copies = TrustedPolicies::default();
                $(if let $family::Policy::External(policy) = &self.ftl.$($field).+
                    && cfg.$family.is_external()
                {
                    copies.$family = Some(policy.clone());
                })+
                copies.into()
            }

            /// Those that are checked, by the section of their family, and how often each was asked.
            pub fn asked(self) -> Vec<(String, Identity, u64)> {
                let all = [$((&$family::FAMILY, self.ftl.$($field).+.record())),+];
                let told = |(family, found): (&FamilyInfo, Option<&Record>)| {
                    found.map(|record| (family.section(), record.identity.clone(), record.calls))
                };
                all.into_iter().filter_map(told).collect()
            }
        }

        impl<'a> External<'a> {
            /// What one did wrong, if one did: it is not asked any more, and whoever runs the drive should end that.
            #[inline]
            pub fn fault(self) -> Option<&'a PolicyFault> {
                let all = [$(self.ftl.$($field).+.record()),+];
                all.into_iter().flatten().find_map(|record| record.fault.as_deref())
            }
        }
    };
}

techniques! { outside! {
    {
        /// Which block is reclaimed (`ftl.gc_victim`): one that [`LaneView::eligible`] names.
        ///
        /// [`LaneView::eligible`]: crate::ftl::tables::blocks::LaneView::eligible
        gc_victim: LanePolicy, at (moves.media.cleaning.victim);
        /// Which data shares a block (`ftl.stream`), in as many streams as lanes have blocks to spare for.
        stream: StreamPolicy, at (moves.separation.policy);
    }
} }

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

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        !self.given().contains(&true) && !self.trusted.given().contains(&true)
    }
}

impl DriveConfig {
    /// Is there a policy for each family that asks for one, and none to be checked for another? The errors name the
    /// families' keys.
    pub fn missing_policies(&self, policies: &ExternalPolicies) -> Result<(), ConfigErrors> {
        let given = policies.given().into_iter().zip(policies.trusted.given()).zip(self.named());
        let mut errors = Vec::new();
        for ((family, is_asked), ((is_given, is_trusted), named)) in
            self.asks_for_policies().into_iter().zip(given)
        {
            let name = family.path.rsplit('/').next().unwrap_or(family.path);
            let (found, allowed) = match (is_asked, is_given || is_asked && is_trusted) {
                (true, false) => (
                    format!("\"{named}\", but no policy is given"),
                    format!(
                        "--policy {name}=FILE (a library; in a file: [policy] {name} = \"FILE\", with \
                         --allow-libraries), in Rust Drive::with_policies, or a policy that `wordline policies \
                         {name}` lists"
                    ),
                ),
                (false, true) => (
                    format!("\"{named}\", but an external policy is given"),
                    "\"external\" where one is given".to_owned(),
                ),
                _ => continue,
            };
            let keys = vec![KeyAt { key: format!("{}.policy", family.section()), origin: None }];
            errors.push(ConfigError { keys, origin: None, problem: Problem::Conflict { found, allowed } });
        }
        if errors.is_empty() { Ok(()) } else { Err(ConfigErrors(errors)) }
    }
}

/// The policies of a drive that came from outside ([`Drive::external`](crate::Drive::external)).
#[derive(Clone, Copy, Debug)]
pub struct External<'a> {
    pub(crate) ftl: &'a Ftl,
}

impl<'a> External<'a> {
    /// The section of a family whose policy comes from outside, if one does.
    pub(crate) fn family(self) -> Option<String> {
        self.families().into_iter().flatten().next().map(|family| family.section())
    }

    /// Whether one decides anything.
    pub fn decides(self) -> bool {
        self.family().is_some()
    }

    /// The policy that chooses which block is reclaimed, from wherever.
    pub fn gc_victim(self) -> &'a gc_victim::Policy {
        &self.ftl.moves.media.cleaning.victim
    }
}
