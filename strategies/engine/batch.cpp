#include "strategies/engine/batch.h"

namespace mirrorscale::strategies {
namespace {

std::size_t column_size(bool there, int rows) {
  return there ? static_cast<std::size_t>(kernels::padded(rows)) : 0U;
}

/// Where the parts of a slot begin: features, targets, labels, weights, each at a cache line.
struct Places {
  explicit Places(const BatchBuffers::Shape& s)
      : values(kernels::activation_size(s.rows, s.features)),
        labels(values + kernels::activation_size(s.rows, s.target_columns)),
        weights(labels + column_size(s.classes > 0, s.rows * s.labels)),
        end(weights + column_size(s.weighted, s.rows * s.labels)) {}
  std::size_t values, labels, weights, end;
};

template <class T>
kernels::BasicMatrix<T> view(kernels::Layout layout, T* data, int rows, int columns, int capacity) {
  if (columns == 0) return {};
  return kernels::activation_view(layout, data, rows, columns, capacity);
}

}  // namespace

BatchBuffers::BatchBuffers(kernels::Backend& backend, const Shape& capacity)
    : capacity_(capacity), layout_(backend.info().layout), queue_(backend.make_input_queue(size(capacity))) {}

std::size_t BatchBuffers::size(const Shape& capacity) {
  return Places(capacity).end;
}
std::size_t BatchBuffers::planned_bytes(const Shape& capacity, int slots) {
  return size(capacity) * sizeof(float) * static_cast<std::size_t>(slots);
}

BatchBuffers::Filling BatchBuffers::fill(int slot, int rows) {
  const Places at(capacity_);
  float* data = queue_->fill(slot);
  return {view(layout_, data, rows, capacity_.features, capacity_.rows),
          view(layout_, data + at.values, rows, capacity_.target_columns, capacity_.rows),
          capacity_.classes > 0 ? reinterpret_cast<int*>(data + at.labels) : nullptr,
          capacity_.weighted ? data + at.weights : nullptr};
}

BatchBuffers::Arrived BatchBuffers::receive(int slot, int rows) {
  const Places at(capacity_);
  const float* data = queue_->receive(slot);
  return {view(layout_, data, rows, capacity_.features, capacity_.rows),
          {capacity_.classes > 0 ? reinterpret_cast<const int*>(data + at.labels) : nullptr,
           view(layout_, data + at.values, rows, capacity_.target_columns, capacity_.rows),
           capacity_.weighted ? data + at.weights : nullptr}};
}

}  // namespace mirrorscale::strategies
