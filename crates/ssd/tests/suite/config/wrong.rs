//! Wrong configurations, and how each is told.

use super::{assert_has, refused};
use crate::support::every::is_gone;

/// A wrong text, and what its message must hold: place and key, what was found, what is allowed, the near match.
const WRONG: &[(&str, &[&str])] = &[
    (
        "[nand.timing]\nt_read_ms = 3",
        &[
            "my.toml:2: nand.timing.t_read_ms: no such key",
            "t_read_ms = 3",
            "t_read_us, ",
            "mean t_read_us? Its unit is us",
        ],
    ),
    (
        "\n[nand.geometry]\nchanels = 4",
        &[
            "my.toml:3: nand.geometry.chanels: no such key",
            "chanels = 4",
            "channels, chips_per_channel",
            "mean channels?",
        ],
    ),
    (
        "[nand.timing]\nbits_per_cell = 3",
        &[
            "my.toml:2: nand.timing.bits_per_cell: no such key",
            "t_erase_us",
            "mean nand.geometry.bits_per_cell?",
        ],
    ),
    ("[nand.cell]\nchannels_us = 1", &["my.toml:2: nand.cell.channels_us", "gray_code, program_order"]),
    (
        "[nand.geometry]\nchannels_count = 1\nchannels_us = 1",
        &["my.toml:3: nand.geometry.channels_us", "mean channels? It has no unit"],
    ),
    (
        "[nand.timng]\nt_read_us = 3",
        &["my.toml:1: nand.timng: no such section", "[nand.timng]", "nand.timing, ", "mean [nand.timing]?"],
    ),
    (
        "# x\n\n[nan.geometry]\nchannels = 3",
        &["my.toml:3: nan.geometry", "[nan.geometry]", "mean [nand.geometry]?"],
    ),
    ("[timing]\nt_read_us = 3", &["my.toml:1: timing: no such section", "mean [nand.timing]?"]),
    ("[worklod]\nkind = 3", &["my.toml:1: worklod: no such section", "workload, run", "mean [workload]?"]),
    ("seed = 3", &["my.toml:1: seed: no such key", "preset, [drive]", "mean drive.seed?"]),
    ("presett = \"tlc\"", &["my.toml:1: presett: no such key", "preset, ", "mean preset?"]),
    ("nand = \"tlc\"", &["my.toml:1: nand: wrong type", "\"tlc\"", "a section: [nand]"]),
    ("drive = 3", &["my.toml:1: drive: wrong type", "found:   3", "a section: [drive]"]),
    (
        "[[host.queues]]\ndepth = 3",
        &["my.toml:1: host.queues: wrong type", "[a table]", "a section: [host.queues]"],
    ),
    ("preset = 3", &["my.toml:1: preset: wrong type", "found:   3", "name of a preset"]),
    (
        "preset = \"tlcc\"",
        &["my.toml:1: preset: no such preset", "\"tlcc\"", "tlc, qlc, m64", "mean \"tlc\"?"],
    ),
    (
        "[nand]\npart = \"rfdl\"",
        &["my.toml:2: nand.part: no such NAND part", "\"rfdl\"", "rhs", "mean \"rftl\"?"],
    ),
    (
        "[ftl.gc_victim]\nd = 3\npolicy = \"gredy\"",
        &[
            "my.toml:3: ftl.gc_victim.policy: no such policy",
            "\"gredy\"",
            "greedy, cost_benefit",
            "mean \"greedy\"?",
        ],
    ),
    (
        "[ftl.read_reclaim]\npolicy = \"oracle\"",
        &[
            "my.toml:2: ftl.read_reclaim.policy: no such policy",
            "found:   \"oracle\"",
            "allowed: never, block, page_type, lazy_exact",
            "\"oracle\" is called \"lazy_exact\" now",
        ],
    ),
    (
        "[ftl.gc_victim]\npolicy = 3",
        &["my.toml:2: ftl.gc_victim.policy: wrong type", "found:   3", "greedy, cost_benefit"],
    ),
    (
        "[ftl.gc_victim]\npolicy = \"greedy\"\nd = 3",
        &[
            "my.toml:3: ftl.gc_victim.d: not a parameter",
            "policy = \"greedy\"",
            "have d: d_choices",
            "policy (my.toml:2)",
        ],
    ),
    (
        "[host.buffer]\nsize_gib = 3",
        &[
            "my.toml:2: host.buffer.size_gib: no such key",
            "policy, size_mib",
            "mean size_mib? Its unit is MiB",
        ],
    ),
    ("[nand.cell]\npolicy = \"greedy\"", &["my.toml:2: nand.cell.policy: no such key", "gray_code"]),
    ("[drive]\nseed = \"one\"", &["my.toml:2: drive.seed: wrong type", "\"one\"", "a whole number"]),
    ("[drive]\nseed = 1.5", &["my.toml:2: drive.seed: wrong type", "1.5", "a whole number"]),
    ("[drive]\nseed = -1", &["my.toml:2: drive.seed: out of range", "-1", "a whole number"]),
    (
        "[drive]\nlogical_gib = nan",
        &["my.toml:2: drive.logical_gib: out of range", "nan", "0 to 1000000 GiB"],
    ),
    (
        "[drive]\nlogical_gib = inf",
        &["my.toml:2: drive.logical_gib: out of range", "inf", "0 to 1000000 GiB"],
    ),
    ("[drive]\nseed = 1979-05-27", &["my.toml:2: drive.seed: wrong type", "a date or time"]),
    ("[drive.rating]\ntbv = 1", &["my.toml:2: drive.rating.tbv: no such key", "mean tbw?"]),
    ("[drive.rating]\ntbw = -1", &["my.toml:2: drive.rating.tbw: out of range", "TB"]),
    ("[drive.rating]\nworkload = \"randm\"", &["drive.rating.workload: no such value", "\"random\""]),
    ("[drive.seed]\nx = 1", &["my.toml:1: drive.seed: wrong type", "a table"]),
    (
        "[host.queues]\ndepth = 0",
        &["my.toml:2: host.queues.depth: out of range", "found:   0", "1 to 65536 commands"],
    ),
    (
        "[host.queues]\ncount = true",
        &["my.toml:2: host.queues.count: wrong type", "true", "1 to 65536 queues"],
    ),
    (
        "[host.queues]\ncount = 257\ndepth = 256",
        &[
            "my.toml:3: host.queues.depth: impossible",
            "257 x 256",
            "at most 65536",
            "host.queues.count (my.toml:2)",
        ],
    ),
    (
        "[flash.scheduling]\nmulti_plane = \"yes\"",
        &["my.toml:2: flash.scheduling.multi_plane", "\"yes\"", "true or false"],
    ),
    (
        "[ftl.allocation]\nsuperblock = \"plane\"",
        &[
            "my.toml:2: ftl.allocation.superblock: no such value",
            "\"plane\"",
            "none, planes, all",
            "mean \"planes\"?",
        ],
    ),
    (
        "[nand.timing]\nt_read_us = \"75 ounces\"",
        &["my.toml:2: nand.timing.t_read_us: wrong type", "\"75 ounces\"", "list of numbers"],
    ),
    (
        "[nand.timing]\nt_read_us = [1, -2, 3]",
        &["my.toml:2: nand.timing.t_read_us: out of range", "-2", "0 to 1000000 us"],
    ),
    (
        "[nand.timing]\nt_read_us = [50, 60]",
        &[
            "my.toml:2: nand.timing.t_read_us: impossible",
            "a list of 2",
            "one number, or 3",
            "bits_per_cell (its default)",
        ],
    ),
    (
        "[nand.timing]\nt_program_us = []",
        &["my.toml:2: nand.timing.t_program_us", "a list of 0", "one number, or 3"],
    ),
    (
        "[nand.cell]\ngray_code = [1, 2]",
        &["my.toml:2: nand.cell.gray_code: wrong type", "[1, 2]", "list of lists"],
    ),
    (
        "[nand.cell]\ngray_code = [[1, 16]]",
        &["my.toml:2: nand.cell.gray_code: out of range", "16", "1 to 15"],
    ),
    (
        "[nand.cell]\ngray_code = [[1]]",
        &["my.toml:2: nand.cell.gray_code: impossible", "1 page types", "3 rows"],
    ),
    (
        "[nand.cell]\ngray_code = [[4], [2, 6], [1, 3, 5]]",
        &[
            "my.toml:2: nand.cell.gray_code: impossible",
            "leaves out threshold 7",
            "each threshold of 1 to 7 exactly once",
        ],
    ),
    (
        "[nand.cell]\ngray_code = [[1], [2], [3, 4, 5, 6, 7]]",
        &["my.toml:2: nand.cell.gray_code", "the same bits"],
    ),
    (
        "[nand.geometry]\nchannels = 0",
        &["my.toml:2: nand.geometry.channels: out of range", "found:   0", "1 to 256"],
    ),
    (
        "[nand.geometry]\npage_bytes = 6144",
        &["my.toml:2: nand.geometry.page_bytes", "6144", "multiple of 4096", "\"page\""],
    ),
    (
        "[ftl.mapping]\nunit = \"page\"\n[nand.geometry]\npage_bytes = 1000",
        &["my.toml:4: nand.geometry.page_bytes: impossible", "1000 bytes", "multiple of 512"],
    ),
    (
        "[nand.geometry]\nblocks_per_plane = 4_000_000",
        &[
            "my.toml:2: nand.geometry.blocks_per_plane: impossible",
            "393216000000 mapping",
            "at most 4294967294",
        ],
    ),
    (
        "[drive]\nlogical_gib = 97",
        &[
            "my.toml:2: drive.logical_gib: impossible",
            "97 GiB logical on 96 GiB physical",
            "less than the physical 96 GiB",
        ],
    ),
    (
        "[drive]\nraw_gib = 97",
        &[
            "my.toml:2: drive.raw_gib: impossible",
            "97 GiB, of 96 GiB of flash",
            "at most 96 GiB, 0 for all of it",
            "nand.geometry.blocks_per_plane",
        ],
    ),
    (
        "[drive]\nraw_gib = 40\nlogical_gib = 41",
        &[
            "my.toml:3: drive.logical_gib: impossible",
            "41 GiB logical on 40.125 GiB used",
            "raw_gib (my.toml:2)",
        ],
    ),
    (
        "[drive]\nraw_gib = 40\nlogical_gib = 39.9",
        &[
            "my.toml:3: drive.logical_gib: impossible",
            "at least 4 superblocks beyond the data",
            "logical_gib at most 38.625, or raw_gib at least 41.625",
            "drive.raw_gib (my.toml:2)",
        ],
    ),
    (
        "[drive]\nraw_gib = 95.9\nlogical_gib = 95.8",
        &["my.toml:3: drive.logical_gib: impossible", "logical_gib at most 94.5\n"],
    ),
    (
        "[drive]\nraw_gib = 30\nlogical_gib = 20\nover_provisioning_percent = 28",
        &[
            "my.toml:4: drive.over_provisioning_percent: impossible",
            "28 %, with 30 GiB of flash for 20 GiB, which leave 50 %",
            "allowed: 50 %, or no more than two of the three keys",
            "drive.raw_gib (my.toml:2)",
            "drive.logical_gib (my.toml:3)",
        ],
    ),
    (
        "[ftl]\nparity_percent = 2.5\n[ftl.slc_cache]\npolicy = \"fixed\"",
        &["my.toml:2: ftl.parity_percent: impossible", "\"fixed\"", "ftl.slc_cache.policy = \"none\""],
    ),
    (
        "[ftl]\nparity_percent = 2.5\n[nand.cell]\none_shot = true",
        &["my.toml:2: ftl.parity_percent: impossible", "at once", "nand.cell.one_shot (my.toml:4)"],
    ),
    (
        "[ftl]\nparity_percent = 2.5\n[ftl.mapping]\nunit = \"32kib\"",
        &[
            "my.toml:2: ftl.parity_percent: impossible",
            "2.5 %, with units of 2 pages",
            "ftl.mapping.unit (my.toml:4)",
        ],
    ),
    (
        "[ftl.sanitize]\npolicy = \"erase\"\n[ftl]\nparity_percent = 2.5",
        &["ftl.parity_percent", "2.5 %, which would tell of what \"erase\" hides", "my.toml:2"],
    ),
    (
        "[ftl]\nparity_percent = 100\n[nand.geometry]\nwordlines_per_block = 1\nbits_per_cell = 1\nplanes_per_die = 3",
        &[
            "my.toml:2: ftl.parity_percent: impossible",
            "less than two pages of data",
            "wordlines_per_block (my.toml:4)",
        ],
    ),
    ("[ftl]\nparity_percent = 101", &["my.toml:2: ftl.parity_percent: out of range", "0 to 100 %"]),
    ("[ftl]\nparity = 2", &["my.toml:2: ftl.parity: no such key", "mean parity_percent? Its unit is %"]),
    ("[ftl]\nmapping = 2", &["my.toml:2: ftl.mapping: wrong type", "a section: [ftl.mapping]"]),
    ("[ftl.maping]\nunit = \"page\"", &["my.toml:1: ftl.maping: no such section", "mean [ftl.mapping]?"]),
    ("ftl = 3", &["my.toml:1: ftl: wrong type", "a section: [ftl]"]),
    ("[drive]\nraw_gb = 30", &["my.toml:2: drive.raw_gb: no such key", "mean raw_gib?"]),
    (
        "[drive]\nlogical_gib = 0.000001",
        &["my.toml:2: drive.logical_gib: impossible", "no mapping unit left", "96 GiB"],
    ),
    (
        "preset = \"tlc\"\n[drive]\nover_provisioning_percent = 0.1",
        &[
            "my.toml:3: drive.over_provisioning_percent: impossible",
            "32 lanes",
            "at least 4 superblocks beyond the data",
            "at least",
        ],
    ),
    (
        "[ftl.allocation]\nplacement = \"static\"\n[ftl.mapping]\nunit = \"page\"",
        &[
            "my.toml:2: ftl.allocation.placement: impossible",
            "superblocks (\"planes\") of 2 planes",
            "ftl.allocation.superblock = \"none\", or ftl.allocation.placement = \"dynamic\"",
            "see also ftl.allocation.superblock (its default)",
        ],
    ),
    (
        "[ftl.allocation]\nplacement = \"static\"\nsuperblock = \"none\"",
        &[
            "my.toml:2: ftl.allocation.placement: impossible",
            "pages of 4 separately mapped units",
            "ftl.mapping.unit = \"page\", or",
            "see also ftl.mapping.unit (its default)",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"16kb\"",
        &[
            "my.toml:2: ftl.mapping.unit: no such value",
            "\"16kb\"",
            "page, 4kib, 16kib, 32kib, 64kib",
            "mean \"16kib\"?",
        ],
    ),
    (
        "[nand.cell]\none_shot = true\nprogram_order = \"shadow\"",
        &[
            "my.toml:2: nand.cell.one_shot: impossible",
            "a wordline's 3 pages in one program, in an order (\"shadow\") with others between them",
            "nand.cell.program_order = \"wordline_major\", or nand.cell.one_shot = false",
            "see also nand.cell.program_order (my.toml:3)",
        ],
    ),
    (
        "[nand.cell]\none_shoot = true",
        &["my.toml:2: nand.cell.one_shoot: no such key", "program_order, one_shot", "mean one_shot?"],
    ),
    ("[nand.cell]\none_shot = 1", &["my.toml:2: nand.cell.one_shot", "1", "true or false"]),
    (
        "[nand.cell]\none_shot = true\n[nand.geometry]\npage_bytes = 32768",
        &[
            "my.toml:2: nand.cell.one_shot: impossible",
            "programs of 3 pages of 32768 bytes, 24 mapping units in all",
            "at most 16 units in a program: pages of at most 20480 bytes, larger units, or nand.cell.one_shot = false",
            "see also ftl.mapping.unit (its default)",
            "nand.geometry.page_bytes (my.toml:4)",
        ],
    ),
    (
        "[nand.cell]\none_shot = true\n[ftl.mapping]\nunit = \"32kib\"",
        &[
            "my.toml:2: nand.cell.one_shot: impossible",
            "a wordline's 3 pages in one program, with units of 2 pages (\"32kib\") in planes side by side",
            "units of at most a page, such as \"page\", or nand.cell.one_shot = false",
            "see also ftl.mapping.unit (my.toml:4)",
        ],
    ),
    (
        "[nand.cell]\none_shot = true\n[ftl.mapping]\nunit = \"page\"\n[ftl.allocation]\nplacement = \"static\"\n\
         superblock = \"none\"",
        &[
            "my.toml:2: nand.cell.one_shot: impossible",
            "a fixed plane for each logical page, with 3 pages that are programmed at once",
            "ftl.allocation.placement = \"dynamic\", or nand.cell.one_shot = false",
            "see also ftl.allocation.placement (my.toml:6)",
        ],
    ),
    (
        "[nand.cell]\none_shot = true\n[ftl.sanitize]\npolicy = \"erase\"",
        &[
            "my.toml:2: nand.cell.one_shot: impossible",
            "\"erase\", which programs single pages, with 3 that are programmed at once",
            "ftl.sanitize.policy = \"none\", or nand.cell.one_shot = false",
            "see also ftl.sanitize.policy (my.toml:4)",
        ],
    ),
    (
        "[nand.cell]\none_shot = true\n[ftl.read_reclaim]\npolicy = \"block\"",
        &[
            "my.toml:2: nand.cell.one_shot: impossible",
            "ftl.read_reclaim.policy = \"never\", or nand.cell.one_shot = false",
            "see also ftl.read_reclaim.policy (my.toml:4)",
        ],
    ),
    (
        "[nand.cell]\none_shot = true\n[ftl.page_class]\npolicy = \"read_heat\"",
        &[
            "my.toml:2: nand.cell.one_shot: impossible",
            "\"read_heat\", which programs single pages",
            "ftl.page_class.policy = \"sequential\", or nand.cell.one_shot = false",
        ],
    ),
    (
        "[nand.cell]\none_shot = true\n[ftl.slc_cache]\npolicy = \"adaptive\"",
        &[
            "my.toml:2: nand.cell.one_shot: impossible",
            "\"adaptive\", which programs single pages",
            "ftl.slc_cache.policy = \"none\", or nand.cell.one_shot = false",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"page\"\n[nand.cell]\none_shot = true\n[ftl.migration]\npolicy = \"copyback_always\"",
        &[
            "my.toml:6: ftl.migration.policy: impossible",
            "copyback (\"copyback_always\"), which programs single pages, with 3 that are programmed at once",
            "nand.cell.one_shot = false, or ftl.migration.policy = \"off_chip\"",
            "see also nand.cell.one_shot (my.toml:4)",
        ],
    ),
    (
        "preset = \"longlive\"\n[nand.cell]\none_shot = true\n[ftl.age_marker]\npolicy = \"real_wear\"",
        &[
            "my.toml:5: ftl.age_marker.policy: impossible",
            "\"real_wear\", which reads the first page of each block once it is programmed, with wordlines of 3 pages \
             programmed at once",
            "ftl.age_marker.policy = \"pe_cycles\", or nand.cell.one_shot = false",
            "see also nand.cell.one_shot (my.toml:3)",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"32kib\"\n[nand.geometry]\npage_bytes = 49152",
        &[
            "my.toml:4: nand.geometry.page_bytes: impossible",
            "pages of 49152 bytes, mapped in units of 32 KiB",
            "a multiple of 32768 bytes, or ftl.mapping.unit = \"page\"",
            "see also ftl.mapping.unit (my.toml:2)",
        ],
    ),
    (
        "[nand.geometry]\npage_bytes = 3072",
        &[
            "my.toml:2: nand.geometry.page_bytes: impossible",
            "pages of 3072 bytes, mapped in units of 4 KiB",
            "4096 bytes or a divisor of it, or ftl.mapping.unit = \"page\"",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"64kib\"\n[nand.geometry]\npage_bytes = 512",
        &[
            "units of 128 pages (\"64kib\" on pages of 512 bytes), in rows of 2 pages",
            "a multiple of 128 planes",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"64kib\"",
        &[
            "my.toml:2: ftl.mapping.unit: impossible",
            "units of 4 pages (\"64kib\" on pages of 16384 bytes), in rows of 2 pages",
            "units of which a row holds one or several, such as \"page\"; or a multiple of 4 planes",
            "see also nand.geometry.planes_per_die (its default)",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"32kib\"\n[nand.geometry]\nplanes_per_die = 3",
        &[
            "my.toml:2: ftl.mapping.unit: impossible",
            "units of 2 pages (\"32kib\" on pages of 16384 bytes), in rows of 3 pages",
            "a multiple of 2 planes",
            "see also nand.geometry.planes_per_die (my.toml:4)",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"32kib\"\n[ftl.allocation]\nissue = \"page\"",
        &[
            "my.toml:2: ftl.mapping.unit: impossible",
            "in rows of a page",
            "such as \"page\"; or ftl.allocation.issue = \"row\"",
            "see also ftl.allocation.issue (my.toml:4)",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"32kib\"\n[ftl.allocation]\nsuperblock = \"none\"",
        &[
            "my.toml:2: ftl.mapping.unit: impossible",
            "in rows of a page",
            "or ftl.allocation.superblock = \"planes\"",
            "see also ftl.allocation.superblock (my.toml:4)",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"32kib\"\n[ftl.sanitize]\npolicy = \"erase\"",
        &[
            "my.toml:4: ftl.sanitize.policy: impossible",
            "\"erase\", which goes by single pages, with units of 2 (\"32kib\")",
            "ftl.sanitize.policy = \"none\", or ftl.mapping.unit = \"page\"",
            "see also ftl.mapping.unit (my.toml:2)",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"32kib\"\n[ftl.read_reclaim]\npolicy = \"block\"",
        &[
            "my.toml:4: ftl.read_reclaim.policy: impossible",
            "\"block\", which goes by single pages, with units of 2 (\"32kib\")",
            "see also ftl.mapping.unit (my.toml:2)",
        ],
    ),
    (
        "[nand.geometry]\npage_bytes = 131072",
        &[
            "my.toml:2: nand.geometry.page_bytes: impossible",
            "pages of 131072 bytes, mapped in units of 4 KiB",
            "at most 65536 bytes, or ftl.mapping.unit = \"page\"",
            "see also ftl.mapping.unit (its default)",
        ],
    ),
    (
        "preset = \"mqsim\"\n[drive]\nover_provisioning_percent = 20\n\
         [ftl.read_reclaim]\npolicy = \"redftl\"\nreplica_limit = 4",
        &[
            "my.toml:6: ftl.read_reclaim.replica_limit: impossible",
            "replicas in other planes",
            "ftl.read_reclaim.replica_limit = 0, another policy, or",
            "see also ftl.allocation.placement (preset drive/mqsim:",
        ],
    ),
    (
        "[flash.preemption]\npolicy = \"safe_point\"\n[nand.timing]\ncache_operations = true",
        &[
            "my.toml:2: flash.preemption.policy: impossible",
            "\"safe_point\", with the next operation sent to a busy die",
            "nand.timing.cache_operations = false, or flash.preemption.policy = \"none\"",
        ],
    ),
    (
        "[nand.timing]\nindependent_reads = true\n[nand.geometry]\nplanes_per_die = 1",
        &[
            "my.toml:2: nand.timing.independent_reads: impossible",
            "planes that read on their own, in dies of one plane",
            "at least 2 planes, or nand.timing.independent_reads = false",
            "see also nand.geometry.planes_per_die (my.toml:4)",
        ],
    ),
    (
        "[nand.timing]\nindependent_reads = true\ncache_operations = true",
        &[
            "my.toml:2: nand.timing.independent_reads: impossible",
            "planes that read on their own, with the next page sensed while one leaves",
            "see also nand.timing.cache_operations (my.toml:3)",
        ],
    ),
    (
        "[flash.preemption]\npolicy = \"immediate\"\n[flash.scheduling]\norder = \"fifo\"",
        &[
            "my.toml:2: flash.preemption.policy: impossible",
            "for reads that queue with everything else",
            "flash.scheduling.order = \"read_first\", or",
        ],
    ),
    (
        "[flash.preemption]\npolicy = \"priority_aware\"\n[flash.scheduling]\npriorities = \"ignored\"",
        &[
            "my.toml:2: flash.preemption.policy: impossible",
            "with priorities ignored",
            "flash.scheduling.priorities = \"by_class\", or another policy",
        ],
    ),
    (
        "[flash.preemption]\npolicy = \"safe_point\"\nat_once_per_erase = 3",
        &["my.toml:3: flash.preemption.at_once_per_erase", "priority_aware"],
    ),
    (
        "[ftl.allocation]\nplacement = \"statik\"",
        &["my.toml:2: ftl.allocation.placement: no such value", "did you mean \"static\"?"],
    ),
    (
        "[flash.scheduling]\nchannel = \"data\"",
        &["my.toml:2: flash.scheduling.channel: no such value", "commands_first, data_first"],
    ),
    (
        "[host.buffer]\nflush_start_percent = 20\nflush_stop_percent = 30",
        &["my.toml:3: host.buffer.flush_stop_percent: impossible", "30 above 20", "(my.toml:2)"],
    ),
    ("[drive]\nseed = 1\nseed = 2", &["my.toml:3: not valid TOML", "duplicate key", "seed = 2"]),
    ("[drive]\n[nand.cell]\n[drive]", &["my.toml:3: not valid TOML", "duplicate key"]),
    ("a = [1,\n", &["my.toml:", "not valid TOML"]),
    ("[drive\nseed = 1", &["my.toml:1: not valid TOML", "expected `]`", "[drive"]),
    ("\u{0}", &["my.toml:1: not valid TOML"]),
];

#[test]
fn what_is_wrong_is_told_with_place_finding_and_remedy() {
    for (text, parts) in WRONG.iter().filter(|(text, _)| !is_gone(text)) {
        assert_has(&refused(text), parts);
    }
}
