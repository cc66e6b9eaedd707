//! A cache in which others write, or chance does: links, pipes, strangers' files, heads and drives made up. Nothing
//! outside it changes, nothing blocks, nothing panics, and no drive is taken for what it is not.

use crate::common;

use common::{closed, fresh_path, generator, run, small_drive, soaked};
use lab::files::{FolderLock, Replacement};
use lab::{DriveCache, Failure, Overwrite, Preconditioning, RunResult, RunSpec, Stop, run_prepared};
use serde_json::{Value, json};
use ssd::Drive;
use ssd::rng::Rng;
use ssd::snapshot::{HEADER_BYTES, checksum};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use workload::Prepared;

/// Another user.
const STRANGER: u32 = 4711;

/// A cache that keeps whatever took any time, in a new folder.
fn cache(name: &str) -> Arc<DriveCache> {
    Arc::new(DriveCache::new(fresh_path(name)).with_limits(Duration::ZERO, 1 << 30))
}

/// On a steady drive.
fn spec(cache: &Arc<DriveCache>) -> RunSpec {
    let overwrite = Overwrite::SteadyState { change_percent: 3.0, times_at_most: 10.0 };
    let preconditioning = Preconditioning { fill_percent: 100.0, overwrite, ..Preconditioning::default() };
    RunSpec { cache: Some(cache.clone()), preconditioning, ..closed(8) }
}

fn writes() -> Prepared {
    generator(1_000, "read_percent = 30")
}

fn measured(cache: &Arc<DriveCache>) -> RunResult {
    run(&small_drive(), &writes(), &spec(cache))
}

/// A cache with a drive, that drive's file, and the hash of what the run did.
fn filled(name: &str) -> (Arc<DriveCache>, PathBuf, String) {
    let kept = cache(name);
    let hash = measured(&kept).event_hash.clone();
    let folder = fs::read_dir(kept.folder()).unwrap().next().unwrap().unwrap().path();
    (kept, folder.join("aged.drive"), hash)
}

/// That a run makes the drive anew, says why, and that the next finds it.
fn is_rebuilt((kept, file, hash): &(Arc<DriveCache>, PathBuf, String), why: &[&str]) {
    let anew = measured(kept);
    assert!(!anew.preconditioning.kept, "{why:?}");
    assert_eq!(&anew.event_hash, hash);
    let remarks = kept.take_remarks();
    let told = why.iter().all(|part| remarks.iter().any(|remark| remark.contains(part)));
    assert!(told && remarks.len() == 1, "{why:?}: {remarks:?}");
    assert!(measured(kept).preconditioning.kept, "{why:?}");
    let found = fs::symlink_metadata(file).unwrap();
    assert!(found.is_file() && found.mode() & 0o777 == 0o600, "{why:?}: {found:?}");
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A file's parts: what stands before its head, the head, the snapshot.
fn parts(file: &[u8]) -> (Vec<u8>, Value, Vec<u8>) {
    let magic = file.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let length = u64::from_le_bytes(file[magic..magic + 8].try_into().unwrap()) as usize;
    let head = magic + 16;
    let value = serde_json::from_slice(&file[head..head + length]).unwrap();
    let mut snapshot = zstd::decode_all(&file[head + length..]).unwrap();
    for at in 8..snapshot.len() / 8 * 8 {
        snapshot[at] = snapshot[at].wrapping_add(snapshot[at - 8]);
    }
    (file[..magic].to_vec(), value, snapshot)
}

/// A snapshot as it stands in a file: each byte of its words of eight bytes less the one eight before, and compressed.
fn packed(snapshot: &[u8]) -> Vec<u8> {
    let words = 8..(snapshot.len() / 8 * 8).max(8);
    let before = |at: usize| if words.contains(&at) { snapshot[at - 8] } else { 0 };
    let differences: Vec<u8> =
        snapshot.iter().enumerate().map(|(at, byte)| byte.wrapping_sub(before(at))).collect();
    zstd::encode_all(&differences[..], 1).unwrap()
}

/// A file of these parts as somebody makes it who knows the format.
fn forged(magic: &[u8], head: &Value, snapshot: &[u8]) -> Vec<u8> {
    let head = serde_json::to_vec(head).unwrap();
    let (length, sum) = ((head.len() as u64).to_le_bytes(), checksum(&head).to_le_bytes());
    [magic, &length, &sum, &head, &packed(snapshot)].concat()
}

/// The same with the snapshot of another drive.
fn with_snapshot(file: &[u8], snapshot: &[u8], aged: &Value) -> Vec<u8> {
    let (magic, mut head, _) = parts(file);
    head["bytes"] = json!(snapshot.len());
    head["seal"] = json!(checksum(&snapshot[..HEADER_BYTES.min(snapshot.len())]));
    for (key, value) in aged.as_object().unwrap() {
        head["aged"][key] = value.clone();
    }
    forged(&magic, &head, snapshot)
}

#[test]
fn links_in_a_cache_lead_nowhere() {
    let made = filled("shared-links");
    let (kept, file, _) = &made;
    let folder = file.parent().unwrap().to_owned();
    let mine = fresh_path("shared-links-mine");
    fs::write(&mine, "precious").unwrap();
    let replace = |path: &Path| {
        let _ = fs::remove_file(path);
        symlink(&mine, path).unwrap();
    };
    replace(file);
    is_rebuilt(&made, &["aged.drive: not used, rebuilt: it is a symbolic link"]);
    replace(&folder.join(".wordline.lock"));
    fs::remove_file(file).unwrap();
    is_rebuilt(&made, &[".wordline.lock: removed: it is a symbolic link"]);
    assert_eq!(fs::read(&mine).unwrap(), b"precious");
    replace(file);
    assert_eq!(kept.clear().unwrap().0, 1);
    assert_eq!(fs::read(&mine).unwrap(), b"precious");
    // A whole folder elsewhere, with a drive in it.
    measured(kept);
    let elsewhere = fresh_path("shared-links-elsewhere");
    fs::rename(&folder, &elsewhere).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    let before = fs::metadata(elsewhere.join("aged.drive")).unwrap();
    assert!(!measured(kept).preconditioning.kept);
    let remarks = kept.take_remarks();
    assert!(remarks.len() == 1 && remarks[0].contains("not used: it is a symbolic link"), "{remarks:?}");
    assert_eq!((kept.entries().unwrap(), kept.clear().unwrap()), (Vec::new(), (0, 0)));
    assert!(kept.strange().unwrap()[0].contains("symbolic link, not a folder"));
    let after = fs::metadata(elsewhere.join("aged.drive")).unwrap();
    assert_eq!((before.ino(), before.modified().unwrap()), (after.ino(), after.modified().unwrap()));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
}

/// The cache itself may lie elsewhere: its user has said so.
#[test]
fn a_link_to_a_cache_is_its_users() {
    let (place, link) = (fresh_path("shared-place"), fresh_path("shared-link"));
    fs::create_dir(&place).unwrap();
    let _ = fs::remove_file(&link);
    symlink(&place, &link).unwrap();
    let kept = Arc::new(DriveCache::new(&link).with_limits(Duration::ZERO, 1 << 30));
    assert_eq!([(); 2].map(|()| measured(&kept).preconditioning.kept), [false, true]);
    assert_eq!(kept.take_remarks(), [""; 0]);
    assert_eq!(kept.clear().unwrap().0, 1);
    assert!(link.is_symlink() && place.is_dir());
}

#[test]
fn pipes_and_folders_in_place_of_files_block_nobody() {
    let made = filled("shared-pipes");
    let (kept, file, hash) = &made;
    let lock = file.parent().unwrap().join(".wordline.lock");
    fs::remove_file(file).unwrap();
    pipe(file);
    let list = kept.entries().unwrap();
    assert!(list.len() == 1 && list[0].what.contains("it is a named pipe"), "{list:?}");
    is_rebuilt(&made, &["not used, rebuilt: it is a named pipe"]);
    fs::remove_file(file).unwrap();
    pipe(&lock);
    assert_eq!(kept.entries().unwrap(), []);
    is_rebuilt(&made, &[".wordline.lock: removed: it is a named pipe"]);
    fs::remove_file(file).unwrap();
    pipe(file);
    pipe(&lock);
    assert_eq!(kept.clear().unwrap(), (1, 0));
    assert_eq!(fs::read_dir(kept.folder()).unwrap().count(), 0);
    // No file can take the place of a folder.
    fs::create_dir_all(file.join("of-somebody")).unwrap();
    assert_eq!(&measured(kept).event_hash, hash);
    let remarks = kept.take_remarks();
    assert!(
        remarks[0].contains("it is a folder, not a file") && remarks[1].contains("was not cached"),
        "{remarks:?}"
    );
    assert_eq!((kept.entries().unwrap(), kept.clear().unwrap()), (Vec::new(), (0, 0)));
    assert!(file.join("of-somebody").is_dir());
}

#[test]
fn what_is_anybodys_is_not_used() {
    let made = filled("shared-anybody");
    let (kept, file, hash) = &made;
    let allow = |path: &Path, mode: u32| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    allow(file, 0o666);
    is_rebuilt(&made, &["not used, rebuilt: others may write to it"]);
    for mode in [0o777, 0o775] {
        let kept = Arc::new(DriveCache::new(kept.folder()).with_limits(Duration::ZERO, 1 << 30));
        allow(kept.folder(), mode);
        let before = fs::metadata(file).unwrap().modified().unwrap();
        for _ in 0..2 {
            let result = measured(&kept);
            assert_eq!((result.preconditioning.kept, &result.event_hash), (false, hash));
        }
        let remarks = kept.take_remarks();
        assert!(
            remarks.len() == 1 && remarks[0].contains("the cache is not used: others may"),
            "{remarks:?}"
        );
        assert!(kept.entries().is_err() && kept.clear().is_err());
        assert_eq!(fs::metadata(file).unwrap().modified().unwrap(), before);
    }
    // Where nobody can exchange what belongs to another it is used.
    allow(kept.folder(), 0o1777);
    assert!(measured(kept).preconditioning.kept);
}

/// Only the superuser can give files away: for others this finds nothing to do.
#[test]
fn what_belongs_to_another_user_is_not_used() {
    let made = filled("shared-stranger");
    let (kept, file, hash) = &made;
    let give = |path: &Path, to: u32| chown(path, Some(to), None);
    let me = fs::metadata(file).unwrap().uid();
    if give(file, STRANGER).is_err() {
        return;
    }
    is_rebuilt(&made, &["not used, rebuilt: it belongs to another user (number 4711)"]);
    let folder = file.parent().unwrap();
    give(folder, STRANGER).unwrap();
    let result = measured(kept);
    assert_eq!((result.preconditioning.kept, &result.event_hash), (false, hash));
    assert!(kept.take_remarks()[0].contains(": not used: it belongs to another user"));
    assert_eq!(kept.clear().unwrap(), (0, 0));
    assert!(file.is_file());
    give(folder, me).unwrap();
    give(kept.folder(), STRANGER).unwrap();
    assert!(!measured(kept).preconditioning.kept);
    assert!(kept.refusal().unwrap().contains("another user") && kept.clear().is_err());
    assert!(file.is_file());
}

/// A drive that was only filled, or is new, serves many times as many writes as one in steady state.
#[test]
fn a_drive_is_not_taken_for_what_was_not_done_to_it() {
    let made = filled("shared-poisoned");
    let good = fs::read(&made.1).unwrap();
    let snapshot = |filled: bool| {
        let mut drive = Drive::new(&small_drive()).unwrap();
        if filled {
            drive.fill(0, drive.logical_units()).unwrap();
        }
        let mut bytes = Vec::new();
        drive.save(&mut bytes).unwrap();
        bytes
    };
    let (new, full) = (snapshot(false), snapshot(true));
    let (unit, filled) = (4096u64, parts(&good).1["aged"]["units_filled"].as_u64().unwrap());
    let programmed = 3 * unit * filled.div_ceil(3);
    let few = json!({"units_overwritten": 0, "bytes_written": filled * unit, "bytes_programmed": programmed});
    let none = json!({"units_overwritten": 0, "bytes_written": filled * unit, "bytes_programmed": 0});
    let (magic, head, own) = parts(&good);
    let swapped = forged(&magic, &head, &{
        let mut other = full.clone();
        other.resize(own.len(), 0);
        other
    });
    for (file, why) in [
        (with_snapshot(&good, &new, &json!({})), "bytes_programmed"),
        (with_snapshot(&good, &full, &json!({})), "bytes_programmed"),
        (with_snapshot(&good, &full, &few), "steady"),
        (with_snapshot(&good, &new, &none), "steady"),
        (swapped, "its snapshot is another drive's"),
    ] {
        fs::write(&made.1, file).unwrap();
        is_rebuilt(&made, &["damaged, rebuilt: it", why]);
    }
}

/// Each claim of a head, changed: it is compared with the drive, or has bounds.
#[test]
fn no_claim_is_believed() {
    let made = filled("shared-claims");
    let good = fs::read(&made.1).unwrap();
    let (magic, head, snapshot) = parts(&good);
    let mut refused = 0;
    for (key, value) in head["aged"].as_object().unwrap() {
        let others: Vec<Value> = match value {
            Value::Bool(told) => vec![json!(!told), json!("true"), Value::Null],
            Value::Number(_) => vec![json!(u64::MAX), json!(-1), json!(1e300), json!("1")],
            Value::String(text) => {
                vec![json!(format!("{text}\u{1b}[2J")), json!("x".repeat(1 << 20)), json!(7)]
            }
            Value::Array(_) => vec![json!([1.0]), json!(["x"]), json!([[]])],
            Value::Object(_) => vec![json!({"gross": 1.0, "net": 1.0}), json!([]), json!(1)],
            Value::Null => vec![json!(1), json!("x")],
        };
        for other in others {
            let mut head = head.clone();
            head["aged"][key] = other.clone();
            fs::write(&made.1, forged(&magic, &head, &snapshot)).unwrap();
            let anew = measured(&made.0);
            let remarks = made.0.take_remarks();
            let other: String = other.to_string().chars().take(40).collect();
            assert!(!anew.preconditioning.kept, "{key} = {other} is believed");
            assert_eq!(anew.event_hash, made.2);
            let told = remarks.iter().all(|remark| remark.contains("damaged, rebuilt") && remark.len() < 400);
            assert!(
                told && remarks.len() == 1 && !remarks[0].contains('\u{1b}'),
                "{key} = {other}: {remarks:?}"
            );
            refused += 1;
        }
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn no_length_is_believed() {
    let made = filled("shared-lengths");
    let good = fs::read(&made.1).unwrap();
    let (magic, head, snapshot) = parts(&good);
    for bytes in [u64::MAX, 1 << 63, 1 << 40, snapshot.len() as u64 + 1, 0] {
        let mut head = head.clone();
        head["bytes"] = json!(bytes);
        fs::write(&made.1, forged(&magic, &head, &snapshot)).unwrap();
        let is_possible = bytes < 1 << 40;
        is_rebuilt(
            &made,
            &[if is_possible { "the snapshot is incomplete: found" } else { "its snapshot takes" }],
        );
    }
    for length in [u64::MAX, 1 << 40, (1 << 24) + 1, good.len() as u64] {
        let mut file = good.clone();
        file[magic.len()..magic.len() + 8].copy_from_slice(&length.to_le_bytes());
        fs::write(&made.1, file).unwrap();
        is_rebuilt(&made, &["damaged, rebuilt: its head is longer"]);
    }
    // A file as long as it says, of which the disk has hardly anything.
    let mut head = head;
    head["bytes"] = json!(1u64 << 40);
    let begin = forged(&magic, &head, &snapshot);
    fs::write(&made.1, &begin).unwrap();
    let file = File::options().append(true).open(&made.1).unwrap();
    if file.set_len(begin.len() as u64 + (1 << 40)).is_ok() {
        is_rebuilt(&made, &["damaged, rebuilt: its snapshot takes 1099511627776 bytes, a drive of its"]);
    }
    // What follows a drive that is all there, and a drive of which the end is missing.
    let more = [&good[..], &packed(b"more")].concat();
    let noise = [&good[..], &[0; 1 << 16]].concat();
    let short = good[..good.len() - 1].to_vec();
    for (file, why) in
        [(more, "it goes on after"), (noise, "damaged, rebuilt: "), (short, "damaged, rebuilt: ")]
    {
        fs::write(&made.1, file).unwrap();
        is_rebuilt(&made, &[why]);
    }
}

#[test]
fn a_list_shows_nothing_but_plain_text() {
    let (kept, path, _) = filled("shared-list");
    let good = fs::read(&path).unwrap();
    let (magic, head, snapshot) = parts(&good);
    for what in ["\u{1b}]0;owned\u{7}\u{1b}[2J", "two\nlines", "\u{202e}turned", &"x".repeat(1 << 20)] {
        let mut head = head.clone();
        head["what"] = json!(what);
        fs::write(&path, forged(&magic, &head, &snapshot)).unwrap();
        let list = kept.entries().unwrap();
        assert!(list.len() == 1 && list[0].what.contains("no plain text"), "{list:?}");
    }
    // Another drive's description, by which somebody would go.
    let mut head = head;
    head["what"] = json!("1 PiB, never used");
    fs::write(&path, forged(&magic, &head, &snapshot)).unwrap();
    assert!(!measured(&kept).preconditioning.kept);
    assert!(kept.take_remarks()[0].contains("described as another"));
}

/// Changes some bytes anywhere, or cuts or lengthens it.
fn garbled(file: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..1 + rng.below(4) {
        // Half of it near the begin, where it is denser.
        let end = if rng.below(2) == 0 { bytes.len().min(4096) } else { bytes.len() };
        let at = rng.below(end as u32) as usize;
        match rng.below(6) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = rng.next_u64() as u8,
            2 => bytes[at] = 0xff,
            3 => bytes.truncate(at.max(1)),
            4 => bytes.extend((0..rng.below(64)).map(|_| rng.next_u64() as u8).collect::<Vec<_>>()),
            _ => {
                let end = (at + 8).min(bytes.len());
                bytes[at..end].fill(0xff);
            }
        }
    }
    bytes
}

/// Whatever becomes of a file, a run ends as without it, or, if somebody has made the checksums fit what is in no
/// claim, at least ends.
#[test]
fn no_file_panics_a_run() {
    let made = filled("shared-garbled");
    let good = fs::read(&made.1).unwrap();
    let (_, _, snapshot) = parts(&good);
    for case in 0..soaked(75) {
        let mut rng = Rng::named(case, "shared cache");
        let is_forged = case % 3 == 0;
        let file = match is_forged {
            false => garbled(&good, &mut rng),
            true => {
                let mut other = garbled(&snapshot, &mut rng);
                if let Some((header, content)) = other.split_at_mut_checked(HEADER_BYTES) {
                    header.copy_from_slice(&snapshot[..HEADER_BYTES]);
                    header[24..32].copy_from_slice(&(content.len() as u64).to_le_bytes());
                    header[32..40].copy_from_slice(&checksum(content).to_le_bytes());
                }
                with_snapshot(&good, &other, &json!({}))
            }
        };
        fs::write(&made.1, &file).unwrap();
        let spec = spec(&made.0);
        let mut drive = Drive::new(&small_drive()).unwrap();
        let result = run_prepared(&mut drive, &small_drive(), &writes(), &spec, &mut |_| {});
        let remarks = made.0.take_remarks();
        if is_forged && remarks.is_empty() {
            continue;
        }
        let result = result.unwrap();
        assert_eq!(result.event_hash, made.2, "{case}");
        assert!(result.preconditioning.kept == (file == good), "{case}");
        assert!(
            remarks.iter().all(|remark| remark.contains("rebuilt") && remark.len() < 400),
            "{case}: {remarks:?}"
        );
    }
}

/// Whoever holds the lock may take hours, or be stopped.
#[test]
fn who_is_waited_for_is_told_after_a_while_and_the_run_can_be_stopped() {
    let (kept, path, _) = filled("shared-lock");
    // As long as it takes until a run that waits by mistake, or tells at once, is told from one that does neither.
    let silently = Duration::from_millis(600);
    let limits = |cache: DriveCache| cache.with_limits(Duration::ZERO, 1 << 30).waiting_silently(silently);
    let kept = Arc::new(limits(DriveCache::new(kept.folder())));
    fs::remove_file(&path).unwrap();
    let lock = FolderLock::take(path.parent().unwrap()).unwrap();
    let stop = Stop::default();
    let (begun, mut told) = (Instant::now(), Vec::new());
    let failure = std::thread::scope(|scope| {
        let spec = RunSpec { stop: stop.clone(), ..spec(&kept) };
        let waits = scope.spawn(move || {
            let mut drive = Drive::new(&small_drive()).unwrap();
            run_prepared(&mut drive, &small_drive(), &writes(), &spec, &mut |_| {}).unwrap_err().failure
        });
        while told.is_empty() && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(20));
            told = kept.take_remarks();
        }
        std::thread::sleep(Duration::from_millis(200));
        stop.ask();
        waits.join().unwrap()
    });
    drop(lock);
    assert!(matches!(failure, Failure::Interrupted { .. }), "{failure}");
    assert!(begun.elapsed() >= silently + Duration::from_millis(200));
    assert!(told.len() == 1 && told[0].starts_with("waiting for "), "{told:?}");
    assert!(told[0].contains("--no-cache does not wait"), "{told:?}");
    assert_eq!(kept.take_remarks(), [""; 0], "once");
}

/// What a process that was killed has left goes with the next that keeps a drive there; that of one that lives stays.
#[test]
fn what_a_dead_process_left_goes() {
    let (kept, path, _) = filled("shared-left");
    fs::remove_file(&path).unwrap();
    let folder = path.parent().unwrap();
    let alive = Replacement::create(&folder.join("other")).unwrap();
    let parts = || fs::read_dir(folder).unwrap().map(|at| at.unwrap().path()).collect::<Vec<_>>();
    let [living] = &parts()[..] else { panic!("{:?}", parts()) };
    let name = living.file_name().unwrap().to_str().unwrap();
    // Of this machine, and nobody has it locked.
    let dead = folder.join(format!("{}dead.part", &name[..=name.rfind('-').unwrap()]));
    fs::write(&dead, "half").unwrap();
    assert!(!measured(&kept).preconditioning.kept);
    assert_eq!((dead.exists(), living.exists(), path.exists()), (false, true, true));
    assert_eq!(kept.take_remarks(), [""; 0]);
    drop(alive);
}
