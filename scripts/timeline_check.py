"""Reads a timeline by Perfetto's own schema, strictly, fills SQLite with it, and holds timeline.sql against a result.

Usage: timeline_check.py TRACE RESULT_JSON CHANNELS DIES
$TRACE_PROCESSOR, where set, is Perfetto's trace processor: it must say the same.
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import zlib

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

SQL = (pathlib.Path(__file__).parent / "timeline.sql").read_text()


def packets(path):
    """All packets, those that are compressed as well."""
    for packet in Trace.FromString(path.read_bytes()).packet:
        yield from Trace.FromString(zlib.decompress(packet.compressed_packets)).packet


def rows(path):
    """Tracks (id, name) and slices (ts, dur, track, name, category) of a trace that is as it should be."""
    names, categories, arguments, texts = {}, {}, {}, {}
    tracks, slices, open_, arrows = {}, [], {}, [set(), set()]
    now = None
    for packet in packets(path):
        assert packet.trusted_packet_sequence_id == 1, packet
        data = packet.interned_data
        for known, new in ((names, data.event_names), (categories, data.event_categories),
                           (arguments, data.debug_annotation_names)):
            for entry in new:
                assert entry.iid not in known, f"told twice: {entry}"
                known[entry.iid] = entry.name
        texts.update((entry.iid, entry.str) for entry in data.debug_annotation_string_values)
        if packet.HasField("clock_snapshot"):
            assert now is None and packet.sequence_flags == 1 and packet.first_packet_on_sequence
            boot, deltas = packet.clock_snapshot.clocks
            assert deltas.is_incremental and not boot.is_incremental
            assert packet.trace_packet_defaults.timestamp_clock_id == deltas.clock_id >= 64
            now = deltas.timestamp
        elif packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in tracks and (not track.parent_uuid or track.parent_uuid in tracks), track
            tracks[track.uuid] = track.name
        else:
            assert packet.sequence_flags == 2 and packet.HasField("timestamp"), packet
            now += packet.timestamp
            event = packet.track_event
            assert event.track_uuid in tracks, event
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                assert event.track_uuid not in open_, f"two slices at a time: {event}"
                for argument in event.debug_annotations:
                    assert argument.name_iid in arguments, argument
                    assert not argument.string_value_iid or argument.string_value_iid in texts, argument
                arrows[0].update(event.flow_ids)
                arrows[1].update(event.terminating_flow_ids)
                open_[event.track_uuid] = (now, names[event.name_iid], categories[event.category_iids[0]])
            elif event.type == TrackEvent.TYPE_SLICE_END:
                begin, name, category = open_.pop(event.track_uuid)
                slices.append((begin, now - begin, event.track_uuid, name, category))
            else:
                assert event.type == TrackEvent.TYPE_COUNTER, event
    assert not open_, f"never ended: {open_}"
    assert arrows[0] == arrows[1], "arrows that end nowhere, or come from nowhere"
    return tracks, slices


def main():
    trace, result = map(pathlib.Path, sys.argv[1:3])
    channels, dies = map(int, sys.argv[3:5])
    tracks, slices = rows(trace)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE track (id INTEGER PRIMARY KEY, name TEXT)")
    base.execute("CREATE TABLE slice (ts INTEGER, dur INTEGER, track_id INTEGER, name TEXT, category TEXT)")
    base.executemany("INSERT INTO track VALUES (?, ?)", tracks.items())
    base.executemany("INSERT INTO slice VALUES (?, ?, ?, ?, ?)", slices)
    found = dict(base.execute(SQL))
    said = json.loads(result.read_text())
    mean = {part: said["utilisation"][part]["mean"] * said["simulated_ns"] for part in ("die", "array", "channel")}
    expected = {
        "arrays": round(mean["array"] * dies),
        "channels": round(mean["channel"] * channels),
        "dies beside": round(mean["die"] * dies) - round(mean["array"] * dies),
    }
    assert found == expected, f"found {found}, expected {expected}"
    print(f"{len(slices):,} slices on {len(tracks)} tracks; {found}: as result.json has it")
    processor = os.environ.get("TRACE_PROCESSOR")
    if not processor:
        print("Perfetto's trace processor was not asked: TRACE_PROCESSOR is not set")
        return
    script = pathlib.Path(__file__).parent / "timeline.sql"
    told = subprocess.run([processor, "-q", script, trace], check=True, capture_output=True, text=True).stdout
    for what, ns in expected.items():
        assert f'"{what}",{ns}' in told, f"{what}: {ns} ns expected, and the trace processor says\n{told}"
    print("the trace processor says the same")


main()
