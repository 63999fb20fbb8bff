"""Write all documents of the corpus anew: ``python -m tests.wire_corpus.regenerate``.

Only before the first release: from then on, documents are added and never changed.
"""

from __future__ import annotations

from tests.wire_corpus.corpus import DOCUMENTS, all_files


def main() -> None:
    """Write every file, and remove those that nothing stands for any more."""
    files = all_files()
    DOCUMENTS.mkdir(exist_ok=True)
    for path in DOCUMENTS.iterdir():
        if path.name not in files:
            path.unlink()
    for name, data in files.items():
        (DOCUMENTS / name).write_bytes(data)


if __name__ == "__main__":
    main()
