//! How options are understood that take more than a line to say.

use super::parse::Wrong;
use super::settings::{Distribution, FileOrder, Job, Size, SizePriorities, Step, Work};
use super::value::Value;

/// Puts a value where it belongs, if there is one.
pub(super) fn put<T>(into: &mut T, value: Result<T, Wrong>) -> Result<(), Wrong> {
    *into = value?;
    Ok(())
}

/// Not simulated, unless it is switched off.
pub(super) fn off(_: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    match value.text {
        Some("0" | "none" | "0%" | "off") => Ok(()),
        text => Err(refusal(text, "0, or leave it out")),
    }
}

/// What to do instead of having fio replay a log.
pub(super) fn log(_: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    let log = value.text.unwrap_or("LOG");
    Err(refusal(value.text, &format!("leave it out, and replay that log itself: wordline run {log}")))
}

/// Zones that a job goes through. A zoned drive is another device.
pub(super) fn zone_mode(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    if value.text == Some("zbd") {
        let found = "found \"zbd\": zones that are written in order and reset, of which this drive has none";
        return Err(Wrong::new(found, "none or strided"));
    }
    put(&mut job.zones.is_on, value.choice(&[("none", false), ("strided", true)]))
}

/// `wait_before,write:8`: which waits, and after how many writes.
pub(super) fn sync_range(_: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    let allowed = "wait_before, write or wait_after, and a number of writes: write:8";
    let wrong = || Wrong::new(format!("found {:?}", value.text.unwrap_or_default()), allowed);
    let (words, number) = value.word()?.split_once(':').ok_or_else(wrong)?;
    let is_known = |word: &str| ["wait_before", "write", "wait_after"].contains(&word);
    if !words.split(',').all(is_known) {
        return Err(wrong());
    }
    Value { text: Some(number), kilo: value.kilo }.number(0).map(drop)
}

/// How contents would be checked.
pub(super) fn check_method(_: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    const METHODS: &[&str] = &[
        "0",
        "none",
        "null",
        "md5",
        "crc64",
        "crc32",
        "crc32c-intel",
        "crc32c",
        "crc16",
        "crc7",
        "sha1",
        "sha256",
        "sha512",
        "sha3-224",
        "sha3-256",
        "sha3-384",
        "sha3-512",
        "xxhash",
        "meta",
        "pattern",
        "pattern_hdr",
    ];
    let words: Vec<(&'static str, ())> = METHODS.iter().map(|method| (*method, ())).collect();
    value.choice(&words)
}

/// Who ends with the first job that does.
pub(super) fn exit_what(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    put(&mut job.others.exits_run, value.choice(&[("group", false), ("stonewall", false), ("all", true)]))
}

/// Classes of I/O of the host, and the priorities that they are.
const CLASSES: [(&str, u8); 4] = [("0", 0), ("1", 3), ("2", 2), ("3", 1)];

/// Shares of the requests of each size that have a priority: `64k/20:1m/5/1/3`, with a class and a level of its own.
pub(super) fn size_priorities(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    value.by_direction(&mut job.priorities.by_size, |sizes| {
        let mut all: Vec<SizePriorities> = Vec::new();
        for item in sizes.word()?.split(':') {
            let fields: Vec<&str> = item.split('/').collect();
            let of = |text| Value { text: Some(text), kilo: value.kilo };
            let allowed = "sizes with shares, and perhaps a class and a level: 64k/20:1m/5/1/3";
            let (size, share, class) = match fields[..] {
                [size, share] => (size, share, None),
                [size, share, class, _] | [size, share, class, _, _] => {
                    (size, share, Some(of(class).choice(&CLASSES)?))
                }
                _ => return Err(Wrong::new(format!("found {item:?}"), allowed)),
            };
            let (size, share) = (of(size).number(1)?, of(share).percent()?);
            match all.iter_mut().find(|(known, _)| *known == size) {
                Some((_, shares)) => shares.push((share, class)),
                None => all.push((size, vec![(share, class)])),
            }
            let sum: u64 =
                all.iter().filter(|(known, _)| *known == size).flat_map(|(_, s)| s).map(|s| s.0).sum();
            if sum > 100 {
                return Err(Wrong::new(
                    format!("found {sum} % of the requests of {size} bytes"),
                    "up to 100 %",
                ));
            }
        }
        Ok(all)
    })
}

/// When the rate of a job counts as steady: `iops:5%`, `bw_slope:100`.
pub(super) fn steady_state(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    let allowed = "iops, iops_slope, bw or bw_slope with a limit, such as iops:5%";
    let wrong = || Wrong::new(format!("found {:?}", value.text.unwrap_or_default()), allowed);
    let (word, limit) = value.word()?.split_once(':').ok_or_else(wrong)?;
    (job.steady.is_bandwidth, job.steady.is_slope) =
        Value { text: Some(word), kilo: value.kilo }.choice(&[
            ("iops", (false, false)),
            ("iops_slope", (false, true)),
            ("bw", (true, false)),
            ("bw_slope", (true, true)),
        ])?;
    let number = limit.strip_suffix('%');
    job.steady.is_percent = number.is_some();
    let is_limit = |limit: &f64| limit.is_finite() && *limit >= 0.0;
    job.steady.limit = number.unwrap_or(limit).parse().ok().filter(is_limit).ok_or_else(wrong)?;
    Ok(())
}

/// A share of requests with digits behind the point.
pub(super) fn percentile(value: Value<'_>) -> Result<f64, Wrong> {
    let text = value.word()?;
    let share = text.parse().ok().filter(|share: &f64| (0.0..=100.0).contains(share));
    share.ok_or_else(|| Wrong::new(format!("found {text:?}"), "a number from 0 to 100, such as 99.9"))
}

/// The priority of requests that have one: that of the host's classes of I/O.
pub(super) fn priority_class(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    put(&mut job.priorities.class, value.choice(&CLASSES))
}

/// Placement ids that writes take in turn, or at random.
pub(super) fn placements(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    let mut ids = Vec::new();
    for item in value.word()?.split(',') {
        let id = Value { text: Some(item), kilo: value.kilo }.number(0)?;
        let allowed = || Wrong::new(format!("found {item:?}"), format!("placement ids up to {}", u16::MAX));
        ids.push(u16::try_from(id).map_err(|_| allowed())?);
    }
    job.placements = ids;
    Ok(())
}

/// Not simulated.
pub(super) fn never(_: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    Err(refusal(value.text, "leave it out"))
}

pub(super) fn refusal(text: Option<&str>, allowed: &str) -> Wrong {
    let found = text.map_or(String::new(), |text| format!("found {text:?}; "));
    Wrong::new(
        format!(
            "{found}this is not simulated, and would change the requests that the drive \
                        gets"
        ),
        allowed,
    )
}

/// Whole sectors.
pub(super) fn sectors(size: u64) -> Result<u64, Wrong> {
    if !size.is_multiple_of(crate::base::request::SECTOR_BYTES) {
        return Err(Wrong::new(format!("found {size} bytes"), "multiples of 512 bytes"));
    }
    Ok(size)
}

pub(super) fn pattern(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    const WORDS: &[(&str, (bool, Work))] = &[
        ("read", (false, Work::Read)),
        ("write", (false, Work::Write)),
        ("trim", (false, Work::Trim)),
        ("rw", (false, Work::Mixed)),
        ("readwrite", (false, Work::Mixed)),
        ("trimwrite", (false, Work::TrimWrite)),
        ("randread", (true, Work::Read)),
        ("randwrite", (true, Work::Write)),
        ("randtrim", (true, Work::Trim)),
        ("randrw", (true, Work::Mixed)),
        ("randtrimwrite", (true, Work::TrimWrite)),
    ];
    let (word, number) = match value.word()?.split_once(':') {
        Some((word, number)) => (word, Some(number)),
        None => (value.word()?, None),
    };
    let of = |text| Value { text: Some(text), kilo: value.kilo };
    (job.is_random, job.work) = of(word).choice(WORDS)?;
    job.step = match number {
        None => Step::None,
        Some(text) if text.starts_with('-') && !job.is_random => match sectors(of(&text[1..]).number(0)?)? {
            0 => Step::None,
            bytes => Step::Back(bytes),
        },
        Some(text) if job.is_random => match of(text).number(0)? {
            0 | 1 => Step::None,
            number => Step::Follow(number),
        },
        Some(text) => match sectors(of(text).number(0)?)? {
            0 => Step::None,
            bytes => Step::Skip(bytes),
        },
    };
    Ok(())
}

/// Sizes. Of a range, which belongs behind `bsrange`, fio takes the last number for all.
pub(super) fn block_size(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    let text = value.word()?;
    if text.contains('/') || (text.contains(['-', ':']) && text.contains(',')) {
        let found = format!("found {text:?}: fio would take the last size, or the first, for all");
        return Err(Wrong::new(found, "sizes, or bsrange=, or bssplit="));
    }
    let last = text.rsplit(['-', ':']).next();
    job.size_rules.is_misread = last != Some(text);
    Value { text: last, kilo: value.kilo }
        .by_direction(&mut job.sizes, |size| size.number(1).map(Size::Fixed))
}

pub(super) fn size_range(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    value.by_direction(&mut job.sizes, |sizes| {
        let (low, high) = sizes.range()?;
        Ok(if low == high { Size::Fixed(low) } else { Size::Range(low, high) })
    })
}

pub(super) fn size_split(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    value.by_direction(&mut job.sizes, |sizes| {
        let mut split = Vec::new();
        for (size, share) in sizes.shares()? {
            if share > 0.0 {
                split.push((size.number(1)?, share));
            }
        }
        Ok(if let [(size, _)] = split[..] { Size::Fixed(size) } else { Size::Split(split) })
    })
}

pub(super) fn distribution(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    let text = value.word()?;
    let (word, rest) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest)));
    let words = ["random", "zipf", "pareto", "normal", "gauss", "zoned", "zoned_abs"];
    let number = |text: &str, what: &str, is_good: fn(f64) -> bool| {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite() && is_good(*number));
        number.ok_or_else(|| Wrong::new(format!("found {text:?} after {word}"), what))
    };
    let curve = |first: f64, what: &str, is_good: fn(f64) -> bool| {
        let mut items = rest.unwrap_or_default().split(':');
        let first = match items.next().filter(|text| !text.is_empty()) {
            Some(text) => number(text, what, is_good)?,
            None => first,
        };
        let centre =
            items.next().map(|text| number(text, "a centre from 0 to 1", |x| (0.0..=1.0).contains(&x)));
        if let Some(more) = items.next() {
            return Err(Wrong::new(format!("found {more:?} after the centre"), "nothing there"));
        }
        Ok((first, centre.transpose()?))
    };
    if rest.is_some_and(|rest| rest.contains(',')) {
        let found = format!("found {text:?}: a distribution for each direction");
        return Err(Wrong::new(found, "one for all"));
    }
    job.distribution = match word {
        "random" => Distribution::Random,
        "zipf" => {
            let (theta, centre) =
                curve(1.1, "an exponent above 0 other than 1, such as zipf:1.1", |x| x > 0.0 && x != 1.0)?;
            Distribution::Zipf(theta, centre)
        }
        "pareto" => {
            let (h, centre) =
                curve(0.2, "a power above 0 and below 1, such as pareto:0.2", |x| x > 0.0 && x < 1.0)?;
            Distribution::Pareto(h, centre)
        }
        "normal" | "gauss" => {
            let (deviation, centre) =
                curve(0.0, "a deviation from 0 to below 100, such as normal:20", |x| {
                    (0.0..100.0).contains(&x)
                })?;
            Distribution::Normal(deviation, centre)
        }
        "zoned" => Distribution::Zoned(zones_of_shares(value, rest)?),
        "zoned_abs" => Distribution::ZonedAbs(zones(value, rest, |space| space.number(1))?),
        _ => return Err(Wrong::new(format!("found {text:?}"), words.join(", ")).like(word, words)),
    };
    Ok(())
}

/// Zones of shares of the space; those without one have what the others leave, evenly.
fn zones_of_shares<'a>(value: Value<'a>, rest: Option<&'a str>) -> Result<Vec<(f64, f64)>, Wrong> {
    let zones = zones(value, rest, |space| match space.text {
        Some("") => Ok(None),
        _ => Ok(Some(space.percent()? as f64)),
    })?;
    let given: f64 = zones.iter().filter_map(|(_, space)| *space).sum();
    let open = zones.iter().filter(|(_, space)| space.is_none()).count();
    if given > 100.0 || open > 0 && given >= 100.0 {
        return Err(Wrong::new(format!("zones of {given} % of the space"), "100 %"));
    }
    let rest = (100.0 - given) / open.max(1) as f64;
    Ok(zones.into_iter().map(|(share, space)| (share, space.unwrap_or(rest))).collect())
}

/// Zones: `60/10:30/20:8/30:2/40` are shares of the requests and spaces.
fn zones<'a, T>(
    value: Value<'a>,
    rest: Option<&'a str>,
    mut space: impl FnMut(Value<'a>) -> Result<T, Wrong>,
) -> Result<Vec<(f64, T)>, Wrong> {
    let of = |text| Value { text: Some(text), kilo: value.kilo };
    let mut zones = Vec::new();
    for zone in rest.unwrap_or_default().split(':') {
        let (share, size) = zone.split_once('/').unwrap_or((zone, ""));
        if share.is_empty() {
            let allowed = "zones as requests/space, such as zoned:60/10:40/90";
            return Err(Wrong::new(format!("found {zone:?}"), allowed));
        }
        zones.push((of(share).percent()? as f64, space(of(size))?));
    }
    let sum: f64 = zones.iter().map(|(share, _)| share).sum();
    if sum != 100.0 {
        return Err(Wrong::new(format!("zones that get {sum} % of the requests"), "100 %"));
    }
    Ok(zones)
}

pub(super) fn file_order(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    let text = value.word()?;
    let (word, number) = text.split_once(':').map_or((text, None), |(word, number)| (word, Some(number)));
    let each = match number {
        Some(text) => Value { text: Some(text), kilo: value.kilo }.number(1)?,
        None => 1,
    };
    job.file_order = match word {
        "roundrobin" => FileOrder::RoundRobin(each),
        "random" => FileOrder::Random(each),
        "sequential" => FileOrder::Sequential,
        "zipf" | "pareto" | "normal" | "gauss" => {
            return Err(refusal(Some(text), "roundrobin, random or sequential"));
        }
        _ => {
            let words = ["roundrobin", "random", "sequential"];
            return Err(Wrong::new(format!("found {text:?}"), words.join(", ")).like(word, words));
        }
    };
    Ok(())
}

/// One size for all files; 0 for none of their own.
pub(super) fn file_size(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    if value.text == Some("0") {
        job.filesize = None;
        return Ok(());
    }
    let (low, high) = value.range()?;
    if low != high {
        return Err(refusal(value.text, "one size for all files"));
    }
    job.filesize = Some(low);
    Ok(())
}

/// Rates by direction; those without one go as fast as they can.
pub(super) fn rates(into: &mut [u64; 3], value: Value<'_>) -> Result<(), Wrong> {
    value.by_direction(into, |rate| rate.number(0))
}
