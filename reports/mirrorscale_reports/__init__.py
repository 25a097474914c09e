"""Reads mirrorscale record files (docs/records.md) and draws. Knows nothing else of mirrorscale."""

__version__ = "0.1.0"
