# The tests written against the CUDA, cuBLAS and NCCL API alone: the same sources for the emulated device and for a
# real GPU, so that what the stand-in promises is what the GPU does.
set(conformance_tests blas_test blaslt_test collectives_test devices_test graphs_test kernels_test memory_test
                      streams_test)

# add_conformance_tests(TEST… KERNELS library PREFIX emulated LABEL emulated)
function(add_conformance_tests)
  cmake_parse_arguments(arg "" "KERNELS;PREFIX;LABEL" "" ${ARGN})
  foreach(test IN LISTS arg_UNPARSED_ARGUMENTS)
    add_executable(${arg_PREFIX}.${test} "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${test}.cpp")
    target_link_libraries(${arg_PREFIX}.${test} PRIVATE ${arg_KERNELS} GTest::gtest_main)
    gtest_discover_tests(${arg_PREFIX}.${test} TEST_PREFIX "${arg_PREFIX}.${test}." DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS ${arg_LABEL} TIMEOUT 120)
    if(TARGET gpu_tests)
      add_dependencies(gpu_tests ${arg_PREFIX}.${test})
    endif()
  endforeach()
endfunction()

# By nvcc and with the real libraries: conformance.* in ctest, label gpu.
function(add_conformance_of_gpus)
  set(folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  cmake_path(GET folder PARENT_PATH above)
  add_library(mirrorscale_conformance_kernels STATIC "${folder}/test_kernels.cu")
  target_include_directories(mirrorscale_conformance_kernels PUBLIC "${above}")
  target_link_libraries(mirrorscale_conformance_kernels PUBLIC mirrorscale::cuda)
  add_conformance_tests(${conformance_tests} KERNELS mirrorscale_conformance_kernels PREFIX conformance LABEL gpu)
endfunction()
