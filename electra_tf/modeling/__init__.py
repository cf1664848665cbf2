"""Keras layers with the official arithmetic. Knows no files, flags or strategies."""
