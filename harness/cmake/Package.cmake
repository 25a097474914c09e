# Package: install rules and the CMake package config (find_package(mirrorscale)).
