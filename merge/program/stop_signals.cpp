// Signals are blocked everywhere and taken from a signalfd; the second descriptor tells the thread that all is done.
#include "merge/program/stop_signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

namespace jaxprof::merge {
namespace {

sigset_t stopping() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction found {};
    if (::sigaction(signal, nullptr, &found) == 0 && found.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  return signals;
}

[[noreturn]] void die_by(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);  // here it is delivered
  _exit(128 + signal);
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t signals = stopping();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  signals_.reset(::signalfd(-1, &signals, SFD_CLOEXEC));
  end_.reset(::eventfd(0, EFD_CLOEXEC));
  if (signals_ && end_) {
    thread_ = std::thread([this] { wait(); });
  } else {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);  // as without us
  }
}

StopSignals::~StopSignals() {
  if (!thread_.joinable()) return;
  ::eventfd_write(end_.get(), 1);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopSignals::remove_on_stop(const std::string& path) {
  struct stat found {};
  const std::lock_guard lock(mutex_);
  path_ = path;
  file_.reset();
  if (::stat(path.c_str(), &found) == 0) file_ = found;
}

void StopSignals::remove() const {
  const std::lock_guard lock(mutex_);
  struct stat found {};
  if (!file_ || ::stat(path_.c_str(), &found) != 0) return;
  if (found.st_dev == file_->st_dev && found.st_ino == file_->st_ino) ::unlink(path_.c_str());
}

void StopSignals::wait() const {
  std::array<pollfd, 2> watched{{{signals_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}}};
  while (::poll(watched.data(), watched.size(), -1) < 0) {
  }
  if (watched[0].revents == 0) return;
  signalfd_siginfo found{};
  if (::read(signals_.get(), &found, sizeof found) != sizeof found) return;
  remove();
  die_by(static_cast<int>(found.ssi_signo));
}

}  // namespace jaxprof::merge
