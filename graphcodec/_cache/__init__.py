"""How snapshots lie in Redis: cut into chunks, of which a save sends the new ones.

`_chunks` is what is stored, `_cutting` makes it of a document and `_joining` makes the
document again, `_differing` compares two of them, `_plans` are the steps of every
operation, whether the client is sync or async, and `_scripts` is what runs in Redis.
"""
