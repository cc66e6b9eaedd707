//! The power is lost in the middle of an operation: how far the array had come, to the ns.

use super::locks::{evanesco, trim};
use super::*;
use ssd::config::Table;
use ssd::nand::Raw;
use ssd::nand::torn::{AtWork, Doing};

/// The only array at work, and how far it has come at a time.
fn progress(drive: &mut Drive, at: u64) -> (AtWork, u64) {
    drive.advance_to(SimTime(at));
    let [work] = drive.blocks().at_work()[..] else { panic!("{:?} at {at}", drive.blocks().at_work()) };
    (work, work.done_ns(SimTime(at)))
}

#[test]
fn locks_and_programs_are_torn_where_their_arrays_were() {
    let mut drive = filled(&evanesco(1, "page_and_block_lock"), 100);
    // lock     0 command 290 array 100 290
    let now = drive.now().0;
    drive.submit(0, &Command { arrival: drive.now(), ..trim(7, 1) }, drive.now()).unwrap();
    let (work, done) = progress(&mut drive, now + 290);
    assert_eq!((work.doing, work.total_ns, done), (Doing::LocksPage, 100_000, 0));
    assert_eq!(drive.clone().cut().torn_locks().count(), 0, "it has not begun");
    let torn = [(290 + 3_000, 3_000), (290 + 99_999, 99_999)];
    for (at, ns) in torn {
        assert_eq!(progress(&mut drive, now + at).1, ns);
        assert_eq!(drive.clone().cut().torn_locks().collect::<Vec<_>>(), [((work.block, work.page), ns)]);
    }
    drive.advance_to(SimTime(now + 100_290));
    assert_eq!(drive.blocks().at_work(), []);
    let chips = drive.clone().cut();
    assert_eq!(chips.torn_locks().count(), 0);
    assert_eq!(chips.raw_read(work.block, work.page, drive.now(), 0), Raw::Zeros);
    drive.drain();
    // link     0 -- 4 096
    // program       4 096 command 4 457 data 20 841 array 720 841
    let now = drive.now().0;
    drive.submit(0, &Command { arrival: drive.now(), ..write(8) }, drive.now()).unwrap();
    for (at, ns, raw) in [(20_841, 0, Raw::Erased), (20_842, 1, Raw::Data), (720_840, 699_999, Raw::Data)] {
        let (work, done) = progress(&mut drive, now + at);
        assert_eq!((work.doing, done), (Doing::Programs, ns));
        assert_eq!(drive.clone().cut().raw_read(work.block, work.page, drive.now(), 0), raw);
    }
}

#[test]
fn what_is_suspended_stays_where_it_was() {
    let mut cfg = one_die();
    cfg.preemption.select("immediate").unwrap();
    (cfg.timing.t_suspend_us, cfg.timing.t_resume_us) = (20.0, 30.0);
    cfg.buffer = buffer::Config::None(buffer::none::Params::default());
    let mut drive = filled(&cfg, 100);
    // link     0 -- 4 096
    // program       4 096 .. 20 880 array ..... 120 880 stops                       go on
    // read                                      120 880       140 880 .... 207 604
    //                                                                      207 604  237 604 array 737 604
    let now = drive.now().0;
    let begin = now + LINK_16K + PROGRAM_COMMAND + DATA_16K;
    drive.submit(0, &Command { arrival: drive.now(), ..write(8) }, drive.now()).unwrap();
    assert_eq!(progress(&mut drive, begin + 70_000).1, 70_000);
    let at = SimTime(begin + 100_000);
    drive.submit(0, &Command { arrival: at, ..read(50) }, at).unwrap();
    for later in [0, 19_999, 20_000] {
        assert_eq!(progress(&mut drive, at.0 + later).1, 100_000, "{later} ns after the read came");
    }
    // Beside the read, which leaves nothing, while its page goes out, and until it goes on.
    let goes_on = at.0 + 20_000 + READ_16K + 30_000;
    for when in [at.0 + 30_000, goes_on - 40_000, goes_on - 1, goes_on] {
        let (work, done) = progress(&mut drive, when);
        assert_eq!((work.doing, done), (Doing::Programs, 100_000));
    }
    assert_eq!(progress(&mut drive, goes_on + 5).1, 100_005);
    let (work, done) = progress(&mut drive, goes_on + T_PROG - 100_000 - 1);
    assert_eq!((work.total_ns, done), (T_PROG, T_PROG - 1));
    drive.advance_to(SimTime(goes_on + T_PROG - 100_000));
    assert_eq!(drive.blocks().at_work(), []);
}
