"""A Perfetto trace as Perfetto's own definitions read it: tracks, slices, values and flows.

Nothing of ours is used: packets are decoded by protobuf from the descriptors in the `perfetto` package. Slices are paired
as a viewer does it: an end closes the slice that began last on its track, of events by time, and of equal times in the
order of the file.
"""

import collections
from dataclasses import dataclass, field

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

BEGIN, END, INSTANT, COUNTER = (protos.TrackEvent.Type.Value(f"TYPE_{name}")
                                for name in ("SLICE_BEGIN", "SLICE_END", "INSTANT", "COUNTER"))


@dataclass
class Slice:
    track: int
    name: str
    category: str
    start_ns: int
    dur_ns: int = -1  # -1: never closed
    depth: int = 0
    notes: dict = field(default_factory=dict)
    flows: tuple = ()


class Trace:
    def __init__(self, path):
        trace = protos.Trace()
        with open(path, "rb") as file:
            trace.ParseFromString(file.read())
        self.tracks, self.slices, self.instants = {}, [], []
        self.values = collections.defaultdict(list)  # by track: (time, value)
        self.clocks = {}
        self._names, self._categories, self._notes, self._texts = {}, {}, {}, {}
        events = []
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            self._take_interned(packet.interned_data)
            for clock in packet.clock_snapshot.clocks:
                self.clocks[clock.clock_id] = clock.timestamp
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                assert track.uuid not in self.tracks
                self.tracks[track.uuid] = track
            if packet.HasField("track_event"):
                assert packet.track_event.track_uuid in self.tracks
                events.append((packet.timestamp, self._read(packet)))
        events.sort(key=lambda event: event[0])
        self._pair(events)

    def _take_interned(self, texts):
        for to, entries in ((self._names, texts.event_names), (self._categories, texts.event_categories),
                            (self._notes, texts.debug_annotation_names)):
            for entry in entries:
                assert entry.iid not in to
                to[entry.iid] = entry.name
        for entry in texts.debug_annotation_string_values:
            assert entry.iid not in self._texts
            self._texts[entry.iid] = entry.str.decode()

    def _read(self, packet):
        event = packet.track_event
        if event.type in (END, COUNTER):
            return event.type, event.track_uuid, event.double_counter_value
        notes = {}
        for note in event.debug_annotations:
            value = getattr(note, note.WhichOneof("value"))
            notes[self._notes[note.name_iid]] = self._texts[value] if note.HasField("string_value_iid") else value
        return event.type, event.track_uuid, Slice(event.track_uuid, self._names[event.name_iid],
                                                   self._categories[event.category_iids[0]], packet.timestamp,
                                                   notes=notes, flows=tuple(event.flow_ids))

    def _pair(self, events):
        is_open = collections.defaultdict(list)
        for time_ns, (kind, track, what) in events:
            if kind == BEGIN:
                what.depth = len(is_open[track])
                is_open[track].append(what)
                self.slices.append(what)
            elif kind == END:
                closed = is_open[track].pop()
                closed.dur_ns = time_ns - closed.start_ns
            elif kind == INSTANT:
                self.instants.append(what)
            else:
                self.values[track].append((time_ns, what))
        assert not any(is_open.values()), "a slice without an end"

    def of(self, category):
        return [slice for slice in self.slices if slice.category == category]

    def process(self, track):
        """The process's number and name."""
        while self.tracks[track].parent_uuid:
            track = self.tracks[track].parent_uuid
        process = self.tracks[track].process
        return process.pid, process.process_name

    def flows(self):
        """By number: the slices that it joins."""
        joined = collections.defaultdict(list)
        for slice in self.slices:
            for flow in slice.flows:
                joined[flow].append(slice)
        return joined
