//! Every policy of every family, and every switch of the configuration, set on a drive. All of it comes from the
//! tables of the crate: what is added there is tested without an edit here.

use ssd::DriveConfig;
use ssd::config::{Field, Kind, Table, Value};
use ssd::flash::op::Cause;
use ssd::ftl::stream;
use ssd::policy::{FAMILIES, FamilyInfo, PolicyInfo, family};
use ssd::sections::{CellPart, ErrorModel, MappingUnit, Placement, ProgramOrder};

/// Every policy that a drive can have, with its family.
pub fn policies() -> impl Iterator<Item = (&'static FamilyInfo, &'static PolicyInfo)> {
    let all =
        FAMILIES.iter().copied().flat_map(|family| family.members.iter().map(move |member| (family, member)));
    all.filter(|(family, member)| is_possible(&family.section(), member.name))
}

/// Whether drives have a family (`ftl.migration`) or a policy of one (`ftl.read_reclaim.redftl`): a technique may have
/// been taken out (`cargo run -p xtask -- remove NAME`).
pub fn has(path: &str) -> bool {
    let has_policy =
        |(section, policy)| family(section).is_some_and(|it| it.members.iter().any(|one| one.name == policy));
    family(path).is_some() || path.rsplit_once('.').is_some_and(has_policy)
}

/// The cause of that name, if the drive has it.
pub fn cause(name: &str) -> Option<Cause> {
    Cause::ALL.into_iter().find(|cause| cause.name() == name)
}

/// Whether a text chooses a policy of a technique that was taken out.
pub fn is_gone(text: &str) -> bool {
    let chosen = |policy: &&str| text.contains(&format!("policy = \"{policy}\""));
    let mut named = ["redftl", "redftl_plus"].into_iter().filter(chosen);
    named.any(|policy| !has(&format!("ftl.read_reclaim.{policy}")))
}

/// The family that a policy cannot do without.
pub fn needs(section: &str, policy: &str) -> Option<&'static str> {
    match (section, policy) {
        ("ftl.wear_leveling", "age_aware") => Some("ftl.age_marker"),
        ("flash.read_voltage", "table_by_age") => Some("ftl.age_marker"),
        ("ftl.migration", "copyback_by_age") => Some("ftl.age_marker"),
        _ => None,
    }
}

/// Whether drives have the family that a policy cannot do without.
pub fn is_possible(section: &str, policy: &str) -> bool {
    needs(section, policy).is_none_or(has)
}

/// Chooses a policy of a family, where drives have that.
pub fn select(cfg: &mut DriveConfig, section: &str, policy: &str) {
    if let Some(table) = cfg.section_mut(section) {
        table.select(policy).unwrap_or_else(|problem| panic!("{section} {policy}: {problem:?}"));
    }
}

/// The policy of a family; the one that does nothing where drives have no such family.
pub fn chosen<'a>(cfg: &'a DriveConfig, section: &str) -> &'a str {
    cfg.section(section).and_then(|table| table.policy()).unwrap_or("none")
}

/// Chooses a policy; where its parameters have these names, it soon has something to do on a small drive.
pub fn choose(cfg: &mut DriveConfig, section: &str, policy: &str) {
    let pages = i128::from(cfg.geometry.pages_per_block());
    let table = cfg.section_mut(section).expect("a family's section");
    table.select(policy).unwrap_or_else(|problem| panic!("{section} {policy}: {problem:?}"));
    for field in table.fields() {
        let value = match field.key {
            "size_mib" => Value::Float(0.5),
            "idle_free_percent" => Value::Float(15.0),
            "max_difference" => Value::Integer(2),
            "max_age_days" => Value::Float(0.01),
            "max_age_difference" => Value::Float(0.000_2),
            "max_reads" => Value::Integer(300),
            "check_interval" => Value::Integer(10),
            "entries" => Value::Integer(3),
            "max_cycles" => Value::Integer(3_002),
            "ahead_reads" => Value::Integer(60),
            "blocks_per_lane" => Value::Integer(3),
            "replica_limit" => Value::Integer(pages / 6),
            _ => continue,
        };
        table.set(field.key, &value).unwrap_or_else(|problem| panic!("{policy}.{}: {problem:?}", field.key));
    }
    match (section, policy) {
        ("ftl.stream", "hotness") | ("host.hotness", "hit_counts") => tell_hotness(cfg),
        ("ftl.program_mode", "hire") if cfg.stream.name() == "none" => tell_hotness(cfg),
        ("ftl.program_mode", "hire") => count_accesses(cfg),
        _ => {}
    }
    if section == "ftl.age_marker" && policy != "none" {
        let_age(cfg);
    }
    if policy == "age_aware" {
        select(cfg, "ftl.age_marker", "pe_cycles");
    }
    if policy == "table_by_age" {
        let_age(cfg);
        select(cfg, "ftl.age_marker", "real_wear");
    }
    if section == "ftl.migration" && policy != "off_chip" {
        cfg.mapping.unit = MappingUnit::Page;
    }
    if policy == "copyback_by_age" {
        know_age(cfg);
    }
    if section == "ftl.page_class" && policy != "sequential" {
        let_sort(cfg);
    }
    if section == "ftl.slc_cache" && policy != "none" {
        let_cache(cfg);
    }
    if section == "ftl.sanitize" && ["scrub", "reprogram"].contains(&policy) {
        cfg.cell.program_order = ProgramOrder::WordlineMajor;
    }
    if section == "ftl.sanitize" && policy == "reprogram" {
        let_reprogram(cfg);
    }
    if section == "ftl.refresh" && policy != "never" {
        cfg.errors.model = ErrorModel::Cells;
    }
    if section == "ftl.program_mode" && policy != "nominal" {
        // Modes are those of cells, and have these names.
        cfg.errors.model = ErrorModel::Cells;
        cfg.cells.modes.names = ["nominal", "high", "low"].map(str::to_owned).to_vec();
    }
}

/// Wordlines hold several pages, and it is known what programming one of them over does to the others.
pub fn let_reprogram(cfg: &mut DriveConfig) {
    let bits = cfg.geometry.bits_per_cell.max(2);
    let part = ["mlc", "tlc_48l", "qlc"][bits as usize - 2];
    cfg.geometry.bits_per_cell = bits;
    cfg.cells = CellPart::preset(part).expect("a shipped part");
}

/// Blocks have ages, and those with the most errors of the cells are taken to be dead after 3000 cycles.
pub fn let_age(cfg: &mut DriveConfig) {
    cfg.errors.model = ErrorModel::Cells;
    cfg.cells.markers = CellPart::preset("tlc_48l").expect("a shipped part").markers;
    let m = &mut cfg.cells.markers;
    (m.guard_bits, m.pe_tprog_margin, m.pe_tprog_ber_margin) = (36.0, 31.0, 33.0);
    cfg.cells.markers.fitted_on = cfg.cells.fingerprint();
}

/// Blocks have ages, as those of the part.
pub fn know_age(cfg: &mut DriveConfig) {
    let_age(cfg);
    cfg.cells.markers.guard_bits = CellPart::preset("tlc_48l").expect("a shipped part").markers.guard_bits;
    cfg.cells.markers.fitted_on = cfg.cells.fingerprint();
    select(cfg, "ftl.age_marker", "real_wear");
}

/// Pages can be chosen by what they hold: no logical page has a plane of its own.
pub fn let_sort(cfg: &mut DriveConfig) {
    cfg.allocation.placement = Placement::Dynamic;
}

/// Blocks can be used with one bit a cell: they hold more than that. Data moves because of reads only if that is chosen
/// after this.
pub fn let_cache(cfg: &mut DriveConfig) {
    cfg.read_reclaim.select("never").expect("a policy");
    cfg.geometry.bits_per_cell = cfg.geometry.bits_per_cell.max(2);
}

/// The buffer counts accesses to what it holds, and data is placed by them.
pub fn tell_hotness(cfg: &mut DriveConfig) {
    cfg.stream.select("hotness").expect("a policy");
    count_accesses(cfg);
}

/// Accesses are counted in a buffer that keeps data.
fn count_accesses(cfg: &mut DriveConfig) {
    cfg.hotness.select("hit_counts").expect("a policy");
    if ["none", "lru_read"].contains(&cfg.buffer.name()) {
        choose(cfg, "host.buffer", "lru_read_write");
    }
}

/// What leaves the buffer clean may be promoted, if data is placed so: all leaves in one order, and is soon read-hot.
pub fn let_promote(cfg: &mut DriveConfig) {
    if stream::Policy::build(&cfg.stream).needs().promotes {
        cfg.buffer.select("lru_read_write").expect("a policy");
        for (key, value) in [("size_mib", Value::Float(0.5)), ("evict", Value::Text("lru".to_owned()))] {
            cfg.buffer.set(key, &value).expect("a parameter");
        }
        cfg.hotness.set("watermark_percent", &Value::Integer(51)).expect("a parameter");
    }
}

/// The drive with as much spare room as its policies need, if more room makes it one; else what is wrong with it, as
/// the configuration's own check says.
pub fn fitted(mut cfg: DriveConfig) -> Result<DriveConfig, String> {
    let_promote(&mut cfg);
    let usual = cfg.drive.over_provisioning_percent;
    let wrong = match cfg.validate() {
        Ok(()) => return Ok(cfg),
        Err(errors) => errors.to_string(),
    };
    for step in 1..12 {
        cfg.drive.over_provisioning_percent = f64::round(usual * f64::powi(1.25, step));
        if cfg.validate().is_ok() {
            return Ok(cfg);
        }
    }
    Err(wrong)
}

/// Policies called so do nothing that is counted.
pub fn is_idle(policy: &str) -> bool {
    ["none", "never", "dynamic"].contains(&policy)
}

/// Every policy of a family that a drive can have alone, and with every choice and switch of its parameters.
pub fn variants(family: &FamilyInfo) -> Vec<(&'static str, Option<(&'static str, Value)>)> {
    let mut cfg = DriveConfig::default();
    let table = cfg.section_mut(&family.section()).expect("a family's section");
    let mut found = Vec::new();
    for member in family.members.iter().filter(|member| is_possible(&family.section(), member.name)) {
        table.select(member.name).expect("a member");
        found.push((member.name, None));
        found.extend(choices(table).into_iter().map(|value| (member.name, Some(value))));
    }
    found
}

/// What can be chosen by name: key and value of every choice and switch of a table but its defaults.
pub fn choices(table: &dyn Table) -> Vec<(&'static str, Value)> {
    let mut found = Vec::new();
    for field in table.fields() {
        let default = field.default_text();
        let values = match field.kind {
            Kind::Choice(names) => names.iter().map(|&name| Value::Text(name.to_owned())).collect(),
            Kind::Switch => vec![Value::Bool(false), Value::Bool(true)],
            _ => Vec::new(),
        };
        found.extend(
            values.into_iter().filter(|value| value.to_string() != default).map(|value| (field.key, value)),
        );
    }
    found
}

/// The ends of the range of a parameter that is a number, or numbers.
pub fn ends(field: &Field) -> Vec<Value> {
    let of = |x: f64| match field.kind {
        Kind::Integer => Some(Value::Integer(x as i128)),
        Kind::Number | Kind::Numbers => Some(Value::Float(x)),
        _ => None,
    };
    let limits = field.limits.iter();
    limits.flat_map(|limits| [limits.min, limits.max]).filter_map(of).collect()
}
