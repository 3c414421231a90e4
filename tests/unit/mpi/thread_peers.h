// Peers that are threads of one process: what MPI does, without MPI. Sending never waits, or, if asked for, always
// until the message is taken, which is how MPI sends long ones.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "merge/mpi/peers.h"

namespace jaxprof::test {

class ThreadPeers {
 public:
  ThreadPeers(int size, bool waits) : size_(size), waits_(waits) {}

  // Runs `work` once for each peer, on threads; returns when all have.
  void run(const std::function<void(merge::Peers*)>& work) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size_; ++rank) {
      threads.emplace_back([this, rank, &work] {
        Peer peer(this, rank);
        work(&peer);
      });
    }
  }

 private:
  using Line = std::tuple<int, int, merge::MessageKind>;  // from, to

  class Peer final : public merge::Peers {
   public:
    Peer(ThreadPeers* all, int rank) : all_(*all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return all_.size_; }
    void send(int to, merge::MessageKind kind, std::span<const std::byte> bytes) override {
      std::unique_lock lock(all_.mutex_);
      auto& line = all_.lines_[{rank_, to, kind}];
      line.emplace_back(bytes.begin(), bytes.end());
      all_.changed_.notify_all();
      if (all_.waits_) all_.changed_.wait(lock, [&line] { return line.empty(); });
    }
    merge::Message receive(int from, merge::MessageKind kind) override {
      std::unique_lock lock(all_.mutex_);
      auto& line = all_.lines_[{from, rank_, kind}];
      all_.changed_.wait(lock, [&line] { return !line.empty(); });
      merge::Message message = std::move(line.front());
      line.pop_front();
      all_.changed_.notify_all();
      return message;
    }

   private:
    ThreadPeers& all_;
    int rank_;
  };

  const int size_;
  const bool waits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Line, std::deque<merge::Message>> lines_;
};

}  // namespace jaxprof::test
