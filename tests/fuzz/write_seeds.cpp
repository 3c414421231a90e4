// write_seeds FOLDER: a few good inputs for each fuzz target, in FOLDER/TARGET/, made from the same samples as the unit
// tests. What is found beyond them stays in the corpus of whoever ran the fuzzer.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "agent/contract/session_page.h"
#include "agent/spool/clock_codec.h"
#include "agent/spool/memory_file.h"
#include "agent/spool/sample_codec.h"
#include "launcher/check.h"
#include "merge/mpi/part_messages.h"
#include "tests/fuzz/spool_recipe.h"
#include "tests/unit/assembly/assembled_folder.h"
#include "tests/unit/clock_service/sample_endpoint.h"
#include "tests/unit/gpu/probe_samples.h"
#include "tests/unit/match/nccl_recording.h"
#include "tests/unit/nic/driver_counters.h"
#include "tests/unit/probes/probe_packets.h"
#include "tests/unit/rundir/node_spool.h"
#include "tests/unit/rundir/task_files.h"

namespace jaxprof::fuzz {
namespace {

class Seeds {
 public:
  Seeds(const std::string& folder, const char* target) : folder_(folder + "/" + target) {
    std::filesystem::create_directories(folder_);
  }
  void add(const std::string& content) { test::write_file(folder_ + "/seed" + std::to_string(count_++), content); }

 private:
  std::string folder_;
  int count_ = 0;
};

std::string calls_of(std::int32_t rank) {
  test::NcclRecording recording(rank, 2);
  recording.thread(1, 77);
  recording.comm_range(rank, 2, 5);
  recording.whole_call({}, "ncclAllReduce", 100);
  recording.range("ncclGroupStart", 200, 201);
  recording.whole_call({spool::NcclFunction::kAllGather}, "ncclAllGather", 300);
  recording.range("ncclGroupEnd", 400, 401);
  recording.event(2, spool::EventKind::kNvtxStart, recording.string("s"), 10, {0, 1, 5, 99});
  recording.event(3, spool::EventKind::kNvtxEnd, 0, 20, {99});
  recording.drop(Drop::kRingFull, 3);
  return recording.bytes();
}

// A memory file for salvage_fuzz with one registration log and one ring, whose last two marks are not drained.
std::string memory_recipe() {
  constexpr std::uint64_t kCapacity = 1 << 13;  // of the ring; at least kMaxEventBytes
  std::string log(sizeof(spool::StateLogHeader), '\0');
  spool::StringState string{};
  string.header = {static_cast<std::uint16_t>(spool::StateKind::kString), 0, sizeof string + 8};
  string.id = 7;
  string.length = 5;
  log.append(reinterpret_cast<const char*>(&string), sizeof string).append("saved\0\0\0", 8);
  const std::uint64_t committed = log.size() - sizeof(spool::StateLogHeader);
  std::memcpy(log.data(), &committed, sizeof committed);

  std::string ring(sizeof(spool::RingHeader) + kCapacity, '\0');
  const auto put = [&ring](std::size_t at, const auto& value) { std::memcpy(ring.data() + at, &value, sizeof value); };
  std::uint64_t head = 0;
  for (const std::uint64_t stamp : {100U, 200U, 300U}) {
    const spool::EventHeader header{sizeof header + 8, static_cast<std::uint8_t>(spool::EventKind::kNvtxMark), 1, 7,
                                    stamp};
    put(sizeof(spool::RingHeader) + head, header);
    head += header.bytes;
  }
  put(offsetof(spool::RingHeader, head), head);
  put(offsetof(spool::RingHeader, tail), head / 3);
  put(offsetof(spool::RingHeader, capacity), kCapacity);

  const auto segment = [](spool::SegmentKind kind, std::size_t offset, std::size_t bytes) {
    return std::string{static_cast<char>(kind), static_cast<char>(offset / 8 & 0xff),
                       static_cast<char>(offset / 8 >> 8), static_cast<char>(bytes / 8 & 0xff),
                       static_cast<char>(bytes / 8 >> 8)};
  };
  return "\x02" + segment(spool::SegmentKind::kStateLog, 0, log.size()) +
         segment(spool::SegmentKind::kRing, log.size(), ring.size()) + log + ring;
}

// A rank that marked two steps, of which it recorded one whole.
std::string steps_of(std::int32_t rank) {
  test::Recording recording(rank, 2, "n" + std::to_string(rank));
  recording.set(spool::IdentityKey::kStepMarker, "step");
  for (std::uint64_t n = 0; n < 2; ++n) {
    constexpr std::uint64_t kInt64 = 2;  // NVTX_PAYLOAD_TYPE_INT64
    recording.event(1, spool::EventKind::kNvtxPush, recording.string("step"), 100 * n + 10, {0, kInt64, n, 0, n + 1});
    if (n == 0) recording.pop(1, 0, 0, 50);
  }
  return recording.bytes();
}

// A rank whose GPU ran a call's kernel and a replay of a captured one, in a window of steps.
std::string gpus_of(std::int32_t rank) {
  test::NcclRecording recording(rank, 2);
  recording.set(spool::IdentityKey::kStepMarker, "step");
  recording.set(spool::IdentityKey::kCaptureRange, "steps:2-3");
  recording.thread(1, 501);
  recording.lane(1, 0, 13, 0x77);
  for (std::uint64_t second = 0; second < 3; ++second) {
    recording.gpu_clock(second * 1'000'000'000, static_cast<std::int64_t>(second * 1'000'000'000) + 5'000'000'000);
  }
  recording.segment(0, true, spool::WindowCause::kStep, 100, 3);
  spool::GpuDeviceState device{};
  device.name = recording.string("GPU");
  device.uuid[3] = 7;
  recording.state(spool::StateKind::kGpuDevice, device);
  spool::LaunchConfigState config{};
  config.config = 1;
  recording.state(spool::StateKind::kLaunchConfig, config);
  spool::GpuApiState api{};
  api.api = 307;
  api.name = recording.string("cuLaunchKernel");
  recording.state(spool::StateKind::kGpuApi, api);
  const auto launch_at = [&recording](std::uint64_t start, bool is_captured) {
    test::Call call;
    call.is_captured = is_captured;
    const auto coll_api = recording.coll_api(call, recording.group_api(1, start, start + 90), start + 1, start + 5);
    const auto launched = recording.launch(0x77, start + 10, start + 20);
    recording.coll(call, coll_api, recording.group(start + 30, start + 60), start + 40, start + 50);
    return launched;
  };
  recording.external(launch_at(1000, false), 7);
  recording.graph_node(50, 0, launch_at(2000, true));
  recording.graph_node(60, 50, 0);
  recording.api_call(5'000'001'012, 5, 501, 7);
  recording.kernel("ncclDevKernel_AllReduce", 5'000'001'500, 100, 1, 7);
  recording.kernel("ncclDevKernel_AllReduce", 5'000'003'000, 100, 1, 8, 60);
  recording.copy(5'000'004'000, 10, 1, 9);
  recording.activity(spool::EventKind::kGpuMemset, 3, 5'000'005'000, 10, {1, 9, 64, 0, 0, 0});
  recording.activity(spool::EventKind::kGpuOverhead, 1 << 16, 5'000'006'000, 10, {501, 0, 2});
  recording.activity(spool::EventKind::kGpuGraph, 4, 5'000'007'000, 10, {1, 9});
  recording.activity(spool::EventKind::kGpuSynchronization, 3, 5'000'008'000, 10, {1, 9, 13, 0});
  recording.activity(spool::EventKind::kGpuEvent, 5, 0, 1, {13});
  recording.segment(0, false, spool::WindowCause::kExit, 9000);
  return recording.bytes();
}

// What an observer left of two ports and a GPU; of the second one that it took over, and of other columns.
std::string node_of(std::uint32_t segment, std::uint64_t begin) {
  using spool::SampleSubject;
  test::NodeSpool spool("n0", segment);
  spool.anchor({begin, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(begin + 5000), 0, 1});
  spool.port(0, {});
  spool.stream(0, SampleSubject::kNic, 0, {{"tx_bytes", spool::SampleUnit::kBytes}, {"rx_drops"}}, 1);
  spool.gpu(0, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  spool.stream(1, SampleSubject::kGpu, 0, {{"sm_clock", spool::SampleUnit::kMegahertz, spool::SampleKind::kGauge}});
  if (segment > 0) spool.stream(2, SampleSubject::kNic, 0, {{"tx_bytes", spool::SampleUnit::kBytes}, {"rx_bytes"}});
  for (std::uint64_t i = 0; i < 3; ++i) {
    spool.row(0, begin + 100 * i, i == 1 ? std::vector<std::uint64_t>{7 * i} : std::vector<std::uint64_t>{7 * i, i});
    spool.row(1, begin + 100 * i, {1980});
    if (segment > 0) spool.row(2, begin + 100 * i + 50, {i, i});
    if (i == 1) spool.restart();
  }
  spool.event(0, spool::NicEvent::kRenamed, "efa_0");
  spool.note(spool::NodeNote::kNoNic, "x");
  spool.ticks(3, 1);
  return recipe_of(spool.bytes());
}

// What the observer of one of two nodes left that were compared: readings of its clocks, and, of the first, bursts.
std::string compared_node_of(const std::string& host, const std::string& other, std::int64_t raw_at_start_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const bool is_client = host < other;
  test::NodeSpool spool(host);
  spool.clock_service("tsc", is_client);
  spool.clock_peer(0, other);
  std::vector<spool::ClockReading> readings;
  for (std::int64_t second = 0; second < 4; ++second) {
    const std::int64_t raw_ns = raw_at_start_ns + second * kSecond;
    readings.push_back({raw_ns, 1000 * kSecond + second * kSecond, raw_ns, 40});
    if (second % 3 == 0) spool.anchor({static_cast<std::uint64_t>(raw_ns), raw_ns, readings.back().wall_ns, raw_ns, 1});
  }
  spool.clock_readings(readings);
  for (std::uint32_t i = 0; is_client && i < 4; ++i) {
    spool::ProbeBurst burst{0, i, spool::BurstKind::kPeriodic, 2, {}};
    for (std::uint32_t sequence = 0; sequence < 2; ++sequence) {
      const std::int64_t sent_ns = i * kSecond + sequence * 200'000;
      spool::ProbeExchange exchange;
      exchange.sequence = sequence;
      exchange.at(spool::Stamp::kClientSendRaw) = raw_at_start_ns + sent_ns;
      exchange.at(spool::Stamp::kServerReceiveRaw) = 70 * kSecond + sent_ns + 20'000;
      exchange.at(spool::Stamp::kServerSendRaw) = 70 * kSecond + sent_ns + 30'000;
      exchange.at(spool::Stamp::kClientReceiveRaw) = raw_at_start_ns + sent_ns + 50'000;
      burst.exchanges.push_back(exchange);
    }
    spool.clock_burst(burst);
  }
  return recipe_of(spool.bytes());
}

// For session_page_fuzz: `text` with its end, written over what is at `offset` of the slot.
std::string strokes_on_slot(std::size_t offset, const std::string& text) {
  std::string strokes;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const std::size_t at = offset + i;
    strokes += {static_cast<char>(at & 0xff), static_cast<char>(at >> 8), text.c_str()[i]};
  }
  return strokes;
}

// For probe_packet_fuzz: a burst's requests that are later each, stamped by the kernel, and answers to what it asks.
std::string packets_of_probes() {
  constexpr char kRight = 0x0f;
  constexpr char kLaterAndStamped = 0x30;
  const auto piece = [](int dress, const netsampler::ProbePacket& packet) {
    const netsampler::PacketBytes bytes = test::sealed(packet);
    return static_cast<char>(dress) + std::string(bytes.begin(), bytes.end());
  };
  std::string input(1, '\0');
  for (std::uint16_t i = 0; i < 3; ++i) {
    input += piece(kLaterAndStamped, test::sample_request(1, i, 1000 + i));
    input += piece(kRight, test::sample_reply(test::sample_request(1, i, 1000 + i)));
  }
  return input;
}

// What processes of a merge send each other of a run of two ranks, behind the byte that says what it is.
std::vector<std::string> messages_of_peers() {
  const test::RunFolder run;
  for (const std::int32_t rank : {0, 1}) {
    test::write_file(run.path() + "/rank" + std::to_string(rank) + ".jxspool", gpus_of(rank));
  }
  const auto sources = assembly::open_sources(rundir::read_run_directory(run.path())->runs.at(0));
  std::vector<std::string> messages;
  const auto add = [&messages](char kind, const merge::Message& message) {
    messages.push_back(kind + std::string(reinterpret_cast<const char*>(message.data()), message.size()));
  };
  for (const std::size_t process : {0U, 1U}) {
    assembly::ProcessPart part = assembly::read_process(sources, process);
    add('\0', merge::pack(part.head));
    assembly::Placement placement;
    placement.texts.assign(part.head.strings.size(), runfile::StringId{3});
    placement.configs.assign(part.head.configs.table().grid_x.size(), 1);
    placement.devices = {{0, 1}};
    add('\1', merge::pack(placement));
    assembly::PlacedPart placed;
    placed.rows = encode_part(part.rows, runfile::RowPositions::none(), runfile::Compression::kGzip);
    add('\3', std::get<runfile::EncodedPart>(placed.rows).packed());
    placed.calls = std::move(part.calls);
    add('\2', merge::pack(placed));
  }
  return messages;
}

void write_all(const std::string& folder) {
  const std::string first = calls_of(0);
  const std::string second = calls_of(1);
  Seeds spools(folder, "spool_fuzz");
  spools.add(recipe_of(first));
  spools.add("\x01" + first);
  spools.add(recipe_of(test::Recording().bytes(false)));
  spools.add(recipe_of(gpus_of(0)));

  Seeds endpoints(folder, "clock_endpoint_fuzz");
  endpoints.add(netsampler::to_text(test::sample_endpoint()));
  netsampler::ClockEndpoint v6 = test::sample_endpoint();
  v6.address = *netsampler::parse_address("fd00::17", 40000);
  endpoints.add(netsampler::to_text(v6));
  endpoints.add("0123-abcd.4026531840.7.endpoint");

  Seeds packets(folder, "probe_packet_fuzz");
  packets.add(packets_of_probes());
  const netsampler::PacketBytes request = test::sealed(test::sample_request(1, 0, 1000));
  packets.add("\x01" + std::string(request.begin(), request.end()));

  Seeds runs(folder, "merge_fuzz");
  using Ranks = std::pair<std::string, std::string>;
  for (const auto& [one, other] : {Ranks(first, second), Ranks(first, test::Recording(1, 2, "n1").bytes(false)),
                                   Ranks(steps_of(0), steps_of(1)), Ranks(gpus_of(0), gpus_of(1))}) {
    const std::string recipe = recipe_of(one);
    std::string input;
    input += static_cast<char>(recipe.size() & 0xff);
    input += static_cast<char>(recipe.size() >> 8);
    runs.add(input + recipe + recipe_of(other));
  }

  Seeds messages(folder, "peer_message_fuzz");
  for (const std::string& message : messages_of_peers()) messages.add(message);

  Seeds nodes(folder, "node_trace_fuzz");
  for (const std::uint64_t begin : {500U, 100U}) {  // after the first, and at the same time
    const std::string recipe = node_of(0, 100);
    std::string input{static_cast<char>(recipe.size() & 0xff), static_cast<char>(recipe.size() >> 8)};
    nodes.add(input + recipe + node_of(1, begin));
  }
  const std::string compared = compared_node_of("n0", "n1", 5'000'000'000);
  nodes.add(std::string{static_cast<char>(compared.size() & 0xff), static_cast<char>(compared.size() >> 8)} + compared +
            compared_node_of("n1", "n0", 70'000'000'000));

  Seeds events(folder, "event_codec_fuzz");
  events.add(std::string("\x01\x64\x01\x01\x0a\x05\x07\x02\x01\x0a\x01\x00", 12));
  events.add(std::string("\x01\x64\x81\x03\x0a\x05\x01\x02\x03\x08pppppppp", 18));

  Seeds samples(folder, "sample_codec_fuzz");
  spool::SampleEncoder encoder(1, 3, 2);
  std::vector<std::uint8_t> payload;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const std::vector<std::uint64_t> values = {i, 1000 * i, 70 + i};
    encoder.add({1000 + 10 * i, 3, 0, i % 2 == 1, std::span(values).first(i % 2 == 1 ? 2 : 3)});
    if (i % 2 == 1) encoder.append_section(&payload);
  }
  samples.add(std::string(payload.begin(), payload.end()));

  Seeds clocks(folder, "clock_codec_fuzz");
  std::vector<std::uint8_t> sections;
  spool::append_readings(std::vector<spool::ClockReading>{{1000, 5000, 900, 40}, {2000, 6001, 1900, 41}}, &sections);
  spool::ProbeBurst burst{3, 1, spool::BurstKind::kStart, 2, {{}, {}}};
  burst.exchanges[0].stamps_ns = {100, 5100, 7100, 300, 310, 7120, 5130, 140};
  burst.exchanges[1] = {1, burst.exchanges[0].stamps_ns};
  burst.exchanges[1].at(spool::Stamp::kServerSendWall) = spool::kNoStamp;
  spool::append_burst(burst, &sections);
  clocks.add(std::string(sections.begin(), sections.end()));

  Seeds records(folder, "task_record_fuzz");
  records.add(to_json(test::task_start(0, 2)));
  TaskStart with_environment = test::task_start(1, 2);
  with_environment.environment = {{"NCCL_ALGO", "Ring"}, {"XLA_FLAGS", "--a=\"1\" ä"}, {"NCCL_DEBUG", ""}};
  with_environment.has_environment = true;
  with_environment.environment_dropped = 1;
  records.add(to_json(with_environment));
  TaskEnd end = test::task_end(0);
  end.processes.resize(1);
  records.add(to_json(end));

  Seeds probes(folder, "probe_record_fuzz");
  netsampler::ProbeGpu instance = test::probe_gpu(1);
  instance.parent = 0;
  probes.add(test::bytes_of(test::record_of(test::probe_gpu(0))) + test::bytes_of(test::record_of(instance)) +
             test::bytes_of(test::record_of(test::probe_sample(0, 10, 1980))));
  probes.add(test::bytes_of(test::record_of(netsampler::ProbeKind::kHello)) +
             test::bytes_of(test::record_of(test::probe_note(3, "no library"))));

  test::AnsweredDevice card{.index = 3, .name = "rdmap0s6", .guid = 0x0123'4567'89ab'cdef, .ports = {}};
  card.ports.push_back(
      {.number = 1, .counters = test::rxe_counters(5), .netdev = "eth0", .is_active = true, .error = 0});
  Seeds answers(folder, "nic_netlink_fuzz");
  for (const test::Octets& answer : {test::answer_devices({card, card}), test::answer_ports(card),
                                     test::answer_counters(card, card.ports[0]), test::answer_error(22)}) {
    answers.add(std::string(answer.begin(), answer.end()));
  }
  Seeds texts(folder, "nic_text_fuzz");
  for (const char* text : {"1234\n", "N/A (no PMA)\n", "4: ACTIVE\n", "2.5 Gb/sec (1X SDR)\n", "25000\n", "12\n",
                           "devices/pci0000:00/0000:00:06.0", "rdma_read_wr_err", "SwLinkUp,32"}) {
    texts.add(text);
  }

  Seeds memories(folder, "salvage_fuzz");
  memories.add(memory_recipe());

  Seeds words(folder, "launcher_words_fuzz");
  words.add(
      "\x06"
      "25 1 8:1 / /mnt/a\\040b rw,relatime shared:1 - fuse.sshfs host:/x rw\n");
  words.add("\x06mnt_id:\t25\n25 1 0:44 / / rw - nfs4 server:/home rw\n");
  words.add("\x01JobId=7 JobName=x EndTime=2026-11-29T20:35:19 Deadline=N/A\n");
  words.add("\x01JobId=7 EndTime=1795984519 Deadline=N/A\n");
  words.add("\x02--ranks 0 -o \"my dir/rank%r\" --if 'rank \\' \\  \\\"");
  words.add("\x03" + launcher::to_text({3, "n1", true, {{true, "no spool folder"}, {false, "a remark"}}}));
  words.add(
      "\x04"
      "2,3(x2),1");
  words.add(
      "\x05"
      "512MiB");

  Seeds pages(folder, "session_page_fuzz");
  for (const char* text : {"", "../x", "/tmp/x", "a/b", "rank0.jxspool"}) {
    pages.add(strokes_on_slot(offsetof(ProcessSlot, stem), text));
    pages.add(strokes_on_slot(offsetof(ProcessSlot, spool_name), text));
    pages.add(strokes_on_slot(offsetof(ProcessSlot, published_stem), text));
  }
  pages.add(strokes_on_slot(offsetof(ProcessSlot, ring_name), "../../foreign"));

  Seeds templates(folder, "template_fuzz");
  templates.add("\x40prof/%q{SET}/%J.%S/rank%r.%h.%p");
  templates.add("\x08%q{P:-default}%%%l%n");

  Seeds windows(folder, "window_fuzz");
  for (const char* text : {"cudaProfilerApi", "nvtx:forward@*", "nvtx:\"a@b\"@\"c:\\\"\"", "steps:200-240@step@j",
                           "steps:3@module=jit_f", "repeat:3", "stop-shutdown", "cuda-hw"}) {
    windows.add(text);
  }

  Seeds selections(folder, "selection_fuzz");
  selections.add("0,8-15,0-1023:128");
  selections.add("rank == 5 && (A * 4 > 3 || !world_size)");
  selections.add("A / 3 == 1");
  selections.add("step@puppet");
  selections.add("xla:jit_train_step");
  selections.add("XlaModule:#prefix=jit(main),hlo_module=jit_train_step,program_id=3#");
}

}  // namespace
}  // namespace jaxprof::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_seeds FOLDER\n");
    return 2;
  }
  jaxprof::fuzz::write_all(argv[1]);
  return 0;
}
