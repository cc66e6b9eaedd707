//! MQSim's two habits: read data before commands on a channel, and a plane for each logical page; and the preset that
//! has both, against the latencies that MQSim's formula gives at depth 1.

use super::*;
use ssd::config::Layer;
use ssd::drive_config::resolve;
use ssd::sections::{ChannelOrder, Placement};

/// Chips on channels that send read data first, with pages dealt out by address.
fn habits(channels: u32, chips: u32) -> DriveConfig {
    let mut cfg = many_dies(channels, chips);
    cfg.scheduling.channel = ChannelOrder::DataFirst;
    cfg.allocation.placement = Placement::Static;
    cfg
}

const TRANSFER_OUT: (Part, u64) = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
const TRANSFER_IN: (Part, u64) = (Part::Transfer, PROGRAM_COMMAND + DATA_16K);

#[test]
fn read_data_goes_before_a_command() {
    // Two reads on each of two dies. When the channel is free at 66 724, the next command of die 0 waits, but die 1's
    // data goes first; then all commands, and the arrays work while the channel does nothing.
    // channel  0 c0 300 c1 600   50 300 out 0 66 724 out 1 83 148 c2 83 448 c3 83 748
    //                           133 448 out 2 149 872 out 3 (ready at 133 748) 149 872 -- 166 296
    // die 0  300 -- 50 300                            83 448 ---- 133 448
    // die 1  600 -- 50 600                               83 748 ---- 133 748
    let mut drive = filled(&habits(1, 2), 4);
    let done = run(&mut drive, &[(0, read(0)), (0, read(1)), (0, read(2)), (0, read(3))]);
    let with =
        |waits: &[(Part, u64)]| [waits, &[TRANSFER_OUT, (Part::Array, T_R), (Part::Link, LINK_16K)]].concat();
    expect(&done[0], 66_724 + LINK_16K, &with(&[]));
    expect(&done[1], 83_148 + LINK_16K, &with(&[(Part::ChannelWait, 300 + (66_724 - 50_600))]));
    let waits = [(Part::DieWait, 66_724), (Part::ChannelWait, 83_148 - 66_724)];
    expect(&done[2], 149_872 + LINK_16K, &with(&waits));
    let waits = [(Part::DieWait, 83_148), (Part::ChannelWait, 300 + (149_872 - 133_748))];
    expect(&done[3], 166_296 + LINK_16K, &with(&waits));
}

#[test]
fn read_data_goes_before_a_program_that_asked_earlier() {
    // Three dies on a channel. A program to die 2 is on it when the program to die 1 asks (48 192) and then the data
    // of die 0 is ready (50 300).
    // link           40 000 -- 44 096 -- 48 192
    // channel  0 c 300                44 096 p2 60 880 out 0 77 304 p1 94 088
    // channel, commands first:        44 096 p2 60 880 p1 77 664 out 0 94 088
    let script = [(0, read(0)), (40_000, write(5)), (40_000, write(4))];
    let wait = |ns| [(Part::ChannelWait, ns), TRANSFER_OUT, (Part::Array, T_R), (Part::Link, LINK_16K)];
    let program = |link, wait| {
        let link = [(Part::LinkWait, link - LINK_16K), (Part::Link, LINK_16K)];
        [link[0], link[1], (Part::ChannelWait, wait), TRANSFER_IN, (Part::Array, T_PROG)]
    };
    let mut cfg = habits(1, 3);
    let done = run(&mut filled(&cfg, 3), &script);
    expect(&done[0], 77_304 + LINK_16K, &wait(60_880 - 50_300));
    expect(&done[1], 60_880 + T_PROG, &program(LINK_16K, 0));
    expect(&done[2], 94_088 + T_PROG, &program(2 * LINK_16K, 77_304 - 48_192));
    cfg.scheduling.channel = ChannelOrder::CommandsFirst;
    let done = run(&mut filled(&cfg, 3), &script);
    expect(&done[0], 94_088 + LINK_16K, &wait(77_664 - 50_300));
    expect(&done[2], 77_664 + T_PROG, &program(2 * LINK_16K, 60_880 - 48_192));
}

#[test]
fn a_die_decides_what_it_sends_when_it_has_the_channel() {
    // While die 0's data leaves, a program of die 1 waits for the channel (51 096), and a read for the same die comes
    // (60 000). When the channel is free the read goes first.
    // channel  0 c 300   50 300 out 0 66 724 c1 67 024   117 024 out 1 133 448 p 150 232
    // die 1                               67 024 ---- 117 024            150 232 ---- 750 232
    let script = [(0, read(0)), (47_000, write(3)), (60_000, read(1))];
    let reading = |wait| [(Part::DieWait, wait), TRANSFER_OUT, (Part::Array, T_R), (Part::Link, LINK_16K)];
    let mut cfg = habits(1, 2);
    let done = run(&mut filled(&cfg, 4), &script);
    expect(&done[2], 133_448 + LINK_16K, &reading(66_724 - 60_000));
    let wait = (Part::DieWait, 133_448 - 51_096);
    expect(&done[1], 750_232, &[(Part::Link, LINK_16K), wait, TRANSFER_IN, (Part::Array, T_PROG)]);
    // A program that no read may pass any more goes: 66 724 + 16 784 + 600 000 = 683 508, and then the read.
    cfg.scheduling.read_bypass_limit = 0;
    let done = run(&mut filled(&cfg, 4), &script);
    let wait = (Part::ChannelWait, 66_724 - 51_096);
    expect(&done[1], 683_508, &[(Part::Link, LINK_16K), wait, TRANSFER_IN, (Part::Array, T_PROG)]);
    expect(&done[2], 683_508 + READ_16K + LINK_16K, &reading(683_508 - 60_000));
}

#[test]
fn a_page_is_written_to_the_plane_of_its_address() {
    // Two channels of one die: even pages are die 0's, whoever is idle.
    // link   0 -- 4 096 (page 0) -- 8 192 (page 2) -- 12 288 (page 1)
    // die 0       4 096 ---- page 0 ---- 620 880 ---- page 2 ---- 1 237 664
    // die 1                                   12 288 ---- page 1 ---- 629 072
    let script = [(0, write(0)), (0, write(2)), (0, write(1))];
    let parts = |link: u64, wait| {
        let link = [(Part::LinkWait, (link - 1) * LINK_16K), (Part::Link, LINK_16K)];
        [link[0], link[1], (Part::DieWait, wait), TRANSFER_IN, (Part::Array, T_PROG)]
    };
    let mut cfg = habits(2, 1);
    let done = run(&mut Drive::new(&cfg).unwrap(), &script);
    expect(&done[0], 620_880, &parts(1, 0));
    expect(&done[1], 620_880 + PROGRAM_16K, &parts(2, 620_880 - 8_192));
    expect(&done[2], 12_288 + PROGRAM_16K, &parts(3, 0));
    // Dealt out in turn, page 2 goes to die 1, and page 1 waits for die 0.
    cfg.allocation.placement = Placement::Dynamic;
    let done = run(&mut Drive::new(&cfg).unwrap(), &script);
    expect(&done[1], 8_192 + PROGRAM_16K, &parts(2, 0));
    expect(&done[2], 620_880 + PROGRAM_16K, &parts(3, 620_880 - 12_288));
}

#[test]
fn the_preset_has_mqsims_latencies_at_depth_one() {
    // Link 3 282.05 MB/s: 4 KiB 1 248, 16 KiB 4 992; 40 each way. No time for the command of a data output.
    // 4-KiB read    290 + 75 000 + 12 288  =  87 578, link 1 328:  88 906
    // 16-KiB read   290 + 75 000 + 49 152  = 124 442, link 5 072: 129 514
    // 4-KiB write   12 288 + 361 + 750 000 = 762 649, link 1 328: 763 977
    // 16-KiB write  49 152 + 361 + 750 000 = 799 513, link 5 072: 804 585
    let cfg = resolve(&[Layer::file("mqsim", "preset = \"mqsim\"")], &[]).unwrap().config;
    let script = [
        (0, command(OpCode::Read, 64, S4K)),
        (1_000_000, command(OpCode::Read, 96, S16K)),
        // Pages that were never written: nothing is merged.
        (2_000_000, command(OpCode::Write, 6_400, S4K)),
        (3_000_000, command(OpCode::Write, 9_600, S16K)),
    ];
    let done = run(&mut filled(&cfg, 100), &script);
    let latency = |i: usize| done[i].completed.0 - script[i].0;
    assert_eq!([0, 1, 2, 3].map(latency), [88_906, 129_514, 763_977, 804_585]);
}
