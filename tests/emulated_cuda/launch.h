#pragma once

#include <array>
#include <cstddef>
#include <cuda_runtime.h>
#include <tuple>
#include <type_traits>
#include <utility>

namespace mirrorscale::emulated_cuda {

/// One argument of a launch, for the check of what it points to.
struct Argument {
  const void* value;
  std::size_t bytes;
  enum class Kind { kPointer, kStructure, kNumbers } kind;
};

template <class T>
constexpr Argument::Kind argument_kind() {
  if (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) return Argument::Kind::kPointer;
  return std::is_class_v<T> && std::has_unique_object_representations_v<T> ? Argument::Kind::kStructure
                                                                           : Argument::Kind::kNumbers;
}

/// A kernel with its arguments, type-erased; replayed by graphs.
struct Launched {
  void (*call)(void* body);
  void (*drop)(void* body);
  void* body;
  const Argument* arguments;
  std::size_t argument_count;
  const void* kernel;  // its address
};

/// Takes the body over, also when it refuses the launch.
cudaError_t enqueue_erased(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                           const char* name, const Launched& launched);

/// Queues kernel(arguments...) on `stream`, as cudaLaunchKernelEx would. `name` is kept, not copied. Every
/// pointer among the arguments is checked when the kernel starts: memory that the device may not touch, freed
/// memory and plain host memory leave the sticky cudaErrorIllegalAddress. Structures are searched for
/// pointers into the memory of other devices, word by word; not those with padding, where a word may be half
/// a number and half what lay on the stack before.
template <class... P>
cudaError_t enqueue(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                    void (*kernel)(P...), const char* name, std::tuple<P...> arguments) {
  struct Body {
    void (*kernel)(P...);
    std::tuple<P...> values;
    std::array<Argument, sizeof...(P) + 1> arguments{};
  };
  auto* body = new Body{kernel, std::move(arguments), {}};
  std::apply(
      [&](const auto&... value) {
        std::size_t i = 0;
        ((body->arguments[i++] = {&value, sizeof(value),
                                  argument_kind<std::remove_cvref_t<decltype(value)>>()}),
         ...);
        (void)i;
      },
      body->values);
  Launched launched{};
  launched.call = [](void* erased) {
    const auto* self = static_cast<const Body*>(erased);
    std::apply(self->kernel, self->values);
  };
  launched.drop = [](void* erased) { delete static_cast<Body*>(erased); };
  launched.body = body;
  launched.arguments = body->arguments.data();
  launched.argument_count = sizeof...(P);
  launched.kernel = reinterpret_cast<const void*>(kernel);
  return enqueue_erased(grid, block, shared_bytes, stream, name, launched);
}

}  // namespace mirrorscale::emulated_cuda
