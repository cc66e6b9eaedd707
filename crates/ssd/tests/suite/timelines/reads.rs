//! Reads: alone, sharing a die, a channel or nothing, of parts of pages, of several planes, of page types.

use super::*;
use ssd::flash::op::OpKind;
use ssd::sections::Issue;

#[test]
fn one_read() {
    // channel  0 cmd 300                     50 300 out 66 724
    // array         300 ---- tR ---- 50 300
    // link                                              66 724 -- 70 820
    let done = run(&mut filled(&one_die(), 1), &[(0, read(0))]);
    expect(
        &done[0],
        70_820,
        &[
            (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K),
            (Part::Array, T_R),
            (Part::Link, LINK_16K),
        ],
    );
    assert_eq!(READ_16K + LINK_16K, 70_820);
}

#[test]
fn two_reads_on_one_die_follow_each_other() {
    // The second command is taken when the first one's data has left the page register.
    // die  0 ---- read 0 ---- 66 724 ---- read 1 ---- 133 448
    let done = run(&mut filled(&one_die(), 2), &[(0, read(0)), (0, read(1))]);
    let transfer = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
    expect(&done[0], 66_724 + LINK_16K, &[transfer, (Part::Array, T_R), (Part::Link, LINK_16K)]);
    let parts = [(Part::DieWait, 66_724), transfer, (Part::Array, T_R), (Part::Link, LINK_16K)];
    expect(&done[1], 133_448 + LINK_16K, &parts);
}

#[test]
fn two_reads_on_two_dies_share_the_channel() {
    // channel  0 cmd 300 cmd 600      50 300 out die 0 66 724 out die 1 83 148
    // die 0        300 ------- 50 300
    // die 1               600 ------- 50 600 (waits 16 124)
    // Command and data of one die go over the channel while the other die's array works.
    let done = run(&mut filled(&many_dies(1, 2), 2), &[(0, read(0)), (0, read(1))]);
    let transfer = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
    expect(&done[0], 66_724 + LINK_16K, &[transfer, (Part::Array, T_R), (Part::Link, LINK_16K)]);
    let wait = 300 + (66_724 - 50_600);
    let parts = [(Part::ChannelWait, wait), transfer, (Part::Array, T_R), (Part::Link, LINK_16K)];
    expect(&done[1], 83_148 + LINK_16K, &parts);
}

#[test]
fn a_command_goes_before_data() {
    // Two reads on each of two dies. When the channel is free at 66 724, die 1's data has waited longest, but the next
    // command of die 0 goes first: its array works while die 1's data leaves.
    // channel  0 c0 300 c1 600   50 300 out 0 66 724 c2 67 024 out 1 83 448 c3 83 748
    //                           117 024 out 2 133 448 out 3 (ready at 133 748) 133 748 -- 150 172
    // die 0  300 -- 50 300     67 024 ---- 117 024
    // die 1  600 -- 50 600     83 748 ---- 133 748
    let mut drive = filled(&many_dies(1, 2), 4);
    let done = run(&mut drive, &[(0, read(0)), (0, read(1)), (0, read(2)), (0, read(3))]);
    let common =
        [(Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K), (Part::Array, T_R), (Part::Link, LINK_16K)];
    let with = |wait: &[(Part, u64)]| [wait, &common[..]].concat();
    expect(&done[0], 66_724 + LINK_16K, &common);
    expect(&done[1], 83_448 + LINK_16K, &with(&[(Part::ChannelWait, 300 + (67_024 - 50_600))]));
    expect(&done[2], 133_448 + LINK_16K, &with(&[(Part::DieWait, 66_724)]));
    expect(&done[3], 150_172 + LINK_16K, &with(&[(Part::DieWait, 83_448)]));
}

#[test]
fn two_reads_on_two_channels_share_only_the_link() {
    // channel 0  0 cmd 300 ... 50 300 out 66 724
    // channel 1  0 cmd 300 ... 50 300 out 66 724
    // link                                66 724 -- 70 820 -- 74 916
    let done = run(&mut filled(&many_dies(2, 1), 2), &[(0, read(0)), (0, read(1))]);
    let transfer = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
    expect(&done[0], 70_820, &[transfer, (Part::Array, T_R), (Part::Link, LINK_16K)]);
    let link = [(Part::LinkWait, LINK_16K), (Part::Link, LINK_16K)];
    expect(&done[1], 74_916, &[transfer, (Part::Array, T_R), link[0], link[1]]);
}

#[test]
fn a_part_of_a_page_is_transferred_alone() {
    // The array senses the whole page; a column address lets only the wanted bytes out.
    // 0 cmd 300 -- tR -- 50 300 out (40 + 4 096) 54 436, link 1 024
    let done = run(&mut filled(&one_die(), 1), &[(0, command(OpCode::Read, 8, S4K))]);
    let parts =
        [(Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_4K), (Part::Array, T_R), (Part::Link, LINK_4K)];
    expect(&done[0], 54_436 + 1_024, &parts);
}

#[test]
fn units_of_one_page_are_read_together() {
    let mut cfg = one_die();
    cfg.mapping.unit = MappingUnit::FourKib;
    let mut drive = filled(&cfg, 8);
    // Units 1 and 2 lie in page 0: one read of 8 KiB.
    // 0 cmd 300 -- tR -- 50 300 out (40 + 8 192) 58 532, link 2 048
    // Units 3 and 4 lie in pages 0 and 1: two reads of 4 KiB, one after the other on the die, the link once.
    // 100 000 ---- 154 436 ---- 208 872, link 2 048
    let script = [(0, command(OpCode::Read, 8, 16)), (100_000, command(OpCode::Read, 24, 16))];
    let done = run(&mut drive, &script);
    let data = READ_COMMAND + OUT_COMMAND + 2 * DATA_4K;
    expect(
        &done[0],
        58_532 + 2_048,
        &[(Part::Transfer, data), (Part::Array, T_R), (Part::Link, 2 * LINK_4K)],
    );
    let parts = [
        (Part::DieWait, 54_436),
        (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_4K),
        (Part::Array, T_R),
        (Part::Link, 2 * LINK_4K),
    ];
    expect(&done[1], 208_872 + 2_048, &parts);
    assert_eq!(drive.stats().ops(OpKind::Read), 3);
}

#[test]
fn pages_of_four_planes_are_read_at_once() {
    // Four commands, one tR for all planes, then each plane's data with its own output command.
    // channel  0 cmd x 4 1 200             51 200 | 67 624 | 84 048 | 100 472 | 116 896
    // arrays         1 200 ---- tR ---- 51 200
    // link                                                              116 896 -- 133 280
    let mut drive = filled(&four_planes(), 4);
    let done = run(&mut drive, &[(0, command(OpCode::Read, 0, 128))]);
    let parts = [
        (Part::Transfer, 4 * READ_COMMAND + OUT_COMMAND + DATA_16K),
        (Part::Array, T_R),
        (Part::ChannelWait, 3 * (OUT_COMMAND + DATA_16K)),
        (Part::Link, 4 * LINK_16K),
    ];
    expect(&done[0], 116_896 + 16_384, &parts);
    assert_eq!(drive.stats().flash.groups, 1);
}

#[test]
fn planes_are_read_one_by_one_if_told_so() {
    let mut cfg = four_planes();
    (cfg.scheduling.multi_plane, cfg.allocation.issue) = (false, Issue::Page);
    // 0 ---- 66 724 ---- 133 448 ---- 200 172 ---- 266 896, link 16 384
    let done = run(&mut filled(&cfg, 4), &[(0, command(OpCode::Read, 0, 128))]);
    let parts = [
        (Part::DieWait, 200_172),
        (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K),
        (Part::Array, T_R),
        (Part::Link, 4 * LINK_16K),
    ];
    expect(&done[0], 266_896 + 16_384, &parts);
}

#[test]
fn pages_with_other_numbers_are_not_read_together() {
    // Planes share the wordline and page address (ONFI, interleaved operations): page 0 of plane 0 and page 1 of
    // plane 1 are two reads.
    let mut drive = filled(&four_planes(), 8);
    let done = run(&mut drive, &[(0, read(0)), (0, read(5))]);
    let transfer = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
    expect(&done[0], 70_820, &[transfer, (Part::Array, T_R), (Part::Link, LINK_16K)]);
    let parts = [(Part::DieWait, 66_724), transfer, (Part::Array, T_R), (Part::Link, LINK_16K)];
    expect(&done[1], 137_544, &parts);
    assert_eq!(drive.stats().flash.groups, 0);
}

#[test]
fn page_types_are_read_with_their_number_of_senses() {
    let mut cfg = one_die();
    (cfg.geometry.bits_per_cell, cfg.timing.t_read_us) = (3, vec![]);
    (cfg.timing.t_read_base_us, cfg.timing.t_sense_us) = (10.0, 20.0);
    // The TLC code senses 2, 3 and 2 thresholds: tR = 10 + 2 x 20 = 50, 10 + 3 x 20 = 70, 50 us.
    let script = [(0, read(0)), (200_000, read(1)), (400_000, read(2)), (600_000, read(4))];
    let done = run(&mut filled(&cfg, 6), &script);
    for (completion, (at, t_r)) in
        done.iter().zip([(0, 50_000), (200_000, 70_000), (400_000, 50_000), (600_000, 70_000)])
    {
        let transfer = READ_COMMAND + OUT_COMMAND + DATA_16K;
        let parts = [(Part::Transfer, transfer), (Part::Array, t_r), (Part::Link, LINK_16K)];
        expect(completion, at + transfer + t_r + LINK_16K, &parts);
    }
    // A code of the caller's: 1, 2 and 4 thresholds give 30, 50 and 90 us.
    cfg.cell.gray_code = vec![vec![4], vec![2, 6], vec![1, 3, 5, 7]];
    let done = run(&mut filled(&cfg, 6), &script[..3]);
    assert_eq!(
        done.iter().map(|c| c.breakdown.ns[Part::Array as usize]).collect::<Vec<_>>(),
        [30_000, 50_000, 90_000]
    );
}

#[test]
fn what_was_never_written_is_read_from_nowhere() {
    // 0 DRAM 200, link 4 096: zeros come from the controller.
    let done = run(&mut Drive::new(&one_die()).unwrap(), &[(0, read(0))]);
    expect(&done[0], 4_296, &[(Part::Buffer, DRAM), (Part::Link, LINK_16K)]);
}
