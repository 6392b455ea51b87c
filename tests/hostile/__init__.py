"""Broken files, odd arguments and awkward numbers, compared with an independent reader and naive formulas."""
