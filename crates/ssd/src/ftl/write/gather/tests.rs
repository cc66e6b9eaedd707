//! Units that wait: their order, whose turn it is, what is a row.

use super::*;

fn gather(streams: u8, turns: u32) -> Gather {
    let all = u32::MAX >> (32 - streams);
    Gather::new(Streams::of(streams, all, all), (2, 1), 8, turns)
}

fn put(gather: &mut Gather, slots: &[(u32, u8)]) {
    for &(slot, stream) in slots {
        gather.put(SlotId(slot), (Lpn(slot), 4_096, StreamId(stream), 0), Facts::NONE, false);
    }
}

#[test]
fn units_parked_keep_their_order_and_go_first() {
    let mut gather = gather(1, 2);
    put(&mut gather, &[(0, 0), (2, 0), (4, 0), (1, 0), (6, 0)]);
    for (slot, turn) in [(0, 0), (2, 0), (4, 0), (1, 1)] {
        gather.park(SlotId(slot), turn);
    }
    assert_eq!((gather.parked(), gather.waiting()), (4, 1));
    gather.take(SlotId(2));
    gather.unpark(0);
    assert!(!gather.is_line(0) && gather.is_line(1));
    for slot in [0, 4, 6] {
        assert_eq!(gather.oldest(StreamId(0), 0).0, SlotId(slot));
        gather.take(SlotId(slot));
    }
    assert_eq!((gather.parked(), gather.waiting(), gather.next_stream()), (1, 0, None));
}

#[test]
fn what_was_programmed_in_vain_goes_first() {
    let mut gather = gather(1, 0);
    put(&mut gather, &[(0, 0), (1, 0)]);
    gather.take(SlotId(0));
    put(&mut gather, &[(2, 0)]);
    gather.put_back(SlotId(0));
    assert_eq!((gather.oldest(StreamId(0), 0).0, gather.waiting()), (SlotId(0), 3));
}

#[test]
fn only_a_parked_unit_grows_where_it_waits() {
    let mut gather = gather(1, 2);
    put(&mut gather, &[(0, 0), (1, 0)]);
    gather.park(SlotId(0), 1);
    // Offered again it would lose its place in line; what waits for a page has none to lose.
    assert_eq!([0, 1].map(|slot| gather.grow_parked(SlotId(slot), 8_192)), [true, false]);
    assert_eq!([0, 1].map(|slot| gather.get(SlotId(slot)).bytes), [8_192, 4_096]);
}

#[test]
fn streams_with_a_full_page_take_turns() {
    let mut gather = gather(3, 0);
    put(&mut gather, &[(0, 1), (1, 2), (2, 2), (3, 0), (4, 0), (5, 0), (6, 0)]);
    assert!(gather.has_full_row());
    let mut order = Vec::new();
    while let Some(stream) = gather.next_stream() {
        let page: Vec<u32> = (0..gather.page_of(stream))
            .map(|_| {
                let slot = gather.oldest(stream, 0).0;
                gather.take(slot);
                slot.0
            })
            .collect();
        gather.pass_turn(stream);
        order.push((stream.0, page));
    }
    assert_eq!(order, [(0, vec![3, 4]), (2, vec![1, 2]), (0, vec![5, 6]), (1, vec![0])]);
    assert!(!gather.has_full_row());
}

/// By hand: 12 units of one stream, of the classes 0 and 3 of four, for which nothing else waits; the pages come
/// in the order of their types.
#[test]
fn pages_take_their_own_class_else_the_nearest() {
    let mut gather = Gather::new(Streams::of(1, 1, 1), (1, 1), 12, 0).by_class(4, 12);
    for (slot, class) in (0..).zip([0, 3, 3, 0, 3, 3, 3, 0, 3, 3, 3, 3]) {
        assert!(!gather.has_full_row());
        gather.put(SlotId(slot), (Lpn(slot), 4_096, StreamId(0), class), Facts::NONE, false);
    }
    assert!(gather.has_full_row());
    let took: Vec<(u32, bool)> = (0..12)
        .map(|page| {
            let (slot, own) = gather.oldest(StreamId(0), page % 4);
            gather.take(slot);
            (slot.0, own)
        })
        .collect();
    // P_a and P_b take what is hot, while there is some: P_b is nearer to 0 than to 3, P_c to 3.
    let expected = [
        (0, true),
        (3, false),
        (1, false),
        (2, true),
        (7, true),
        (4, false),
        (5, false),
        (6, true),
        (8, false),
        (9, false),
        (10, false),
        (11, true),
    ];
    assert_eq!((took, gather.waiting()), (expected.to_vec(), 0));
}

/// Rows of three pages of two units: a stream of which a page is programmed has two left, and enough for them sooner.
#[test]
fn what_is_left_of_a_row_is_enough() {
    let mut gather = Gather::new(Streams::of(2, 3, 3), (2, 3), 16, 0);
    let slots: Vec<(u32, u8)> = (0..5).map(|slot| (slot, 1)).collect();
    put(&mut gather, &slots);
    assert!(!gather.has_full_row() && !gather.would_pad_a_row());
    gather.note_left(StreamId(1), 2);
    assert!(gather.has_full_row());
    gather.take(SlotId(0));
    gather.take(SlotId(1));
    gather.note_left(StreamId(1), 1);
    assert!(gather.has_full_row());
    gather.note_left(StreamId(1), 0);
    // A page comes before what fills none, whose turn it would be.
    put(&mut gather, &[(5, 0)]);
    assert_eq!((gather.has_full_row(), gather.next_stream()), (false, Some(StreamId(1))));
    gather.take(SlotId(2));
    gather.take(SlotId(3));
    assert!(gather.would_pad_a_row());
}
