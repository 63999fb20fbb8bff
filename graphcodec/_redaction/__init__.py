"""Graphs without what should not be written: rules, how they are applied, reports."""
