"""The JSON Schema of documents, and what a change to it means for old ones."""
