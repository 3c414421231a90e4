// An HDF5 identifier is an integer that somebody must close, with a function that depends on its kind. This owns one.
#pragma once

#include <hdf5.h>

#include <utility>

namespace jaxprof::runfile {

class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() noexcept = default;
  Handle(hid_t id, Close how) noexcept : id_(id), close_(how) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close(); }

  hid_t get() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }
  // Closes now; false if HDF5 could not (for a file: its last bytes were not written).
  bool close() noexcept {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

}  // namespace jaxprof::runfile
