# Package: install rules and the CMake package config, so that find_package(mirrorscale) works elsewhere. Included last:
# what to install is read from the targets that exist by then.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/mirrorscale")
get_property(libraries GLOBAL PROPERTY MIRRORSCALE_LIBRARIES)

install(TARGETS mirrorscale_options EXPORT mirrorscaleTargets)
if(TARGET mirrorscale_cuda)
  install(TARGETS mirrorscale_cuda EXPORT mirrorscaleTargets)
endif()
foreach(library IN LISTS libraries)
  install(TARGETS ${library} EXPORT mirrorscaleTargets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mirrorscale"
          FILE_SET with_source DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mirrorscale")
endforeach()
if(TARGET mirrorscale)
  install(TARGETS mirrorscale RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# A static library hands its private dependencies on to whoever links it. Each library's links name what they need by
# its CMake namespace, so the config asks for exactly the packages that this build used. PkgConfig::HWLOC stands for
# the pkg-config module of that name in lower case.
set(MIRRORSCALE_DEPENDENCIES "")
set(MIRRORSCALE_PKG_CONFIG "")
foreach(library IN LISTS libraries)
  get_target_property(links ${library} LINK_LIBRARIES)
  foreach(link IN LISTS links)
    if(link MATCHES "PkgConfig::([A-Za-z0-9_]+)")
      list(APPEND MIRRORSCALE_PKG_CONFIG "${CMAKE_MATCH_1}")
    elseif(link MATCHES "([A-Za-z0-9_]+)::" AND NOT CMAKE_MATCH_1 STREQUAL "mirrorscale")
      list(APPEND MIRRORSCALE_DEPENDENCIES "${CMAKE_MATCH_1}")
    endif()
  endforeach()
endforeach()
if(MIRRORSCALE_CUDA STREQUAL "ON")
  list(APPEND MIRRORSCALE_DEPENDENCIES CUDAToolkit)
endif()
foreach(needs IN ITEMS MIRRORSCALE_DEPENDENCIES MIRRORSCALE_PKG_CONFIG)
  list(REMOVE_DUPLICATES ${needs})
  list(SORT ${needs})
endforeach()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/mirrorscaleConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/mirrorscaleConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/mirrorscaleConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/mirrorscaleConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/mirrorscaleConfigVersion.cmake"
        DESTINATION "${package_dir}")
install(EXPORT mirrorscaleTargets NAMESPACE mirrorscale:: DESTINATION "${package_dir}")
