# Installs a build, moves the installation elsewhere, and builds and runs a stranger's program against it.
#   cmake -DBUILD=… -DSOURCE=… -DCONSUMER=… -DWORK=… -DCOMPILER=… -P package_test.cmake
function(run step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${step} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("install" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first")
file(RENAME "${WORK}/first" "${WORK}/moved")

# Nothing in the package may point back to where it was made.
file(GLOB_RECURSE texts "${WORK}/moved/*.cmake" "${WORK}/moved/*.h")
list(LENGTH texts files)
if(files LESS 10)
  message(FATAL_ERROR "only ${files} headers and CMake files were installed")
endif()
foreach(path IN LISTS texts)
  file(READ "${path}" text)
  foreach(origin IN ITEMS "${BUILD}" "${SOURCE}" "${WORK}/first")
    string(FIND "${text}" "${origin}/" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${path} names ${origin}")
    endif()
  endforeach()
endforeach()

run("configure" "${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${WORK}/build" -G Ninja
    "-DCMAKE_PREFIX_PATH=${WORK}/moved" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Release)
run("build" "${CMAKE_COMMAND}" --build "${WORK}/build")
run("the program" "${WORK}/build/app")
message("${output}")
if(EXISTS "${WORK}/moved/bin/mirrorscale")
  run("the installed command" "${WORK}/moved/bin/mirrorscale" --help)
endif()
