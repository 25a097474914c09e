# The tests of the emulated device; emulated.* in ctest.
find_package(GTest 1.12 REQUIRED CONFIG)
include(GoogleTest)

add_library(mirrorscale_emulated_cuda_test_options INTERFACE)
target_compile_options(mirrorscale_emulated_cuda_test_options INTERFACE -g -ffp-contract=off -Wall -Wextra
  -Wno-unknown-pragmas)
if(MIRRORSCALE_SANITIZE)
  target_compile_options(mirrorscale_emulated_cuda_test_options INTERFACE
    "-fsanitize=${MIRRORSCALE_SANITIZE}" -fno-omit-frame-pointer)
  target_link_options(mirrorscale_emulated_cuda_test_options INTERFACE "-fsanitize=${MIRRORSCALE_SANITIZE}")
endif()

set_source_files_properties(test_kernels.cu PROPERTIES LANGUAGE CXX)
add_library(mirrorscale_emulated_cuda_test_kernels STATIC test_kernels.cu)
target_link_libraries(mirrorscale_emulated_cuda_test_kernels PUBLIC
  mirrorscale::emulated_cuda mirrorscale_emulated_cuda_test_options)

include("${CMAKE_CURRENT_LIST_DIR}/conformance.cmake")
# control_*: those that look behind the API.
add_conformance_tests(${conformance_tests} control_test control_nccl_test
                      KERNELS mirrorscale_emulated_cuda_test_kernels PREFIX emulated LABEL emulated)

# Planted faults: each ends in the report that names it. `planted NAME` runs one.
add_executable(emulated.planted planted.cpp)
if(TARGET gpu_tests)
  add_dependencies(gpu_tests emulated.planted)
endif()
target_link_libraries(emulated.planted PRIVATE mirrorscale_emulated_cuda_test_kernels)
function(planted name report)
  # Through a shell: that it ends by a signal would fail the test whatever it printed.
  add_test(NAME emulated.planted.${name} COMMAND sh -c "'$<TARGET_FILE:emulated.planted>' ${name}; echo ended with $?")
  set_tests_properties(emulated.planted.${name} PROPERTIES LABELS emulated TIMEOUT 60
                       PASS_REGULAR_EXPRESSION "${report}" ENVIRONMENT TSAN_OPTIONS=atexit_sleep_ms=0)
endfunction()
planted(leave_before_barrier "left while .* wait at __syncthreads|had left before __syncthreads")
planted(divergent_barrier "divergent __syncthreads: some threads at .*test_kernels.cu:[0-9]+, others at")
planted(half_a_warp "warp 0 waits at .*test_kernels.cu:[0-9]+ for lanes 0xffff0000")
planted(freed_argument "argument 1 of 3 .* is no memory that device 0 may touch")
if(MIRRORSCALE_SANITIZE MATCHES "address")
  planted(write_one_too_many "heap-buffer-overflow")
  planted(shared_one_too_few "heap-buffer-overflow")
endif()
if(MIRRORSCALE_SANITIZE STREQUAL "thread")
  foreach(race IN ITEMS missing_wait missing_wait_collective missing_host_wait missing_barrier missing_wait_graph
          shared_workspace early_overwrite racing_blocks memset_without_wait)
    planted(${race} "WARNING: ThreadSanitizer: data race")
  endforeach()
endif()
foreach(clean IN ITEMS with_wait with_wait_collective with_wait_graph)
  add_test(NAME emulated.planted.${clean} COMMAND emulated.planted ${clean})
  set_tests_properties(emulated.planted.${clean} PROPERTIES LABELS emulated TIMEOUT 60
                       FAIL_REGULAR_EXPRESSION "Sanitizer" ENVIRONMENT TSAN_OPTIONS=atexit_sleep_ms=0)
endforeach()
