//! Cache operations: the array works on one page while another page's data moves.

use super::*;

fn with_cache() -> DriveConfig {
    let mut cfg = one_die();
    cfg.timing.cache_operations = true;
    cfg
}

#[test]
fn cache_reads_overlap_output_with_the_next_sense() {
    // A chip takes the next read when the array has the last page (ONFI: 31h needs RDY); then that page leaves.
    // channel  0 c0 300   50 300 c1 50 600 out 0 67 024   100 600 c2 100 900 out 1 117 324   150 900 out 2 167 324
    // array       300 -- 0 -- 50 300 50 600 ---- 1 ---- 100 600 100 900 ---- 2 ---- 150 900
    // Without: 66 724, 133 448, 200 172.
    let done = run(&mut filled(&with_cache(), 3), &[(0, read(0)), (0, read(1)), (0, read(2))]);
    let transfer = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
    let (array, link) = ((Part::Array, T_R), (Part::Link, LINK_16K));
    // Pages 0 and 1 let the next command pass.
    expect(&done[0], 67_024 + LINK_16K, &[(Part::DieWait, 300), transfer, array, link]);
    expect(&done[1], 117_324 + LINK_16K, &[(Part::DieWait, 50_300 + 300), transfer, array, link]);
    expect(&done[2], 167_324 + LINK_16K, &[(Part::DieWait, 100_600), transfer, array, link]);
}

#[test]
fn a_slow_channel_holds_cache_reads_back() {
    // tR of 10 us is shorter than the output of 16 424: from the second read on, the register is the bottleneck.
    // channel  0 c0 300 10 300 c1 10 600 out 0 27 024 c2 27 324 out 1 43 748 out 2 60 172
    // array      300 - 0 - 10 300 10 600 - 1 - 20 600   27 324 - 2 - 37 324
    let mut cfg = with_cache();
    cfg.timing.t_read_us = vec![10.0];
    let done = run(&mut filled(&cfg, 3), &[(0, read(0)), (0, read(1)), (0, read(2))]);
    let transfer = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
    let (array, link) = ((Part::Array, 10_000), (Part::Link, LINK_16K));
    expect(&done[0], 27_024 + LINK_16K, &[(Part::DieWait, 300), transfer, array, link]);
    let wait = 10_300 + (27_324 - 20_600);
    expect(&done[1], 43_748 + LINK_16K, &[(Part::DieWait, wait), transfer, array, link]);
    let wait = 27_024 + (43_748 - 37_324);
    expect(&done[2], 60_172 + LINK_16K, &[(Part::DieWait, wait), transfer, array, link]);
}

#[test]
fn cache_programs_take_data_in_while_the_array_works() {
    // link     0 -- 4 096 -- 8 192
    // channel       4 096 data 0 20 880 data 1 37 664
    // array                      20 880 ---- 0 ---- 620 880 ---- 1 ---- 1 220 880    (without: 1 237 664)
    let done = run(&mut Drive::new(&with_cache()).unwrap(), &[(0, write(0)), (0, write(1))]);
    let transfer = (Part::Transfer, PROGRAM_COMMAND + DATA_16K);
    expect(&done[0], 620_880, &[(Part::Link, LINK_16K), transfer, (Part::Array, T_PROG)]);
    let wait = (20_880 - 8_192) + (620_880 - 37_664);
    let link = [(Part::LinkWait, LINK_16K), (Part::Link, LINK_16K)];
    let parts = [link[0], link[1], (Part::DieWait, wait), transfer, (Part::Array, T_PROG)];
    expect(&done[1], 1_220_880, &parts);
}

#[test]
fn reads_and_programs_do_not_overlap() {
    // A cache command continues an operation of its own kind; another kind waits until the die is idle.
    // die  4 096 -- program -- 620 880 -- read -- 687 604
    let done = run(&mut filled(&with_cache(), 1), &[(0, write(1)), (30_000, read(0))]);
    assert_eq!(done[0].completed.0, 620_880);
    assert_eq!(done[1].completed.0, 687_604 + LINK_16K);
}
