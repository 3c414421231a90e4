"""The order in which NCCL 2.28 calls a profiler plugin, as checks over a recording (profiler_recorder.cpp).

`Events` gathers each event's start, states and stop; `check_order` holds them against NCCL's rules: who is whose
parent, what lies inside what, on which thread. `check_against_log` holds them against the puppet's own log. Both take
the mask that was asked for, because an event starts if any descendant's bit is set.
"""

import collections
import dataclasses

from recording import number, of_kind

BITS = {"Group": 1, "Coll": 2, "P2p": 4, "ProxyOp": 8, "ProxyStep": 16, "GroupApi": 0x100, "CollApi": 0x200,
        "P2pApi": 0x400, "KernelLaunch": 0x800}
BELOW_TASK = 0x8 | 0x10
STARTS_WITH = {"ProxyStep": 0x10, "ProxyOp": BELOW_TASK, "Coll": 0x2 | BELOW_TASK, "P2p": 0x4 | BELOW_TASK,
               "Group": 0x7 | BELOW_TASK, "KernelLaunch": 0x800, "CollApi": 0x202 | BELOW_TASK,
               "P2pApi": 0x404 | BELOW_TASK, "GroupApi": 0xF07 | BELOW_TASK}
GROUP_START_API_STOP, GROUP_END_API_START = "23", "24"
STEP_STATES = {"1": ["8", "20", "9"], "0": ["10", "11", "12"]}
COUNTED_IN_BYTES = ("AllGather", "Broadcast")
DECOMPOSED = ("AlltoAll", "Gather", "Scatter")


@dataclasses.dataclass
class Event:
    fields: dict
    start: int  # positions in the recording
    stop: int = -1
    stop_thread: str = ""
    states: list = dataclasses.field(default_factory=list)  # (position, state)

    def __getattr__(self, name):
        return self.fields[name]

    def state_at(self, state):
        """Position of the state, or -1."""
        return next((position for position, recorded in self.states if recorded == state), -1)


class Events:
    def __init__(self, records):
        self.by_handle = {}
        self.problems = []
        self.contexts = {r["context"]: r for r in of_kind(records, "init")}
        for position, record in enumerate(records):
            if record["what"] == "start":
                self.by_handle[record["handle"]] = Event(record, position)
            elif record["what"] in ("stop", "state"):
                self._note(position, record)
        for event in self.by_handle.values():
            self._expect(event.stop >= 0, f"{event.type} {event.handle} is never stopped")

    def _expect(self, holds, problem):
        if not holds:
            self.problems.append(problem)

    def _note(self, position, record):
        event = self.by_handle.get(record["handle"])
        if event is None:
            self.problems.append(f"{record['what']} of unknown handle {record['handle']}")
        elif record["what"] == "state":
            event.states.append((position, record["state"]))
        else:
            self._expect(event.stop < 0, f"{event.type} {event.handle} is stopped twice")
            event.stop, event.stop_thread = position, record["tid"]

    def of_type(self, *types):
        return [event for event in self.by_handle.values() if event.type in types]


def expected_types(mask):
    return {event for event, bits in STARTS_WITH.items() if mask & bits}


PARENTS = {"CollApi": ("GroupApi",), "P2pApi": ("GroupApi",), "KernelLaunch": ("GroupApi",), "Coll": ("CollApi",),
           "P2p": ("P2pApi",), "ProxyOp": ("Coll", "P2p"), "ProxyStep": ("ProxyOp",)}


def check_order(events):
    """A list of violated rules; empty if NCCL could have made this recording."""
    problems = list(events.problems)
    for event in events.by_handle.values():
        parent = events.by_handle.get(event.parent)
        kinds = PARENTS.get(event.type)
        if kinds is None:
            broken = [] if event.parent == "0x0" else ["has no parent"]
        elif parent is None or parent.type not in kinds:
            broken = [f"is a child of {' or '.join(kinds)}"]
        else:
            broken = []
        if not broken:
            rules = _common_rules(event, events) | _rules_of_type(event, parent, events)
            broken = [rule for rule, holds in rules.items() if not holds]
        problems += [f"{event.type} {event.handle}: not so: {rule}" for rule in broken]
    return problems + _launch_precedes_group(events)


def _common_rules(event, events):
    comm_rank = events.contexts.get(event.context, {}).get("comm_rank", event.rank)
    has_rank = event.type in ("Coll", "P2p", "ProxyOp", "ProxyStep")
    return {"rank is filled for tasks and proxy events only": event.rank == (comm_rank if has_rank else "0"),
            "starts and stops on one thread": event.stop_thread == event.tid}


def _rules_of_type(event, parent, events):
    """{rule: holds} for an event whose parent is of the right kind."""
    states = [state for _, state in event.states]
    if event.type == "GroupApi":
        return {"passes StartApiStop, then EndApiStart": states == [GROUP_START_API_STOP, GROUP_END_API_START]}
    if event.type in ("CollApi", "P2pApi"):
        return {"lies between the states of its GroupApi": parent.state_at(GROUP_START_API_STOP) < event.start
                                                           < event.stop < parent.state_at(GROUP_END_API_START),
                "is on its GroupApi's thread": parent.tid == event.tid}
    if event.type == "KernelLaunch":
        return {"lies between its GroupApi's last state and stop": parent.state_at(GROUP_END_API_START) < event.start
                                                                   < event.stop < parent.stop}
    if event.type in ("Coll", "P2p"):
        group = events.by_handle.get(event.group)
        return {"follows its API call": parent.stop < event.start and parent.function == event.function,
                "lies inside a Group of its context": group is not None and group.type == "Group"
                                                      and group.context == event.context
                                                      and group.start < event.start < event.stop < group.stop}
    if event.type == "ProxyOp":
        return {"starts later, on the proxy thread": parent.start < event.start and parent.tid != event.tid,
                "is of the same process and context": parent.context == event.context and event.op_pid == event.pid,
                "reports progress": states == ["19"]}
    if event.type == "ProxyStep":
        return {"lies inside its ProxyOp": parent.start < event.start < event.stop < parent.stop,
                "passes the states of its direction": states == STEP_STATES[parent.is_send]}
    return {}


def _launch_precedes_group(events):
    """With both bits set, each launch is followed on its thread by the Group of the same plan."""
    problems = []
    by_thread = collections.defaultdict(list)
    for event in sorted(events.of_type("KernelLaunch", "Group"), key=lambda e: e.start):
        by_thread[event.tid].append(event)
    if not (events.of_type("KernelLaunch") and events.of_type("Group")):
        return problems
    for sequence in by_thread.values():
        for launch, group in zip(sequence[::2], sequence[1::2]):
            if (launch.type, group.type) != ("KernelLaunch", "Group") or launch.context != group.context:
                problems.append(f"{launch.type} {launch.handle} is followed by {group.type} {group.handle}")
        if len(sequence) % 2:
            problems.append("a launch without its group")
    return problems


def expected_p2ps(calls):
    """(comm, function, peer, count) of each send and receive that the calls amount to."""
    result = collections.Counter()
    for call in calls:
        n_ranks, rank, root = number(call, "n_ranks"), call["comm_rank"], call["root"]
        peers = [str(peer) for peer in range(n_ranks)]
        is_root = rank == root
        sends = {"Send": [call["peer"]], "AlltoAll": peers, "Gather": [root], "Scatter": peers if is_root else []}
        receives = {"Recv": [call["peer"]], "AlltoAll": peers, "Gather": peers if is_root else [], "Scatter": [root]}
        if call["function"] in DECOMPOSED and (n_ranks == 1 or call["count"] == "0"):
            continue
        for function, lists in (("Send", sends), ("Recv", receives)):
            for peer in lists.get(call["function"], []):
                result[call["comm"], function, peer, call["count"]] += 1
    return result


def check_against_log(events, log, mask):
    """Differences between a recording and the puppet's own account of the same process."""
    problems = []
    types = expected_types(mask)
    calls = of_kind(log, "call")
    comm_of = {context: init["comm"] for context, init in events.contexts.items()}
    launched = {(c["comm"], c["function"], c["sequence"]): c for c in calls if c["sequence"] != "-"}

    seen = {}
    for coll in events.of_type("Coll"):
        seen[comm_of[coll.context], coll.function, coll.sequence] = coll
    wanted = launched if "Coll" in types else {}
    if set(seen) != set(wanted):
        problems.append(f"collectives differ: {sorted(set(seen) ^ set(wanted))[:5]}")
    for key in set(seen) & set(wanted):
        coll, call = seen[key], wanted[key]
        in_bytes = coll.function in COUNTED_IN_BYTES
        expected = (call["bytes"] if in_bytes else call["count"], "ncclInt8" if in_bytes else coll.datatype,
                    call["algorithm"], call["protocol"])
        if (coll.count, coll.datatype, coll.algorithm, coll.protocol) != expected:
            problems.append(f"{key}: {coll.fields} but the log has {call}")
    for (comm, function, _), group in _grouped(launched):
        if sorted(group) != list(range(len(group))):
            problems.append(f"{comm} {function}: sequence numbers {sorted(group)}")

    p2ps = collections.Counter((comm_of[e.context], e.function, e.peer, e.count) for e in events.of_type("P2p"))
    expected = expected_p2ps(calls) if "P2p" in types else collections.Counter()
    if p2ps != expected:
        problems.append(f"sends and receives differ: {(p2ps - expected) + (expected - p2ps)}")

    for thread in {call["tid"] for call in calls}:
        made = [(c["comm"], c["function"], c["count"]) for c in calls
                if c["tid"] == thread and c["sequence"] != "-"]
        told = [(comm_of[e.context], e.function, e.count) for e in events.of_type("CollApi") if e.tid == thread]
        if "CollApi" in types and made != told:
            problems.append(f"thread {thread}: {len(told)} CollApi events for {len(made)} calls, or in another order")
    return problems


def _grouped(launched):
    groups = collections.defaultdict(list)
    for comm, function, sequence in launched:
        groups[comm, function, None].append(int(sequence))
    return groups.items()
