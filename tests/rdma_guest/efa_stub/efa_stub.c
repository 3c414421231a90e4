// SPDX-License-Identifier: GPL-2.0
// Network cards that look like Amazon's EFA as far as counters go, in a kernel without such a card. A sampler's figures
// can only be checked where the truth is known, so a card here counts bytes at a fixed rate of its own while "traffic"
// is on: whoever knows when a counter was read knows its value to the byte. It also counts its readings, takes as long
// for one as it is told, and can be unplugged and plugged in again through the driver's bind and unbind, after which it
// counts from 0. It moves no data and has no queues. For tests only.
//
//   /sys/bus/platform/drivers/efa/traffic             write 1 to begin, 0 to end, once each; reads "BEGIN END"
//   /sys/bus/platform/drivers/efa/0000:10:00.0/truth  a word and a number a line, and reading it disturbs nothing
//   /sys/module/efa_stub/parameters/latency_us        how long a reading takes
// Times are CLOCK_MONOTONIC_RAW in ns, 0: not yet. Card i has bus number 16 + i and rate_0 + i * rate_step bytes/s.
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <rdma/ib_verbs.h>

#define MAX_CARDS 64
#define FIRST_BUS 16

static unsigned int cards = 32;
module_param(cards, uint, 0444);
static ulong rate_0 = 1000000000;  // bytes/s
module_param(rate_0, ulong, 0444);
static ulong rate_step = 250000000;  // bytes/s
module_param(rate_step, ulong, 0444);
static unsigned int latency_us;
module_param(latency_us, uint, 0644);

// A place for a card; what is here outlives an unplugging.
struct slot {
  struct platform_device* platform;
  unsigned int index;
  u64 rate;             // bytes/s
  u64 first_bytes;      // what the card has counted already when it is plugged in
  u64 plugged_ns;       // when that was
  atomic64_t readings;  // of its counters, ever
};

struct card {
  struct ib_device ib;
  struct slot* slot;
};

static struct slot slots[MAX_CARDS];
static u64 traffic_begin_ns, traffic_end_ns;

// ---------------------------------------------------------------- what is counted
// Of a counter's value: a share of the card's bytes. All columns differ, so that none can be taken for another.
struct column {
  struct rdma_stat_desc description;
  u64 bytes_a_count;  // 0: never counts
};

static const struct column columns[] = {
    {{"tx_bytes"}, 1},
    {{"tx_pkts"}, 8192},
    {{"rx_bytes"}, 2},
    {{"rx_pkts"}, 16384},
    {{"rx_drops"}, 0},
    {{"send_bytes"}, 5},
    {{"send_wrs"}, 40960},
    {{"recv_bytes"}, 10},
    {{"recv_wrs"}, 81920},
    {{"rdma_read_bytes"}, 7},
    {{"rdma_read_wrs"}, 57344},
    {{"rdma_read_wr_err"}, 0},
    {{"rdma_read_resp_bytes"}, 14},
    {{"rdma_write_bytes"}, 3},
    {{"rdma_write_wrs"}, 24576},
    {{"rdma_write_wr_err"}, 0},
    {{"rdma_write_recv_bytes"}, 6},
    {{"retrans_bytes"}, 1000},
    {{"retrans_pkts"}, 8192000},
    {{"retrans_timeout_events"}, 3000000000},
    {{"unresponsive_remote_events"}, 0},
    {{"impaired_remote_conn_events"}, 4000000000},
};
static struct rdma_stat_desc descriptions[ARRAY_SIZE(columns)];

static const struct rdma_stat_desc device_descriptions[] = {
    {"submitted_cmds"}, {"completed_cmds"}, {"cmds_err"}, {"no_completion_cmds"}, {"keep_alive_rcvd"}, {"reg_mr_err"},
};
#define COMMANDS_A_READING 5  // that EFA's driver sends to its admin queue

// Bytes that the card in `slot` has counted at `now_ns`.
static u64 bytes_at(const struct slot* slot, u64 now_ns) {
  u64 begin = READ_ONCE(traffic_begin_ns), end = READ_ONCE(traffic_end_ns);

  if (!begin) return slot->first_bytes;
  if (end && now_ns > end) now_ns = end;
  begin = max(begin, slot->plugged_ns);
  if (now_ns <= begin) return slot->first_bytes;
  return slot->first_bytes + mul_u64_u64_div_u64(now_ns - begin, slot->rate, NSEC_PER_SEC);
}

static u64 column_value(size_t i, u64 bytes) {
  return columns[i].bytes_a_count ? div64_u64(bytes, columns[i].bytes_a_count) : 0;
}

// ---------------------------------------------------------------- a card, as the RDMA core knows it
static struct rdma_hw_stats* alloc_port_stats(struct ib_device* ib, u32 port) {
  return rdma_alloc_hw_stats_struct(descriptions, ARRAY_SIZE(descriptions), RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static struct rdma_hw_stats* alloc_device_stats(struct ib_device* ib) {
  return rdma_alloc_hw_stats_struct(device_descriptions, ARRAY_SIZE(device_descriptions),
                                    RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int get_stats(struct ib_device* ib, struct rdma_hw_stats* stats, u32 port, int index) {
  struct slot* slot = container_of(ib, struct card, ib)->slot;
  u64 bytes;
  size_t i;

  if (!port) {  // of the device: kept by the driver itself, no reading of the card
    stats->value[0] = stats->value[1] = (u64)atomic64_read(&slot->readings) * COMMANDS_A_READING;
    return ARRAY_SIZE(device_descriptions);
  }
  atomic64_inc(&slot->readings);
  if (latency_us) fsleep(latency_us);
  bytes = bytes_at(slot, ktime_get_raw_ns());
  for (i = 0; i < ARRAY_SIZE(columns); ++i) stats->value[i] = column_value(i, bytes);
  return ARRAY_SIZE(columns);
}

static int query_device(struct ib_device* ib, struct ib_device_attr* attributes, struct ib_udata* udata) {
  attributes->vendor_id = 0x1d0f;
  attributes->max_pkeys = 1;
  return 0;
}

static int query_port(struct ib_device* ib, u32 port, struct ib_port_attr* attributes) {
  attributes->state = IB_PORT_ACTIVE;
  attributes->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
  attributes->lmc = 1;
  attributes->gid_tbl_len = 1;
  attributes->pkey_tbl_len = 1;
  attributes->active_speed = IB_SPEED_EDR;  // times 4 lanes: 100 Gb/s
  attributes->active_width = IB_WIDTH_4X;
  attributes->max_mtu = attributes->active_mtu = IB_MTU_4096;
  attributes->max_vl_num = 1;
  return 0;
}

static int query_gid(struct ib_device* ib, u32 port, int index, union ib_gid* gid) {
  memset(gid, 0, sizeof(*gid));
  gid->raw[0] = 0xfe;
  gid->raw[1] = 0x80;
  gid->raw[15] = (u8)container_of(ib, struct card, ib)->slot->index;
  return 0;
}

static int query_pkey(struct ib_device* ib, u32 port, u16 index, u16* key) {
  *key = 0xffff;
  return index ? -EINVAL : 0;
}

static int get_port_immutable(struct ib_device* ib, u32 port, struct ib_port_immutable* immutable) {
  immutable->pkey_tbl_len = 1;
  immutable->gid_tbl_len = 1;
  return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device* ib, u32 port) {
  return IB_LINK_LAYER_UNSPECIFIED;
}

static const struct ib_device_ops card_operations = {
    .owner = THIS_MODULE,
    .driver_id = RDMA_DRIVER_EFA,
    .alloc_hw_device_stats = alloc_device_stats,
    .alloc_hw_port_stats = alloc_port_stats,
    .get_hw_stats = get_stats,
    .get_link_layer = get_link_layer,
    .get_port_immutable = get_port_immutable,
    .query_device = query_device,
    .query_gid = query_gid,
    .query_pkey = query_pkey,
    .query_port = query_port,
};

// ---------------------------------------------------------------- the driver: plugging in and out, and the truth
static int card_probe(struct platform_device* platform) {
  struct slot* slot = *(struct slot**)dev_get_platdata(&platform->dev);
  struct card* card = ib_alloc_device(card, ib);
  char name[IB_DEVICE_NAME_MAX];
  int error;

  if (!card) return -ENOMEM;
  card->slot = slot;
  card->ib.node_type = RDMA_NODE_UNSPECIFIED;
  card->ib.phys_port_cnt = 1;
  card->ib.num_comp_vectors = 1;
  card->ib.node_guid = cpu_to_be64(0x1d0f000000000000ull + slot->index);
  card->ib.dev.parent = &platform->dev;
  ib_set_device_ops(&card->ib, &card_operations);
  slot->first_bytes = slot->plugged_ns ? 0 : (1ull << 40) + slot->index;
  slot->plugged_ns = ktime_get_raw_ns();
  snprintf(name, sizeof(name), "rdmap%us0", FIRST_BUS + slot->index);
  error = ib_register_device(&card->ib, name, NULL);
  if (error) {
    ib_dealloc_device(&card->ib);
    return error;
  }
  platform_set_drvdata(platform, card);
  return 0;
}

static int card_remove(struct platform_device* platform) {
  struct card* card = platform_get_drvdata(platform);

  ib_unregister_device(&card->ib);
  ib_dealloc_device(&card->ib);
  return 0;
}

static ssize_t truth_show(struct device* device, struct device_attribute* attribute, char* text) {
  const struct slot* slot = *(struct slot**)dev_get_platdata(device);
  u64 bytes = bytes_at(slot, ktime_get_raw_ns());
  ssize_t length;
  size_t i;

  length = sysfs_emit(text, "readings %lld\nrate %llu\nfirst_bytes %llu\nplugged_ns %llu\n",
                      (s64)atomic64_read(&slot->readings), slot->rate, slot->first_bytes, slot->plugged_ns);
  for (i = 0; i < ARRAY_SIZE(columns); ++i)
    length += sysfs_emit_at(text, length, "%s %llu\n", columns[i].description.name, column_value(i, bytes));
  return length;
}
static DEVICE_ATTR_RO(truth);
static struct attribute* card_attrs[] = {&dev_attr_truth.attr, NULL};
ATTRIBUTE_GROUPS(card);

static ssize_t traffic_show(struct device_driver* driver, char* text) {
  return sysfs_emit(text, "%llu %llu\n", traffic_begin_ns, traffic_end_ns);
}
static ssize_t traffic_store(struct device_driver* driver, const char* text, size_t length) {
  bool is_on;
  int error = kstrtobool(text, &is_on);

  if (error) return error;
  if (is_on ? traffic_begin_ns != 0 : !traffic_begin_ns || traffic_end_ns) return -EBUSY;
  WRITE_ONCE(*(is_on ? &traffic_begin_ns : &traffic_end_ns), ktime_get_raw_ns());
  return length;
}
static DRIVER_ATTR_RW(traffic);
static struct attribute* driver_attrs[] = {&driver_attr_traffic.attr, NULL};
ATTRIBUTE_GROUPS(driver);

static struct platform_driver card_driver = {
    .driver = {.name = "efa", .groups = driver_groups, .dev_groups = card_groups},
    .probe = card_probe,
    .remove = card_remove,
};

// ---------------------------------------------------------------- the module
static void remove_slots(void) {
  unsigned int i;

  for (i = 0; i < MAX_CARDS; ++i)
    if (slots[i].platform) platform_device_unregister(slots[i].platform);
}

// The platform bus takes any name: with a PCI address for one, a card is found where a real one would be.
static int add_slot(unsigned int i) {
  struct slot* slot = &slots[i];
  struct platform_device* platform;
  char name[32];
  int error;

  snprintf(name, sizeof(name), "0000:%02x:00.0", FIRST_BUS + i);
  platform = platform_device_alloc(name, PLATFORM_DEVID_NONE);
  if (!platform) return -ENOMEM;
  slot->index = i;
  slot->rate = rate_0 + i * rate_step;
  set_dev_node(&platform->dev, 0);
  error = platform_device_add_data(platform, &slot, sizeof(slot));
  if (!error) error = driver_set_override(&platform->dev, &platform->driver_override, "efa", strlen("efa"));
  if (!error) error = platform_device_add(platform);
  if (error)
    platform_device_put(platform);
  else
    slot->platform = platform;
  return error;
}

static int __init efa_stub_init(void) {
  int error;
  size_t i;

  if (cards > MAX_CARDS) return -EINVAL;
  for (i = 0; i < ARRAY_SIZE(columns); ++i) descriptions[i] = columns[i].description;
  error = platform_driver_register(&card_driver);
  if (error) return error;
  for (i = 0; i < cards && !error; ++i) error = add_slot(i);
  if (error) {
    remove_slots();
    platform_driver_unregister(&card_driver);
  }
  return error;
}

static void __exit efa_stub_exit(void) {
  remove_slots();
  platform_driver_unregister(&card_driver);
}

module_init(efa_stub_init);
module_exit(efa_stub_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("EFA-shaped network cards with known counters, for tests");
