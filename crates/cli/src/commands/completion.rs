//! `wordline completion`: lets a shell complete subcommands and flags.

use std::io::Write;

use clap::Args;
use clap_complete::{Shell, generate};

use crate::failure::Failure;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  source <(wordline completion bash)                                     this bash session
  wordline completion zsh > ~/.zfunc/_wordline                           zsh, if ~/.zfunc is in $fpath
  wordline completion fish > ~/.config/fish/completions/wordline.fish    fish";

/// Flags of `completion`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Completion {
    /// The shell
    shell: Shell,
}

/// Prints the script by which a shell completes a program's command line.
pub fn run(args: &Completion, mut program: clap::Command, out: &mut dyn Write) -> Result<(), Failure> {
    // Into memory first: `generate` panics when it cannot write.
    let mut script = Vec::new();
    generate(args.shell, &mut program, "wordline", &mut script);
    Ok(out.write_all(&script)?)
}
