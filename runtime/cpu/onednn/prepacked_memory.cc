// SPDX-License-Identifier: Apache-2.0
// Constants in the layouts that primitives ask for: one copy in a process, shared by all plans that hold it.
//
// A packed copy is known by the buffer that it was made from, how the bytes lie there, and how they lie packed. It
// lives as long as a step that reads it; the cache only watches.
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "base/status.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/round_floats.h"

namespace halftone::onednn {
namespace {

using Blob = std::vector<uint8_t>;

Blob BlobOf(Desc desc) { return desc.get_blob(); }

// The type that f32 is rounded to, in which oneDNN's reorders make denormals zeros; nullopt: nothing is
// rounded.
std::optional<DataType> RoundedType(dnnl::memory::data_type from, dnnl::memory::data_type to) {
  if (from != dnnl::memory::data_type::f32) return std::nullopt;
  if (to == dnnl::memory::data_type::bf16) return DataType::kBFloat16;
  if (to == dnnl::memory::data_type::f16) return DataType::kFloat16;
  return std::nullopt;
}

class PackedConstants final {
 public:
  using Key = std::tuple<const Buffer*, Blob, Blob>;

  static PackedConstants& Get() {
    static PackedConstants* const cache = new PackedConstants;
    return *cache;
  }

  // nullptr: no step holds one.
  std::shared_ptr<const Pages> Find(const Key& key, const std::shared_ptr<const Buffer>& source) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return FindLocked(key, source);
  }

  // What is shared from now on: `pages`, or what another thread has packed in the meantime.
  std::shared_ptr<const Pages> Add(const Key& key, const std::shared_ptr<const Buffer>& source, Pages pages) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::shared_ptr<const Pages> there = FindLocked(key, source); there != nullptr) return there;
    const auto forget = [this, key](Pages* dead) {
      delete dead;
      Forget(key);
    };
    std::shared_ptr<const Pages> shared(new Pages(std::move(pages)), forget);
    entries_[key] = Entry{source, shared};
    return shared;
  }

 private:
  struct Entry {
    std::weak_ptr<const Buffer> source;  // a later buffer may have the same address
    std::weak_ptr<const Pages> pages;
  };

  std::shared_ptr<const Pages> FindLocked(const Key& key, const std::shared_ptr<const Buffer>& source) {
    const auto it = entries_.find(key);
    if (it == entries_.end() || it->second.source.lock() != source) return nullptr;
    return it->second.pages.lock();
  }

  void Forget(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = entries_.find(key);
    if (it != entries_.end() && it->second.pages.expired()) entries_.erase(it);
  }

  std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

absl::Status Reorder(const Desc& from, const std::byte* source, const Desc& to, std::byte* target) {
  return Guard([&] {
    // oneDNN takes no pointer to const; a reorder does not write its source.
    dnnl::memory read(from, CpuEngine(), const_cast<std::byte*>(source));
    dnnl::memory written(to, CpuEngine(), target);
    dnnl::stream stream(CpuEngine());
    dnnl::reorder(read, written).execute(stream, read, written);
    stream.wait();
  });
}

// Whether oneDNN has this reorder. Int8 weights with sums beside them are packed from some orders only.
bool HasReorder(const Desc& from, const Desc& to) {
  return static_cast<bool>(dnnl::reorder::primitive_desc(CpuEngine(), from, CpuEngine(), to, dnnl::primitive_attr(),
                                                         /*allow_empty=*/true));
}

absl::StatusOr<Pages> PackAnew(const Tensor& tensor, const Desc& from, const Desc& to) {
  HALFTONE_ASSIGN_OR_RETURN(Pages pages, Pages::AllocateLasting(to.get_size()));
  const std::optional<DataType> rounded = RoundedType(from.get_data_type(), to.get_data_type());
  const Dims dims = from.get_dims();
  if (!rounded.has_value() && tensor.type() == DataType::kInt8 && !HasReorder(from, to)) {
    const Desc plain = PlainDesc(dims, DataType::kInt8);
    HALFTONE_ASSIGN_OR_RETURN(Pages bytes, Pages::Allocate(plain.get_size()));
    HALFTONE_RETURN_IF_ERROR(Reorder(from, tensor.raw(), plain, bytes.data()));
    HALFTONE_RETURN_IF_ERROR(Reorder(plain, bytes.data(), to, pages.data()));
    return pages;
  }
  if (!rounded.has_value()) {
    HALFTONE_RETURN_IF_ERROR(Reorder(from, tensor.raw(), to, pages.data()));
    return pages;
  }
  const Desc wide = PlainDesc(dims, DataType::kFloat32), narrow = PlainDesc(dims, *rounded);
  HALFTONE_ASSIGN_OR_RETURN(Pages numbers, Pages::Allocate(wide.get_size()));
  HALFTONE_ASSIGN_OR_RETURN(Pages halves, Pages::Allocate(narrow.get_size()));
  HALFTONE_RETURN_IF_ERROR(Reorder(from, tensor.raw(), wide, numbers.data()));
  simd::RoundFloats(reinterpret_cast<const float*>(numbers.data()),
                    static_cast<int64_t>(wide.get_size() / sizeof(float)), *rounded,
                    reinterpret_cast<uint16_t*>(halves.data()));
  HALFTONE_RETURN_IF_ERROR(Reorder(narrow, halves.data(), to, pages.data()));
  return pages;
}

}  // namespace

absl::StatusOr<PrepackedMemory> Pack(const Tensor& tensor, const Desc& from, const Desc& to) {
  PrepackedMemory fixed;
  PackedConstants& cache = PackedConstants::Get();
  PackedConstants::Key key;
  HALFTONE_RETURN_IF_ERROR(Guard([&] { key = PackedConstants::Key(tensor.buffer().get(), BlobOf(from), BlobOf(to)); }));
  fixed.pages = cache.Find(key, tensor.buffer());
  if (fixed.pages == nullptr) {
    HALFTONE_ASSIGN_OR_RETURN(Pages pages, PackAnew(tensor, from, to));
    fixed.pages = cache.Add(key, tensor.buffer(), std::move(pages));
  }
  HALFTONE_RETURN_IF_ERROR(Guard([&] {
    // oneDNN takes no pointer to const; what is packed is an input of primitives only.
    fixed.memory = dnnl::memory(to, CpuEngine(), const_cast<std::byte*>(fixed.pages->data()));
  }));
  return fixed;
}

}  // namespace halftone::onednn
