"""The work of one call: from a graph to a document, and back."""
