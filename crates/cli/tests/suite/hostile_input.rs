//! Input as a hostile or an unlucky user gives it: told as what it is, in bounded memory, and never taken for something
//! else.

use crate::program::{file, folder, wordline};

#[test]
fn a_mistake_in_toml_is_told_with_its_line_wherever_a_configuration_stands() {
    let folder = folder("toml_syntax");
    for (name, text, line) in [
        ("table.toml", "preset = \"tlc\"\n[workload\npattern = \"uniform\"\n", 2),
        ("quote.toml", "[workload]\npattern = \"uniform\ncount = 10\n", 2),
        ("twice.toml", "[workload]\npattern = \"uniform\"\npattern = \"zipf\"\n", 3),
        ("value.toml", "[workload]\npattern = \"uniform\"\n[drive]\nseed = \n", 4),
    ] {
        let config = file(&folder, name, text);
        let place = format!("{name}:{line}: not valid TOML");
        wordline(&["run", &config]).fails(2, &[&place]);
        wordline(&["run", "-c", &config]).fails(2, &[&place]);
        wordline(&["run", "-c", &config, "--synthetic", "uniform"]).fails(2, &[&place]);
        wordline(&["explain", &config]).fails(2, &[&place]);
        wordline(&["trace", "info", &config]).fails(2, &[name]);
        let out = folder.join("out").display().to_string();
        let of_sweep = format!("{name}:{line}");
        wordline(&["sweep", &config, "-o", &out]).fails(2, &[&of_sweep, "TOML"]);
    }
}
