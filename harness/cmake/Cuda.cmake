# MIRRORSCALE_CUDA: how the CUDA backend is built.
#   OFF       not at all; what it would be says so
#   ON        nvcc, with cudart, cuBLASLt and NCCL of the toolkit
#   EMULATED  the same sources against tests/emulated_cuda, a stand-in that runs on the host: for tests only
# Gives the target mirrorscale::cuda, with all that is needed to compile and link against the toolkit.
set(MIRRORSCALE_CUDA "OFF" CACHE STRING "CUDA backend: OFF, ON or EMULATED")
set_property(CACHE MIRRORSCALE_CUDA PROPERTY STRINGS OFF ON EMULATED)

add_custom_target(gpu_tests)  # whatever runs on GPUs, real or emulated
set(MIRRORSCALE_GPU_LABEL gpu)  # of such tests
if(MIRRORSCALE_CUDA STREQUAL "EMULATED")
  set(MIRRORSCALE_GPU_LABEL emulated)
endif()
if(MIRRORSCALE_CUDA STREQUAL "ON")
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # before enable_language, or a second, static runtime is linked
  enable_language(CUDA)
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 knows nvcc's dialects up to 17
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  find_package(CUDAToolkit 12 REQUIRED)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  if(NOT NCCL_INCLUDE_DIR OR NOT NCCL_LIBRARY)
    message(FATAL_ERROR "NCCL (nccl.h, libnccl.so) was not found; install libnccl-dev, or set NCCL_INCLUDE_DIR and "
                        "NCCL_LIBRARY. Without a GPU configure with -DMIRRORSCALE_CUDA=OFF.")
  endif()
  add_library(mirrorscale_cuda INTERFACE)
  target_include_directories(mirrorscale_cuda SYSTEM INTERFACE "$<BUILD_INTERFACE:${NCCL_INCLUDE_DIR}>")
  target_link_libraries(mirrorscale_cuda INTERFACE CUDA::cudart CUDA::cublas CUDA::cublasLt
                        "$<BUILD_INTERFACE:${NCCL_LIBRARY}>" "$<INSTALL_INTERFACE:nccl>")
  # --fmad=false: the exact contract, as -ffp-contract=off for C++.
  target_compile_options(mirrorscale_cuda INTERFACE
    "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;--expt-relaxed-constexpr;-Xptxas=-v;SHELL:-Werror all-warnings>>")
elseif(MIRRORSCALE_CUDA STREQUAL "EMULATED")
  add_subdirectory("${PROJECT_SOURCE_DIR}/tests/emulated_cuda" "${PROJECT_BINARY_DIR}/tests/emulated_cuda")
  add_library(mirrorscale_cuda INTERFACE)
  target_link_libraries(mirrorscale_cuda INTERFACE mirrorscale::emulated_cuda)
elseif(NOT MIRRORSCALE_CUDA STREQUAL "OFF")
  message(FATAL_ERROR "MIRRORSCALE_CUDA is '${MIRRORSCALE_CUDA}'; expected OFF, ON or EMULATED")
endif()
if(TARGET mirrorscale_cuda)
  add_library(mirrorscale::cuda ALIAS mirrorscale_cuda)
  set_target_properties(mirrorscale_cuda PROPERTIES EXPORT_NAME cuda)
endif()
