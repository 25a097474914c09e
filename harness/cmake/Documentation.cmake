# Documentation: the `docs` target (Doxygen pages from the public headers and docs/*.md). Optional: a build without
# Doxygen lacks this target and nothing else.
find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
  message(STATUS "no `docs` target: Doxygen was not found (Debian package: doxygen)")
  return()
endif()

set(DOXYGEN_PROJECT_NAME mirrorscale)
set(DOXYGEN_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/docs")
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE "${PROJECT_SOURCE_DIR}/docs/README.md")
set(DOXYGEN_STRIP_FROM_PATH "${PROJECT_SOURCE_DIR}")
set(DOXYGEN_STRIP_FROM_INC_PATH "${PROJECT_SOURCE_DIR}")
# With EXTRACT_ALL off, a namespace without a comment of its own hides its functions and the errors in their comments.
set(DOXYGEN_EXTRACT_ALL YES)
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_GENERATE_LATEX NO)
set(DOXYGEN_HAVE_DOT NO)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)

# The pages of docs/, and every public header: the ones that are installed.
file(GLOB documented CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md")
get_property(libraries GLOBAL PROPERTY MIRRORSCALE_LIBRARIES)
foreach(library IN LISTS libraries)
  foreach(set IN ITEMS HEADER_SET HEADER_SET_with_source)
    get_target_property(headers ${library} ${set})
    if(headers)
      list(APPEND documented ${headers})
    endif()
  endforeach()
endforeach()
doxygen_add_docs(docs ${documented} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
                 COMMENT "API pages in ${PROJECT_BINARY_DIR}/docs/html")
