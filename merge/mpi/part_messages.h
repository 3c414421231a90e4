// What the processes of a merge tell each other, as bytes. Both ends are the same program on machines of one kind, and
// the bytes never reach a disk: nothing here is a format.
#pragma once

#include "agent/base/result.h"
#include "merge/assembly/part_placer.h"
#include "merge/assembly/part_source.h"
#include "merge/mpi/peers.h"

namespace jaxprof::merge {

// Unpacking fails with kInputUnreadable where the message is not what packing gives; it takes memory for what the
// message holds, not for what it says that it holds. Indices in it are not looked at.
Message pack(const assembly::PartHead& head);
Result<assembly::PartHead> unpack_head(const Message& message);

Message pack(const assembly::Placement& placement);
Result<assembly::Placement> unpack_placement(const Message& message);

// Rows that are encoded.
Message pack(const assembly::PlacedPart& part);
Result<assembly::PlacedPart> unpack_rows(const Message& message);

// What a process sees of a run: two that see the same have the same bytes.
Message pack(const assembly::RunSources& sources);

}  // namespace jaxprof::merge
