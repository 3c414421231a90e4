"""What NCCL 2.28.9 shows through NVTX, as checks over a recording (nvtx_recorder.cpp).

Payloads are decoded by the schemas the program registered, the way any tool has to: entry names, types and offsets,
never NCCL's own numbers. The decoded calls are held against the puppet's log.
"""

import collections
import struct

from recording import number, of_kind

FORMATS = {5: "<i", 18: "<Q", 22: "<Q"}  # int, uint64, size_t
COMM, BYTES, OPERATION = "NCCL communicator ID", "Message size [bytes]", "Reduction operation"


class Registrations:
    def __init__(self, records):
        self.domains = {r["handle"]: r["name"] for r in of_kind(records, "domain")}
        self.strings = {(r["domain"], r["handle"]): r["text"] for r in of_kind(records, "string")}
        self.schemas, self.enums = {}, {}
        for record in of_kind(records, "schema"):
            entries = [record[f"entry{i}"] for i in range(number(record, "n_entries"))]
            self.schemas[record["domain"], record["id"]] = [self._entry(text) for text in entries]
        for record in of_kind(records, "enum"):
            values = (record[key].split(":", 1) for key in record if key.startswith("value"))
            self.enums[number(record, "id")] = {int(value): name for value, name in values}

    @staticmethod
    def _entry(text):
        where, name = text.split(":", 1)
        kind, rest = where.split("@")
        return name, int(kind), int(rest.split("/")[0])

    def name(self, record):
        return self.strings[record["domain"], record["message"]]

    def decode(self, record):
        """{entry name: value} of the record's one payload."""
        data = bytes.fromhex(record["bytes0"])
        values = {}
        for name, kind, offset in self.schemas[record["domain"], record["schema0"]]:
            form = FORMATS.get(kind, "<i")
            value = struct.unpack_from(form, data, offset)[0]
            values[name] = self.enums[kind][value] if kind in self.enums else value
        return values


def decoded_calls(records):
    """(thread, api, payload) of each call range, per thread in order; and the other ranges' names, counted."""
    known = Registrations(records)
    calls, others = [], collections.Counter()
    for record in of_kind(records, "push"):
        if known.domains[record["domain"]] != "NCCL":
            continue
        if "bytes0" in record and known.name(record) != "ncclCommDestroy":
            calls.append((record["tid"], known.name(record), known.decode(record)))
        else:
            others[known.name(record)] += 1
    return calls, others


def expected_payload(call):
    payload = {COMM: int(call["comm"], 0), BYTES: int(call["bytes"])}
    if call["root"] != "-1":
        payload["Root"] = int(call["root"])
    if call["peer"] != "-1":
        payload["Peer rank"] = int(call["peer"])
    if call["redop"] != "-":
        payload[OPERATION] = call["redop"]
    return payload


def check_against_log(records, log):
    problems = []
    calls, others = decoded_calls(records)
    logged = of_kind(log, "call")
    for thread in {call["tid"] for call in logged}:
        made = [("nccl" + c["function"], expected_payload(c)) for c in logged if c["tid"] == thread]
        told = [(api, payload) for tid, api, payload in calls if tid == thread]
        if made != told:
            first = next((pair for pair in zip(made, told) if pair[0] != pair[1]), (len(made), len(told)))
            problems.append(f"thread {thread}: made and told differ first at {first}")
    comms = of_kind(log, "comm")
    n_splits = sum(comm["parent"] != "0x0" for comm in comms)
    n_groups = len(of_kind(log, "group"))
    expected = collections.Counter({"ncclCommInitRank": len(comms) - n_splits, "ncclCommSplit": n_splits,
                                    "ncclCommDestroy": len(comms), "ncclGroupStart": n_groups,
                                    "ncclGroupEnd": n_groups})
    if others != expected:
        problems.append(f"ranges without a message size: {others}, expected {expected}")
    return problems + check_communicators(records, log) + check_balance(records)


def check_communicators(records, log):
    """Init gives the new id on pop; split gives the parent's numbers and no child id; destroy gives its own."""
    problems = []
    known = Registrations(records)
    popped = [known.decode(record) for record in of_kind(records, "pop_payload")]
    destroyed = [known.decode(r) for r in of_kind(records, "push")
                 if "bytes0" in r and known.name(r) == "ncclCommDestroy"]
    comms = of_kind(log, "comm")
    by_id = {comm["comm"]: comm for comm in comms}
    for comm, payload in zip(comms, popped, strict=True):
        is_split = comm["parent"] != "0x0"
        source = by_id[comm["parent"]] if is_split else comm
        expected = {COMM: 0 if is_split else int(comm["comm"], 0), "No. of ranks": int(source["n_ranks"]),
                    "Rank": int(source["comm_rank"]), "CUDA device": int(source["device"])}
        if is_split:
            expected |= {"Parent NCCL communicator ID": int(comm["parent"], 0), "Color": int(comm["color"]),
                         "Key": int(comm["key"])}
        if payload != expected:
            problems.append(f"communicator {comm['comm']}: {payload}, expected {expected}")
    told = sorted((payload[COMM], payload["Rank"], payload["No. of ranks"]) for payload in destroyed)
    if told != sorted((int(c["comm"], 0), int(c["comm_rank"]), int(c["n_ranks"])) for c in comms):
        problems.append(f"destroyed communicators: {told}")
    return problems


def check_balance(records):
    depth = collections.Counter()
    problems = []
    for record in of_kind(records, "push", "pop", "pop_payload"):
        depth[record["tid"], record["domain"]] += 1 if record["what"] == "push" else -1
        if depth[record["tid"], record["domain"]] < 0:
            problems.append(f"a pop without a push on thread {record['tid']}")
    return problems + [f"{key}: {open_ranges} ranges left open" for key, open_ranges in depth.items() if open_ranges]


def steps(records):
    """The payloads of the job's own step ranges, in order."""
    known = Registrations(records)
    return [number(record, "payload") for record in of_kind(records, "push")
            if known.domains[record["domain"]] == "puppet" and known.name(record) == "step"]
