"""What a store of conversations does inside Redis, where nobody comes between.

All keys of a store begin with one prefix, and so lie in one slot of a cluster:

* ``record:NAME`` is a hash: the ``document`` of a record, its ``revision``, its
  ``scope``, the ``tips`` of its history and of the branches it left, and the ``token``
  of the call that wrote it;
* ``entry:NAME`` is a hash: the ``document`` of an entry, its ``parent``, and the number
  of its ``uses``;
* ``records`` and ``scope:NAME`` list the names of records by when they were saved.

Names are hashes of ids, in hexadecimal; the empty name is none. Entries are used by
those that follow them and by the records whose tips they are. One that nothing uses is
taken away, and then its parent has one use less: so what forks share stays until the
last of them goes.

With a time to live, entries stay a second longer than the records they belong to, and
up to an eighth of that time: so a save need not put off the end of a long history each
time.
"""

from __future__ import annotations

from typing import Final

from graphcodec._cache._scripts import script

_NAMES: Final = """
local prefix = ARGV[1]
local function entry(name) return prefix .. 'entry:' .. name end
"""

_RELEASE: Final = """
local function each(names, visit)
  for name in string.gmatch(names or '', '%x+') do visit(name) end
end
local function release(name)
  while name and name ~= '' do
    local key = entry(name)
    if redis.call('EXISTS', key) == 0 then return end
    if redis.call('HINCRBY', key, 'uses', -1) > 0 then return end
    name = redis.call('HGET', key, 'parent')
    redis.call('UNLINK', key)
  end
end
local function unlist(record, scope)
  redis.call('ZREM', prefix .. 'records', record)
  if scope and scope ~= '' then
    redis.call('ZREM', prefix .. 'scope:' .. scope, record)
  end
end
"""

_WRITE: Final = """
local name, expected, revision, token = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local document, tips, scope, score = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local ttl, first = tonumber(ARGV[10]), 11
local record = KEYS[1]
local old = redis.call('HMGET', record, 'revision', 'token', 'tips', 'scope')
if old[2] == token then return 1 end
if (old[1] or '') ~= expected then return 0 end

local added = {[''] = true}
local function there(which)
  return added[which] or redis.call('EXISTS', entry(which)) == 1
end
for i = first, #ARGV, 3 do
  if there(ARGV[i]) or not there(ARGV[i + 1]) then return 0 end
  added[ARGV[i]] = true
end
local absent = false
each(tips, function(tip) absent = absent or not there(tip) end)
if absent then return 0 end

-- Nothing stands against it: from here on, all of it is done.
local forever = 2 ^ 53
local need = ttl == 0 and forever or ttl + 1000
local target = ttl == 0 and forever or need + math.floor(ttl / 8)
local function left(key)
  local found = redis.call('PTTL', key)
  return found == -1 and forever or found
end
local function extend(key, time)
  if time < forever then
    redis.call('PEXPIRE', key, time)
  else
    redis.call('PERSIST', key)
  end
end
-- No entry lasts longer than the one before it. So if one lasts, all before it do.
local function keep(which)
  local time = which == '' and forever or left(entry(which))
  if time >= need then return time end
  while which and which ~= '' and left(entry(which)) < target do
    extend(entry(which), target)
    which = redis.call('HGET', entry(which), 'parent')
  end
  return target
end
local function use(which)
  if which ~= '' then redis.call('HINCRBY', entry(which), 'uses', 1) end
end
for i = first, #ARGV, 3 do
  local parent = ARGV[i + 1]
  local time = keep(parent)
  if time < forever then time = time - 1 end
  redis.call('HSET', entry(ARGV[i]), 'parent', parent, 'document', ARGV[i + 2])
  extend(entry(ARGV[i]), math.min(time, target))
  use(parent)
end
each(tips, function(tip)
  use(tip)
  keep(tip)
end)
each(old[3], release)

unlist(name, old[4])
local function list(key)
  local is_new = redis.call('EXISTS', key) == 0
  redis.call('ZADD', key, score, name)
  if is_new or left(key) < need then extend(key, target) end
  if ttl == 0 then return end
  for _, oldest in ipairs(redis.call('ZRANGE', key, 0, 1)) do
    if oldest ~= name and redis.call('EXISTS', prefix .. 'record:' .. oldest) == 0 then
      redis.call('ZREM', key, oldest)
    end
  end
end
list(prefix .. 'records')
if scope ~= '' then list(prefix .. 'scope:' .. scope) end
redis.call('HSET', record, 'document', document, 'revision', revision,
  'token', token, 'tips', tips, 'scope', scope)
if ttl > 0 then
  redis.call('PEXPIRE', record, ttl)
else
  redis.call('PERSIST', record)
end
return 1
"""

_DELETE: Final = """
local name, expected = ARGV[2], ARGV[3]
local old = redis.call('HMGET', KEYS[1], 'revision', 'tips', 'scope')
if old[1] ~= expected then return 0 end
redis.call('DEL', KEYS[1])
unlist(name, old[3])
each(old[2], release)
return 1
"""

_HISTORY: Final = """
local name, most, size = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local found = {}
while name ~= '' and #found < most and size > 0 do
  local got = redis.call('HMGET', entry(name), 'parent', 'document')
  if not got[2] then break end
  table.insert(found, got[2])
  size = size - #got[2]
  name = got[1] or ''
end
return found
"""

_RECORDS: Final = """
local most = tonumber(ARGV[2])
local found, gone, at = {}, {}, 0
while #found / 2 < most do
  local names = redis.call('ZREVRANGE', KEYS[1], at, at + 255)
  if #names == 0 then break end
  at = at + #names
  for _, name in ipairs(names) do
    local document = redis.call('HGET', prefix .. 'record:' .. name, 'document')
    if not document then
      table.insert(gone, name)
    elseif #found / 2 < most then
      table.insert(found, name)
      table.insert(found, document)
    end
  end
end
for _, name in ipairs(gone) do redis.call('ZREM', KEYS[1], name) end
return found
"""

WRITE: Final = script(_NAMES + _RELEASE + _WRITE)
"""Write a record and new entries if the revision is the expected one; say whether."""

DELETE: Final = script(_NAMES + _RELEASE + _DELETE)
"""Take away a record, and the entries that nothing uses any more; say whether."""

HISTORY: Final = script(_NAMES + _HISTORY)
"""Give the documents of an entry and of those before it, newest first."""

RECORDS: Final = script(_NAMES + _RECORDS)
"""Give the names and documents of the records in a list, newest first."""
