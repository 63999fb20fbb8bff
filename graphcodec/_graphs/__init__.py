"""Graphs of objects, walked, compared, changed and judged without a document."""
