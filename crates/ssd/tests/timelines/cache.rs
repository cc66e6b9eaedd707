//! Cache operations: the array works on one page while another page's data moves.

use super::*;

fn with_cache() -> DriveConfig {
    let mut cfg = one_die();
    cfg.timing.cache_operations = true;
    cfg
}

#[test]
fn cache_reads_overlap_output_with_the_next_sense() {
    // channel  0 cmd 300 cmd 600     50 300 out 0 66 724 cmd 67 024   100 300 out 1 116 724   150 300 out 2 166 724
    // array       300 -- 0 -- 50 300 ------------ 1 -------------- 100 300 ----- 2 ----- 150 300
    // Without: 66 724, 133 448, 200 172.
    let done = run(&mut filled(&with_cache(), 3), &[(0, read(0)), (0, read(1)), (0, read(2))]);
    let transfer = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
    let (array, link) = ((Part::Array, T_R), (Part::Link, LINK_16K));
    expect(&done[0], 66_724 + LINK_16K, &[transfer, array, link]);
    // Read 1 waits 300 for the interface, then staged from 600 to 50 300.
    expect(&done[1], 116_724 + LINK_16K, &[(Part::DieWait, 300 + 49_700), transfer, array, link]);
    // Read 2 waits 66 724 for the interface, then staged from 67 024 to 100 300.
    expect(&done[2], 166_724 + LINK_16K, &[(Part::DieWait, 66_724 + 33_276), transfer, array, link]);
}

#[test]
fn a_slow_channel_holds_cache_reads_back() {
    // tR of 10 us is shorter than the output of 16 424: from the second read on, the register is the bottleneck.
    // channel  0 cmd 300 cmd 600   10 300 out 0 26 724 cmd 27 024 out 1 43 448 out 2 59 872
    // array      300 - 0 - 10 300 -- 1 -- 20 300      27 024 - 2 - 37 024
    let mut cfg = with_cache();
    cfg.timing.t_read_us = vec![10.0];
    let done = run(&mut filled(&cfg, 3), &[(0, read(0)), (0, read(1)), (0, read(2))]);
    let transfer = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
    let (array, link) = ((Part::Array, 10_000), (Part::Link, LINK_16K));
    expect(&done[0], 26_724 + LINK_16K, &[transfer, array, link]);
    // Staged from 600 to 10 300, then 20 300 to 27 024 until the interface is free of read 2's command.
    expect(&done[1], 43_448 + LINK_16K, &[(Part::DieWait, 300 + 9_700 + 6_724), transfer, array, link]);
    expect(&done[2], 59_872 + LINK_16K, &[(Part::DieWait, 26_724 + 6_424), transfer, array, link]);
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
    let parts = [(Part::Link, 2 * LINK_16K), (Part::DieWait, wait), transfer, (Part::Array, T_PROG)];
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
