//! What is there as a whole or not at all, locked, and left behind.

use super::*;
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for a test")
}

#[test]
fn a_file_that_fails_leaves_the_old_one() {
    let folder = folder();
    let path = folder.path().join("file");
    replace(&path, b"old").unwrap();
    let mut next = Replacement::create(&path).unwrap();
    next.write_all(b"new, but not wh").unwrap();
    drop(next);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    replace(&path, b"new").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

/// A drive whose snapshot nobody can go on from is not saved, and what was there stays.
#[test]
fn a_drive_that_cannot_be_read_back_is_not_saved() {
    let folder = folder();
    let path = folder.path().join("drive");
    let mut config = DriveConfig::default();
    (config.geometry.channels, config.geometry.chips_per_channel) = (1, 1);
    let drive = Drive::new(&config).unwrap();
    stage_drive(&path, &drive, &config).unwrap().commit().unwrap();
    let saved = std::fs::read(&path).unwrap();
    assert!(Drive::restore(&config, &saved).is_ok());
    let mut other = config.clone();
    other.drive.seed += 1;
    let error = stage_drive(&path, &drive, &other).unwrap_err().to_string();
    assert!(error.contains("cannot be read back") && error.contains("configuration"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), saved);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn links_are_followed_and_rights_kept() {
    let folder = folder();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    std::os::unix::fs::symlink("file", &link).unwrap();
    assert_eq!(Identity::of(&link), Identity::of(&file));
    assert!(matches!(Identity::of(&file), Some(Identity::Named(_))));
    replace(&link, b"first").unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    replace(&link, b"second").unwrap();
    assert!(link.is_symlink());
    assert_eq!(std::fs::read(&file).unwrap(), b"second");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(Identity::of(&link), Identity::of(&file));
    assert!(matches!(Identity::of(&file), Some(Identity::Existing(..))));
}

#[test]
fn one_file_has_one_identity_whatever_it_is_called() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("sub")).unwrap();
    std::os::unix::fs::symlink("sub", at("other")).unwrap();
    assert_eq!(Identity::of(&at("sub/new")), Identity::of(&at("other/new")));
    assert_eq!(Identity::of(&at("sub/new")), Identity::of(&at("sub/../sub/./new")));
    assert_ne!(Identity::of(&at("sub/new")), Identity::of(&at("new")));
    assert_eq!(Identity::of(&at("no/such/../new")), Identity::of(&at("no/new")));
    std::fs::write(at("file"), "").unwrap();
    std::fs::hard_link(at("file"), at("hard")).unwrap();
    assert_eq!(Identity::of(&at("file")), Identity::of(&at("hard")));
    assert_eq!(Identity::of(Path::new("/dev/null")), None);
}

#[test]
fn a_folder_is_locked_once_and_goes_if_it_stays_empty() {
    let folder = folder();
    let inner = folder.path().join("a/b");
    let lock = FolderLock::take(&inner).unwrap();
    let second = FolderLock::take(&inner).unwrap_err();
    let by = format!("another run is writing to this folder (process {} on ", std::process::id());
    assert!(second.to_string().contains(&by), "{second}");
    drop(lock);
    assert!(!folder.path().join("a").exists());
    let lock = FolderLock::take(&inner).unwrap();
    replace(&inner.join("file"), b"kept").unwrap();
    drop(lock);
    assert_eq!(std::fs::read_dir(&inner).unwrap().count(), 1);
}

#[test]
fn a_set_of_files_is_the_old_or_the_new() {
    let folder = folder();
    let set = |text: &str| vec![("a".to_owned(), text.into()), ("b".to_owned(), text.into())];
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    replace_all(folder.path(), &set("old"), &[]).unwrap();
    std::fs::write(folder.path().join("gone"), "").unwrap();
    // A folder in the place of a file cannot be replaced.
    let mut wrong = set("new");
    wrong.push(("c".to_owned(), Vec::new()));
    std::fs::create_dir(folder.path().join("c")).unwrap();
    let error = replace_all(folder.path(), &wrong, &["gone".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("nothing was replaced"), "{error}");
    assert_eq!((read("a"), read("b"), read("gone")), ("old".into(), "old".into(), String::new()));
    replace_all(folder.path(), &set("new"), &["gone".to_owned(), "a".to_owned()]).unwrap();
    assert_eq!((read("a"), read("b")), ("new".into(), "new".into()));
    assert!(!folder.path().join("gone").exists());
}

/// A file that cannot take its place when others have: those go back, and what is new stands beside.
#[test]
fn a_set_that_fails_half_way_goes_back() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let read = |name: &str| std::fs::read_to_string(at(name)).unwrap();
    let set = |text: &str| ["a", "b", "c"].map(|name| (name.to_owned(), text.as_bytes().to_vec()));
    std::fs::write(at("a"), "old").unwrap();
    std::fs::write(at("c"), "old").unwrap();
    std::fs::write(at("c.1"), "mine").unwrap();
    let mut lock = FolderLock::take(folder.path()).unwrap();
    lock.claim(folder.path(), &["a", "b", "c"].map(str::to_owned));
    // The most important comes last, and is another's by then.
    std::fs::remove_file(at("a")).unwrap();
    std::fs::write(at("a"), "mine").unwrap();
    for number in [1, 2] {
        let error = replace_all(folder.path(), &set("new"), &["gone".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("a: something else has been put there"), "{error}");
        let beside = format!("is in a.{number}, b.{number}, c.{}", number + 1);
        assert!(error.contains("nothing was replaced there") && error.contains(&beside), "{error}");
        assert_eq!((read("a"), read("c"), read("c.1")), ("mine".into(), "old".into(), "mine".into()));
        assert!(!at("b").exists(), "nothing was there before");
        let new =
            [read(&format!("a.{number}")), read(&format!("b.{number}")), read(&format!("c.{}", number + 1))];
        assert_eq!(new, ["new"; 3]);
    }
    // Where no name is left for what is new, it stays in its place rather than be lost.
    (1..100).for_each(|number| std::fs::write(at(&format!("b.{number}")), "mine").unwrap());
    let error = replace_all(folder.path(), &set("newer"), &[]).unwrap_err().to_string();
    assert!(error.contains("replaced all the same: b"), "{error}");
    assert_eq!((read("a"), read("b"), read("c")), ("mine".into(), "newer".into(), "old".into()));
    (3..100).for_each(|number| std::fs::remove_file(at(&format!("b.{number}"))).unwrap());
    drop(lock);
    replace_all(folder.path(), &set("new"), &[]).unwrap();
    assert_eq!([read("a"), read("b"), read("c")], ["new"; 3]);
    let all = ["a", "a.1", "a.2", "a.3", "b", "b.1", "b.2", "c", "c.1", "c.2", "c.3", "c.4"];
    assert_eq!(names(folder.path()), all);
}

#[test]
fn where_nothing_was_what_can_be_written_is_kept() {
    let folder = folder();
    let place = folder.path().join("new");
    let set = vec![("a".to_owned(), b"kept".to_vec()), ("no/such/folder".to_owned(), Vec::new())];
    let error = replace_all(&place, &set, &[]).unwrap_err().to_string();
    assert!(error.contains("missing there: no/such/folder"), "{error}");
    assert_eq!(std::fs::read(place.join("a")).unwrap(), b"kept");
}

/// Names in a folder, hidden ones too.
fn names(folder: &Path) -> Vec<String> {
    let list = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        list.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_a_dead_process_left_goes_and_what_lives_stays() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let host = lock::part_prefix();
    std::fs::write(at(&format!("{host}dead.part")), "half").unwrap();
    std::fs::write(at(".wordline-dead.csv.lock"), "process 1 on here").unwrap();
    // Files of others, and of machines that may well be alive.
    let kept = [".wordline-else.where-x.part", ".part", "mine.part", ".wordline.files", "wordline-a.lock"];
    kept.iter().for_each(|name| std::fs::write(at(name), "mine").unwrap());
    std::os::unix::fs::symlink("mine.part", at(&format!("{host}link.part"))).unwrap();
    let mut alive = Replacement::create(&at("file")).unwrap();
    alive.write_all(b"whole").unwrap();
    let lock = FileLock::take(&at("file")).unwrap();
    let other = FileLock::take(&at("other")).unwrap();
    alive.commit().unwrap();
    drop((lock, other));
    let mut expected = vec!["file".to_owned(), format!("{host}link.part")];
    expected.extend(kept.map(str::to_owned));
    expected.sort();
    assert_eq!(names(folder.path()), expected);
    assert_eq!(std::fs::read(at("file")).unwrap(), b"whole");
}

#[test]
fn a_file_is_written_by_one_run_at_a_time() {
    let folder = folder();
    let path = folder.path().join("x".repeat(250));
    let lock = FileLock::take(&path).unwrap();
    let second = FileLock::take(&path).unwrap_err().to_string();
    assert!(second.contains("another run is writing this file (process"), "{second}");
    drop(lock);
    FileLock::take(&path).unwrap();
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn parts_of_one_piece_of_work_share_a_folder() {
    let folder = folder();
    let parts = [FolderLock::share(folder.path()).unwrap(), FolderLock::share(folder.path()).unwrap()];
    assert!(FolderLock::take(folder.path()).is_err());
    let [first, second] = parts;
    drop(first);
    assert!(FolderLock::take(folder.path()).is_err(), "the second has it still");
    drop(second);
    drop(FolderLock::take(folder.path()).unwrap());
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_lock_is_a_regular_file() {
    let folder = folder();
    let target = folder.path().join("mine");
    std::fs::write(&target, "mine").unwrap();
    std::os::unix::fs::symlink(&target, folder.path().join(".wordline.lock")).unwrap();
    let error = FolderLock::take(folder.path()).unwrap_err();
    assert!(error.action == "create" && error.to_string().contains(".wordline.lock in it"), "{error}");
    assert_eq!(std::fs::read(&target).unwrap(), b"mine");
    std::fs::remove_file(folder.path().join(".wordline.lock")).unwrap();
    std::fs::create_dir(folder.path().join(".wordline.lock")).unwrap();
    FolderLock::take(folder.path()).unwrap_err();
}

#[test]
fn a_set_replaces_its_own_files_alone() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let set =
        |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), b"ours".to_vec())).collect::<Vec<_>>();
    write_set(folder.path(), "run", &set(&["a", "b"]), &[]).unwrap();
    std::fs::write(at("c"), "mine").unwrap();
    std::fs::write(at("d"), "mine").unwrap();
    // `d` came after what was claimed; `c` is of a name that this kind may write, but nobody of it has.
    let error = write_set(folder.path(), "run", &set(&["a", "d"]), &[]).unwrap_err().to_string();
    assert!(error.contains("d: it was put there meanwhile"), "{error}");
    write_set(folder.path(), "run", &set(&["a"]), &["b".to_owned(), "c".to_owned()]).unwrap();
    assert!(!at("b").exists() && at("c").exists());
    let ours = owned(folder.path(), "run").unwrap();
    assert!(ours.contains("a") && !ours.contains("c") && owned(folder.path(), "sweep").is_none());
}

/// Parts of a sweep end at once: no file of one is taken for somebody else's, and no name is lost from the list.
#[test]
fn those_who_share_a_folder_write_their_sets_in_turn() {
    let folder = folder();
    let write = |part: usize, round: usize| {
        let file = |name: String| (name, vec![0; 1_000]);
        let both = (0..20).map(|at| file(format!("{round}-{at}")));
        let files: Vec<_> = both.chain([file(format!("of{part}-{round}"))]).collect();
        write_set(folder.path(), "sweep", &files, &[]).map(drop)
    };
    for round in 0..10 {
        std::thread::scope(|scope| {
            let parts: Vec<_> = (0..4).map(|part| scope.spawn(move || write(part, round))).collect();
            parts.into_iter().for_each(|part| part.join().unwrap().unwrap());
        });
    }
    assert_eq!(owned(folder.path(), "sweep").unwrap().len(), 10 * (20 + 4));
}

/// The system's own reason, not what the library calls it.
#[test]
fn what_is_denied_is_told_as_the_system_tells_it() {
    let folder = folder();
    let error = Replacement::create(&folder.path().join("no/such/file")).unwrap_err().to_string();
    assert!(error.contains("No such file or directory (os error 2)"), "{error}");
    let long = Replacement::create(&folder.path().join("x".repeat(300))).unwrap().commit().unwrap_err();
    assert!(long.to_string().contains("os error 36"), "{long}");
    let error = replace(Path::new("/proc/self/nothing"), b"").unwrap_err().to_string();
    assert!(error.contains("os error") && !error.contains("uncategorized"), "{error}");
    assert!(File::open(folder.path()).is_ok());
}

#[test]
fn a_list_is_never_written_through_a_link() {
    let folder = folder();
    let precious = folder.path().join("precious");
    std::fs::write(&precious, "mine").unwrap();
    std::os::unix::fs::symlink("precious", folder.path().join(".wordline.files")).unwrap();
    let error = note(folder.path(), "run", ["a"]).unwrap_err().to_string();
    assert!(error.contains(".wordline.files: cannot write: it is not a list of this program's"), "{error}");
    assert_eq!(std::fs::read(&precious).unwrap(), b"mine");
}

#[test]
fn what_comes_to_a_claimed_place_is_not_replaced() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let lock = FileLock::take(&at("log")).unwrap();
    std::fs::write(at("precious"), "mine").unwrap();
    std::os::unix::fs::symlink("precious", at("log")).unwrap();
    let error = replace(&at("log"), b"ours").unwrap_err().to_string();
    assert!(error.contains("something else has been put there") && error.contains("log.1"), "{error}");
    assert_eq!(std::fs::read(at("precious")).unwrap(), b"mine");
    assert_eq!(std::fs::read(at("log.1")).unwrap(), b"ours");
    drop(lock);
    // What was there is replaced, and so is what has come of that.
    let lock = FileLock::take(&at("precious")).unwrap();
    replace(&at("precious"), b"first").unwrap();
    replace(&at("precious"), b"second").unwrap();
    drop(lock);
    let mut lock = FolderLock::take(folder.path()).unwrap();
    lock.claim(folder.path(), &["a".to_owned()]);
    std::fs::write(at("a"), "mine").unwrap();
    let set = vec![("b".to_owned(), b"ours".to_vec()), ("a".to_owned(), b"ours".to_vec())];
    let error = write_set(folder.path(), "run", &set, &[]).unwrap_err().to_string();
    assert!(
        error.contains("a: something else has been put there")
            && error.contains("is in b.1, a.1")
            && !at("b").exists(),
        "{error}"
    );
}

#[test]
fn a_users_file_of_a_locks_name_is_no_lock() {
    let folder = folder();
    let notes = folder.path().join("notes");
    std::fs::write(&notes, "my notes").unwrap();
    std::fs::hard_link(&notes, folder.path().join(".wordline.lock")).unwrap();
    std::fs::write(folder.path().join(".wordline-x.lock"), "my notes").unwrap();
    let error = FolderLock::take(folder.path()).unwrap_err().to_string();
    assert!(error.contains("not a lock of this program's"), "{error}");
    FileLock::take(&folder.path().join("x")).unwrap_err();
    drop(FileLock::take(&folder.path().join("y")).unwrap());
    assert_eq!(names(folder.path()), [".wordline-x.lock", ".wordline.lock", "notes"]);
    assert_eq!(std::fs::read(&notes).unwrap(), b"my notes");
    // A folder in which nothing can be made is told, and not tried for ever.
    FolderLock::take(Path::new("/proc")).unwrap_err();
}

/// Whoever removes the file of a lock lets others in: then what they write is not replaced, and their lock stays.
#[test]
fn a_lock_that_is_removed_is_noticed() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let set = |text: &str| vec![("a".to_owned(), text.as_bytes().to_vec())];
    let first = FileLock::take(&at("log")).unwrap();
    let mut whole = FolderLock::take(folder.path()).unwrap();
    whole.claim(folder.path(), &["a".to_owned()]);
    std::fs::remove_file(at(".wordline.lock")).unwrap();
    std::fs::remove_file(at(".wordline-log.lock")).unwrap();
    // Nobody is there: what was claimed is as it was.
    replace(&at("log"), b"ours").unwrap();
    write_set(folder.path(), "run", &set("ours"), &[]).unwrap();
    for (name, at) in
        [(".wordline.lock", at(".wordline.lock")), (".wordline-log.lock", at(".wordline-log.lock"))]
    {
        std::fs::write(&at, "process 1 on here").unwrap();
        let error = if name == ".wordline.lock" {
            write_set(folder.path(), "run", &set("new"), &[]).unwrap_err().to_string()
        } else {
            replace(&folder.path().join("log"), b"new").unwrap_err().to_string()
        };
        assert!(error.contains(&format!("{name} was removed, and another run is writing")), "{error}");
    }
    assert_eq!(
        (std::fs::read(at("log")).unwrap(), std::fs::read(at("a")).unwrap()),
        (b"ours".to_vec(), b"ours".to_vec())
    );
    drop((first, whole));
    assert!(at(".wordline.lock").exists() && at(".wordline-log.lock").exists(), "they are not ours");
}

#[test]
fn links_in_a_circle_are_not_replaced() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("one", at("two")).unwrap();
    std::os::unix::fs::symlink("two", at("one")).unwrap();
    let error = replace(&at("one"), b"ours").unwrap_err().to_string();
    assert!(error.contains("symbolic links (os error 40)"), "{error}");
    assert!(at("one").is_symlink() && at("two").is_symlink());
}
