//! `--age STEP --of PART`: each part belongs to the step before it, so that the order of the flags counts.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use lab::AgeSteps;
use ssd::config::{ConfigError, ConfigErrors, KeyAt, Origin, Problem};

use crate::failure::Failure;

/// Steps in their order, each with the parts that follow it.
#[derive(Clone, Debug, Default)]
pub struct AgeArgs {
    steps: Vec<(String, Vec<String>)>,
    /// A part in front of the first step.
    stray: Option<String>,
}

impl Args for AgeArgs {
    fn augment_args(command: Command) -> Command {
        command
            .arg(
                Arg::new("age").long("age").value_name("STEP").action(ArgAction::Append).help(
                    "Then age its cells, such as \"cycle to 3000\" or \"retain 12 months at 55 C\"; may be repeated",
                ),
            )
            .arg(
                Arg::new("of")
                    .long("of")
                    .value_name("PART")
                    .action(ArgAction::Append)
                    .allow_hyphen_values(true)
                    .help(
                        "Limit the --age before it to data of this part of the logical space, such as 0%-50% or \
                         4GiB-8GiB: old data beside new",
                    ),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AgeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |id: &str| -> Vec<(usize, String)> {
            let texts = matches.get_many::<String>(id).into_iter().flatten().cloned();
            matches.indices_of(id).into_iter().flatten().zip(texts).collect()
        };
        let mut args = AgeArgs::default();
        let steps = given("age");
        let mut parts = given("of").into_iter().peekable();
        args.stray =
            parts.next_if(|(at, _)| steps.first().is_none_or(|(first, _)| at < first)).map(|(_, part)| part);
        for (number, (_, step)) in steps.iter().enumerate() {
            let end = steps.get(number + 1).map_or(usize::MAX, |(next, _)| *next);
            let own = std::iter::from_fn(|| parts.next_if(|(at, _)| *at < end)).map(|(_, part)| part);
            args.steps.push((step.clone(), own.collect()));
        }
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl AgeArgs {
    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The steps, as `run.age` has them.
    pub fn steps(&self) -> Result<AgeSteps, Failure> {
        if let Some(part) = &self.stray {
            return Err(Failure::usage(format!(
                "--of {part}: found no --age before it, allowed: --age STEP --of PART"
            )));
        }
        let mut all = AgeSteps::default();
        for (text, parts) in &self.steps {
            let flags: String = parts.iter().map(|part| format!(" --of {part:?}")).collect();
            let wrong = |problem: Problem| {
                let origin = Some(Origin { source: format!("--age {text:?}{flags}"), line: None });
                let keys = vec![KeyAt { key: "run.age".to_owned(), origin: origin.clone() }];
                ConfigErrors::from(ConfigError { keys, origin, problem })
            };
            let mut steps = AgeSteps::parse(&[text]).map_err(wrong)?;
            for part in parts {
                steps = steps.limited_to(part).map_err(wrong)?;
            }
            all.0.extend(steps.0);
        }
        Ok(all)
    }
}
