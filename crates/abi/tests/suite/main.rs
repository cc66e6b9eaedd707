//! The C interface from both sides: policies that the C compiler of this machine has made, and C addresses.
#![allow(unsafe_code, reason = "functions of C are what is tested")]

mod c;

use abi::layout::{ABI, Lane, NONE, NOT_ELIGIBLE, Policy, Unit};
use abi::{Family, Library, lane_from_address, stream_from_address};
use c::{compile, has_compiler};
use ssd::external::{ExternalPolicies, LanePolicy};
use ssd::ftl::tables::blocks::BlockState;
use ssd::rng::Rng;
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode};
use std::ffi::c_void;
use std::slice;

/// A drive of 2 lanes of 24 blocks that a load makes clean.
fn small() -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (24, 2, 3);
    cfg.drive.over_provisioning_percent = 35.0;
    cfg.buffer = ssd::host::buffer::none::Params::default().into();
    cfg
}

fn loaded(mut drive: Drive) -> Drive {
    drive.set_executor(Executor::Functional);
    let sectors = u64::from(drive.unit_bytes() / 512);
    let mut rng = Rng::named(7, "load");
    for _ in 0..20_000 {
        let lba = Lba(u64::from(rng.below(drive.logical_units())) * sectors);
        let write = Command { op: OpCode::Write, lba, sectors: sectors as u32, ..Command::default() };
        drive.submit(0, &write, drive.now()).unwrap();
        assert!(drive.advance_to_completion());
        drive.pop_completion().unwrap();
    }
    drive.drain();
    drive.check().unwrap();
    drive
}

fn with(policies: ExternalPolicies) -> Drive {
    let mut cfg = small();
    for (section, _) in policies.identities() {
        cfg.section_mut(&section).unwrap().select("external").unwrap();
    }
    loaded(Drive::with_policies(&cfg, policies).unwrap())
}

fn victim(policy: Box<dyn LanePolicy>) -> Drive {
    with(ExternalPolicies { gc_victim: Some(policy), ..Default::default() })
}

unsafe extern "C" fn greedy(state: *mut c_void, lane: *const Lane, answer: *mut u32) -> i32 {
    let lane = unsafe { &*lane };
    assert!(state.is_null() && lane.abi == ABI && lane.size as usize == size_of::<Lane>());
    let live = unsafe { slice::from_raw_parts(lane.live, lane.blocks as usize) };
    let state = unsafe { slice::from_raw_parts(lane.state, lane.blocks as usize) };
    let closed_at = unsafe { slice::from_raw_parts(lane.closed_at, lane.blocks as usize) };
    let erases = unsafe { slice::from_raw_parts(lane.erase_count, lane.blocks as usize) };
    let Some(block) = (0..live.len()).min_by_key(|&block| live[block]) else { return 1 };
    let is_sound = live[block] >= NOT_ELIGIBLE
        || state[block] == BlockState::Closed as u8
            && closed_at[block] <= lane.now
            && live[block] < lane.units_per_block
            && erases[block] < 1_000_000;
    unsafe { *answer = if live[block] < NOT_ELIGIBLE { block as u32 } else { NONE } };
    i32::from(!is_sound)
}

unsafe extern "C" fn silent(_: *mut c_void, _: *const Lane, _: *mut u32) -> i32 {
    0
}

unsafe extern "C" fn fails(_: *mut c_void, _: *const Lane, answer: *mut u32) -> i32 {
    unsafe { *answer = 0 };
    -3
}

unsafe extern "C" fn by_size(_: *mut c_void, unit: *const Unit, answer: *mut u32) -> i32 {
    let unit = unsafe { &*unit };
    assert!(unit.abi == ABI && unit.size as usize == size_of::<Unit>() && unit.streams == 2 && unit.call > 0);
    unsafe { *answer = if unit.kind == abi::layout::WRITTEN { unit.lpn % 2 } else { unit.lies_in } };
    0
}

fn at(function: abi::layout::ChooseBlock) -> Box<dyn LanePolicy> {
    // Safety: it is a function of that type.
    unsafe { lane_from_address(Family::GcVictim, "mine", function as usize) }.unwrap()
}

#[test]
fn a_c_address_decides_as_the_built_in_policy_does() {
    let (outside, inside) = (victim(at(greedy)), loaded(Drive::new(&small()).unwrap()));
    assert_eq!(outside.external().fault(), None);
    assert_eq!((outside.event_hash(), outside.stats()), (inside.event_hash(), inside.stats()));
    let (_, who, calls) = outside.external().asked().remove(0);
    assert_eq!((who.name.as_str(), who.kind, who.hash.as_str()), ("mine", "address", ""));
    assert!(calls > 500, "{calls}");
}

#[test]
fn what_a_c_function_does_wrong_is_found_out() {
    let fault = |function| victim(at(function)).external().fault().unwrap().found.clone();
    assert_eq!(fault(silent), "status 0, and no answer was written");
    assert_eq!(fault(fails), "status -3");
    let error = unsafe { lane_from_address(Family::WearLeveling, "mine", 0) }.unwrap_err().to_string();
    assert!(error.contains("wear_leveling") && error.contains("found:   0"), "{error}");
    assert!(unsafe { stream_from_address("mine", 0) }.is_err());
}

#[test]
fn a_c_address_separates_data() {
    let policy = || unsafe { stream_from_address("mine", by_size as *const () as usize) }.unwrap();
    let run = || with(ExternalPolicies { stream: Some(policy()), ..Default::default() });
    let (one, two) = (run(), run());
    assert_eq!((one.external().fault(), one.event_hash()), (None, two.event_hash()));
    assert_ne!(one.event_hash(), loaded(Drive::new(&small()).unwrap()).event_hash());
}

/// What a C compiler thinks of the header, in the order of the Rust types.
#[test]
fn both_sides_lay_records_out_alike() {
    if !has_compiler() {
        return;
    }
    let sizes = [
        ("sizeof(wordline_lane)", size_of::<Lane>()),
        ("offsetof(wordline_lane, now)", std::mem::offset_of!(Lane, now)),
        ("offsetof(wordline_lane, call)", std::mem::offset_of!(Lane, call)),
        ("offsetof(wordline_lane, live)", std::mem::offset_of!(Lane, live)),
        ("offsetof(wordline_lane, state)", std::mem::offset_of!(Lane, state)),
        ("offsetof(wordline_lane, erase_count)", std::mem::offset_of!(Lane, erase_count)),
        ("offsetof(wordline_lane, closed_at)", std::mem::offset_of!(Lane, closed_at)),
        ("offsetof(wordline_lane, wear_q12)", std::mem::offset_of!(Lane, wear_q12)),
        ("sizeof(wordline_unit)", size_of::<Unit>()),
        ("offsetof(wordline_unit, clock)", std::mem::offset_of!(Unit, clock)),
        ("offsetof(wordline_unit, lpn)", std::mem::offset_of!(Unit, lpn)),
        ("offsetof(wordline_unit, lies_in)", std::mem::offset_of!(Unit, lies_in)),
        ("offsetof(wordline_unit, priority)", std::mem::offset_of!(Unit, priority)),
        ("sizeof(wordline_policy)", size_of::<Policy>()),
        ("offsetof(wordline_policy, choose_block)", std::mem::offset_of!(Policy, choose_block)),
        ("offsetof(wordline_policy, streams)", std::mem::offset_of!(Policy, streams)),
        ("WORDLINE_ABI", ABI as usize),
        ("WORDLINE_INVALID", abi::layout::INVALID as usize),
        ("WORDLINE_NONE", NONE as usize),
        ("WORDLINE_NOT_ELIGIBLE", NOT_ELIGIBLE as usize),
        ("WORDLINE_OPEN", BlockState::Open as usize),
        ("WORDLINE_CLOSED", BlockState::Closed as usize),
        ("WORDLINE_ERASING", BlockState::Erasing as usize),
        ("WORDLINE_BAD", BlockState::Bad as usize),
        ("WORDLINE_PEEKED", abi::layout::PEEKED as usize),
    ];
    let held = sizes.map(|(what, value)| format!("_Static_assert({what} == {value}u, \"{what}\");\n"));
    compile("layout", &held.concat()).unwrap();
    let wrong = compile("wrong_layout", "_Static_assert(sizeof(wordline_lane) == 1, \"differs\");\n");
    assert!(wrong.unwrap_err().contains("differs"), "the compiler looks at what it is asked");
}

/// A state that counts calls: each drive has its own, and a copy goes on with the original's count.
const COUNTING: &str = r#"
#include <stdlib.h>
static void *create(void) { return calloc(1, sizeof(uint64_t)); }
static void *copy(const void *state) {
    uint64_t *all = create();
    *all = *(const uint64_t *)state;
    return all;
}
static int32_t choose(void *state, const wordline_lane *lane, uint32_t *answer) {
    if (++*(uint64_t *)state != lane->call) return 9;
    uint32_t least = WORDLINE_NOT_ELIGIBLE;
    *answer = WORDLINE_NONE;
    for (uint32_t block = 0; block < lane->blocks; block++)
        if (lane->live[block] < least) { least = lane->live[block]; *answer = block; }
    return 0;
}
WORDLINE_EXPORT const wordline_policy wordline_gc_victim = {
    WORDLINE_SIZES, "counting", create, COPY, free, choose, NULL, 0, 0};
"#;

#[test]
fn a_library_keeps_a_state_for_each_drive() {
    if !has_compiler() {
        return;
    }
    let path = compile("counting", &COUNTING.replace("COPY", "copy")).unwrap();
    let library = Library::open(Family::GcVictim, &path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!((library.identity().kind, &library.identity().hash), ("library", &abi::hash(&bytes)));
    assert_eq!(library.identity().hash.len(), 32);
    assert!(library.stream_policy().is_none() && library.streams().is_none());
    let inside = loaded(Drive::new(&small()).unwrap());
    for _ in 0..2 {
        let drive = victim(library.lane_policy().unwrap());
        assert_eq!((drive.external().fault(), drive.event_hash()), (None, inside.event_hash()));
        let copy = loaded(drive.clone());
        assert_eq!(copy.external().fault(), None, "a copy has the count of the original");
    }
    let path = compile("uncopied", &COUNTING.replace("COPY", "NULL")).unwrap();
    let drive = victim(Library::open(Family::GcVictim, &path).unwrap().lane_policy().unwrap());
    let fault = loaded(drive.clone()).external().fault().unwrap().clone();
    assert!(fault.found.contains("`copy`"), "{fault}");
}

#[test]
fn a_library_of_another_version_is_refused() {
    if !has_compiler() {
        return;
    }
    let policy = |name: &str, head: &str, rest: &str| {
        let source = format!(
            "static int32_t choose(void *s, const wordline_lane *l, uint32_t *a) {{ (void)s; (void)l; *a = 0; return 0; \
             }}\nint32_t (*used)(void *, const wordline_lane *, uint32_t *) = choose;\n\
             WORDLINE_EXPORT const wordline_policy wordline_gc_victim = {{{head}, \"x\", NULL, NULL, NULL, {rest}}};\n"
        );
        let path = compile(name, &source).unwrap();
        Library::open(Family::GcVictim, &path).map(|_| ()).map_err(|error| error.to_string())
    };
    let sizes = "sizeof(wordline_policy), sizeof(wordline_lane), sizeof(wordline_unit)";
    assert_eq!(policy("right", &format!("1, {sizes}"), "choose, NULL, 0, 0"), Ok(()));
    let error = policy("other_abi", &format!("2, {sizes}"), "choose, NULL, 0, 0").unwrap_err();
    assert!(error.contains("found:   version 2 of the interface"), "{error}");
    assert!(error.contains("allowed: version 1 of the interface"), "{error}");
    let error = policy("other_size", "1, sizeof(wordline_policy), 8, 80", "choose, NULL, 0, 0").unwrap_err();
    assert!(error.contains("and 80 bytes") && error.contains(", 8 "), "{error}");
    let error = policy("no_function", &format!("1, {sizes}"), "NULL, NULL, 0, 0").unwrap_err();
    assert!(error.contains("`wordline_gc_victim` without `choose_block`"), "{error}");
    let error = policy("streams", &format!("1, {sizes}"), "choose, NULL, 31, 0").unwrap_err();
    assert!(error.contains("31 streams"), "{error}");
    let path = compile("nothing", "int nothing;\n").unwrap();
    let error = Library::open(Family::Stream, &path).unwrap_err().to_string();
    assert!(error.contains("no symbol `wordline_stream`"), "{error}");
}
