# Writes version.h at build time, and only when it changes: a revision found when CMake was run would soon be a wrong one.
# cmake -DIN=version.h.in -DOUT=version.h -DSOURCE=… -DMIRRORSCALE_VERSION=… -P write_version.cmake
set(MIRRORSCALE_GIT_REVISION "unknown")
find_program(GIT_PROGRAM git)
# .git in the source itself: a source folder inside someone else's repository has no revision of its own.
if(GIT_PROGRAM AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND "${GIT_PROGRAM}" rev-parse HEAD WORKING_DIRECTORY "${SOURCE}"
                  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    execute_process(COMMAND "${GIT_PROGRAM}" status --porcelain --untracked-files=no WORKING_DIRECTORY "${SOURCE}"
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    set(MIRRORSCALE_GIT_REVISION "${revision}")
    if(changes)
      string(APPEND MIRRORSCALE_GIT_REVISION "+changes")
    endif()
  endif()
endif()
configure_file("${IN}" "${OUT}" @ONLY)
