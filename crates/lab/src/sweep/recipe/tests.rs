use super::*;

/// Sweeps in which different things vary; together they ask everything that is remembered.
const SWEEPS: [&str; 6] = [
    // Sized to what the workload needs, with policies, cells, seeds and a loop of many depths.
    "[run]\nsize = \"footprint\"\n[workload]\npattern = \"zipf\"\ncount = 1000\nfootprint_gib = 0.25\n\
     [sweep]\nrepeats = 2\nseed = 7\n[grid]\nftl.gc_victim.policy = [\"greedy\", \"d_choices\"]\n\
     workload.read_percent = [0, 50]\nnand.errors.model = [\"none\", \"cells\"]\n\
     [zip]\ndrive.over_provisioning_percent = [10, 60]\nrun.depth = [1, 2]\n\
     [sample]\ncount = 3\nnand.timing.t_read_us = { from = 30, to = 40 }\n",
    // Whole drives, and whole workloads.
    "[workload]\npattern = \"zipf\"\ncount = 1000\n[grid]\npreset = [\"m64\", \"tlc\"]\n\
     workload = [{ pattern = \"uniform\", count = 5 }, { pattern = \"sequential\" }]\n\
     nand.errors.model = [\"none\", \"cells\"]\n",
    // Aged as another.
    "preset = \"m64\"\n[nand.errors]\nmodel = \"cells\"\n[run]\nage = [\"cycle to 1000\"]\n\
     [workload]\npattern = \"zipf\"\n[sweep]\nage_with = \"base\"\n[grid]\n\
     nand.timing.t_program_us = [300, 400.5]\nrun.depth = [4, 8]\nrun.samples = [0, 10]\n\
     ftl.gc_victim.policy = [\"greedy\", \"fifo\"]\n",
    // Parts that bring sections of their own, before what is set.
    "[workload]\npattern = \"uniform\"\n[nand.geometry]\nblocks_per_plane = 80\n[grid]\n\
     nand.part = [\"rftl\", \"rhs\"]\nftl.cleaning.reserve_blocks = [1, 2]\n",
    // What the workload's size is decides the drive; capacities decide whether it does.
    "[workload]\npattern = \"uniform\"\ncount = 10\n[grid]\nworkload.footprint_gib = [0.5, 1.0]\n\
     nand.geometry.chips_per_channel = [1, 2]\n",
    "[workload]\npattern = \"uniform\"\ncount = 10\n[zip]\ndrive.logical_gib = [20, 30]\ndrive.seed = [1, 2]\n",
];

fn read(text: &str) -> Recipe {
    Recipe::read(Path::new("s.toml"), text.to_owned(), Outside::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn told(recipe: &Recipe, number: usize) -> (String, u64, u64, String, Option<String>) {
    let run = recipe.plan_run(number, &mut |spec: &Spec| spec.prepare());
    let run = run.unwrap_or_else(|error| panic!("{number}: {error}"));
    let (config, aged_as) = recipe.configuration(number).unwrap_or_else(|error| panic!("{number}: {error}"));
    (run.id, run.drive, run.workload_hash, config, aged_as)
}

#[test]
fn what_is_remembered_is_what_would_be_worked_out() {
    for text in SWEEPS {
        let (all, mut ids) = (read(text), Vec::new());
        for number in 0..all.sweep.runs() {
            let remembered = told(&all, number);
            // By a recipe that knows nothing yet, and remembers nothing.
            let mut alone = read(text);
            alone.base = alone.base.forgetting();
            assert_eq!(remembered, told(&alone, number), "{}", name_of(&all.sweep.point(number)));
            ids.push(remembered.0);
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all.sweep.runs(), "{text}");
    }
}

/// Policies are compared on one drive, though one of them needs more room; a workload that needs more has its own.
#[test]
fn policies_are_compared_on_one_drive() {
    let text = "[workload]\npattern = \"uniform\"\ncount = 10\n[grid]\nworkload.footprint_gib = [1, 30]\n\
                ftl.stream.policy = [\"none\", \"placement_id\"]\n";
    let survey: &mut Survey<'_> = &mut |spec: &Spec| spec.prepare();
    let blocks = |recipe: &Recipe| -> Vec<u32> {
        let config = |number| recipe.plan(&recipe.sweep.point(number), &mut |spec: &Spec| spec.prepare());
        let blocks = |number| config(number).unwrap().0.resolved.config.geometry.blocks_per_plane;
        (0..recipe.sweep.runs()).map(blocks).collect()
    };
    let mut recipe = read(text);
    let apart = blocks(&recipe);
    recipe.level(survey, &mut |_| Ok(())).unwrap();
    let together = blocks(&recipe);
    assert!(apart[0] < apart[1] && together[0] == apart[1], "{apart:?}, {together:?}");
    assert!(together[0] == together[1] && together[2] == together[3] && together[1] < together[2]);
}

#[test]
fn what_is_wrong_is_told_as_if_nothing_were_remembered() {
    for (text, place) in [
        ("[grid]\nftl.gc_victim.policy = [\"fifo\", \"fifi\"]\n", "s.toml:4: ftl.gc_victim.policy"),
        ("[grid]\nnand.timing.t_read_us = [30, -1]\n", "s.toml:4: nand.timing.t_read_us"),
        ("[grid]\nrun.depth = [1, 100000]\n", "s.toml:4: run.depth"),
        ("[grid]\nworkload.read_percent = [1, 101]\n", "s.toml:4: workload.read_percent"),
        ("[grid]\ndrive.over_provisioning_percent = [7, 0.001]\n", "drive.over_provisioning_percent"),
        ("[run]\ndpeth = 3\n[grid]\ndrive.seed = [1, 2]\n", "s.toml:4: run.dpeth"),
    ] {
        let text = format!("preset = \"m64\"\nworkload = {{ pattern = \"uniform\" }}\n{text}");
        let fails = |recipe: Recipe| {
            let plan = |number| recipe.plan_run(number, &mut |spec: &Spec| spec.prepare()).err();
            (0..recipe.sweep.runs()).find_map(plan).expect("it is wrong").message
        };
        let mut alone = read(&text);
        alone.base = alone.base.forgetting();
        let message = fails(read(&text));
        assert_eq!(message, fails(alone));
        assert!(message.contains(place), "{message}");
    }
}
