# Every target links mirrorscale::options; nothing else sets a compiler flag.
set(MIRRORSCALE_SANITIZE "" CACHE STRING "Comma-separated sanitizers, e.g. address,undefined or thread")
option(MIRRORSCALE_WERROR "Treat warnings as errors" OFF)
option(MIRRORSCALE_UNITY "Compile the sources of a folder together: a whole build in half the time" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(mirrorscale_options INTERFACE)
add_library(mirrorscale::options ALIAS mirrorscale_options)
set_target_properties(mirrorscale_options PROPERTIES EXPORT_NAME options)
target_compile_features(mirrorscale_options INTERFACE cxx_std_20)
target_include_directories(mirrorscale_options INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
  "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mirrorscale>")
# -ffp-contract=off: the `exact` contract; a compiler that fuses a * b + c on its own changes bits.
target_compile_options(mirrorscale_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>"
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wnon-virtual-dtor>>"
  "$<BUILD_INTERFACE:$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${MIRRORSCALE_WERROR}>>:-Werror>>")
if(MIRRORSCALE_SANITIZE)
  target_compile_options(mirrorscale_options INTERFACE
    "$<BUILD_INTERFACE:-fsanitize=${MIRRORSCALE_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  target_link_options(mirrorscale_options INTERFACE "$<BUILD_INTERFACE:-fsanitize=${MIRRORSCALE_SANITIZE}>")
endif()

# Compiles the sources of a folder together, up to eight at a time, where MIRRORSCALE_UNITY: names that a folder's
# sources keep to themselves must then differ.
function(mirrorscale_join_sources target)
  if(NOT MIRRORSCALE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "[.]cpp$")
      continue()
    endif()
    get_filename_component(folder "${source}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    math(EXPR number "${count_${folder}} + 0")
    math(EXPR count_${folder} "${number} + 1")
    math(EXPR batch "${number} / 8")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${batch}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# mirrorscale_add_library(kernels SOURCES a.cpp HEADERS a.h LINK ...): one library a folder. Sources are
# private; every header listed is public and installed (Package.cmake reads the names collected here), and checked for
# self-containment where it has no source of its own, which would include it first.
function(mirrorscale_add_headers target)
  set(alone "")
  set(with_source "")
  foreach(header IN LISTS ARGN)
    string(REGEX REPLACE "[.]h$" ".cpp" source "${header}")
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
      list(APPEND with_source "${header}")
    else()
      list(APPEND alone "${header}")
    endif()
  endforeach()
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${alone}
                 FILE_SET with_source TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${with_source})
  set_target_properties(${target} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
endfunction()

function(mirrorscale_add_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;LINK;PRIVATE_LINK" ${ARGN})
  add_library(mirrorscale_${name} STATIC ${arg_SOURCES})
  add_library(mirrorscale::${name} ALIAS mirrorscale_${name})
  set_target_properties(mirrorscale_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  mirrorscale_add_headers(mirrorscale_${name} ${arg_HEADERS})
  target_link_libraries(mirrorscale_${name} PUBLIC mirrorscale::options ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
  set_property(GLOBAL APPEND PROPERTY MIRRORSCALE_LIBRARIES mirrorscale_${name})
endfunction()
