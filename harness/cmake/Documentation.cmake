# Documentation: the `docs` target (Doxygen pages from the public headers).
