"""What runs inside Redis, where nobody comes between two steps; for 6.2 and later.

All take the same two keys, which lie in one slot of a cluster: the hash of chunks,
whose fields are addresses, and the hash of turns, whose fields are the decimal numbers
of turns and three names: ``session``, ``version`` (of the newest save) and ``token``
(of the same).

The rule that everything rests on: *a chunk is only written where all that it links to
is, and only taken away where nothing that stays links to it.* So where a chunk is,
everything below it is, and a save need send only what is new and have the links of that
looked at. This holds whatever else happens: two writers, a sweep in the middle of a
save, a server that lost its last second.
"""

from __future__ import annotations

import hashlib
from typing import Final

from attrs import frozen

from graphcodec._cache._chunks import ADDRESS_SIZE, COUNT_SIZE, VERSION_DIGITS

_LINKS: Final = f"""
local function links(value, at, visit)
  local a, b, c, d = string.byte(value, at, at + {COUNT_SIZE - 1})
  -- A value that a save wrote is never cut short; nobody knows who else writes here.
  if not d then return end
  local first = at + {COUNT_SIZE}
  local last = first + (((a * 256 + b) * 256 + c) * 256 + d - 1) * {ADDRESS_SIZE}
  for i = first, math.min(last, #value), {ADDRESS_SIZE} do
    visit(string.sub(value, i, i + {ADDRESS_SIZE - 1}))
  end
end
local ROOT = {VERSION_DIGITS + ADDRESS_SIZE + 1}
"""

_BELOW: Final = """
local reached, met = {}, {}
local function reach(address)
  if not met[address] then
    met[address] = true
    table.insert(reached, address)
  end
end
local function descend()
  local at = 1
  while reached[at] do
    local value = redis.call('HGET', KEYS[1], reached[at])
    if value then links(value, 1, reach) end
    at = at + 1
  end
end
"""

_NUMBERS: Final = """
local function numbers()
  local found = {}
  for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
    local turn = string.match(field, '^%d+$') and tonumber(field)
    if turn and string.format('%.0f', turn) == field then
      table.insert(found, turn)
    end
  end
  table.sort(found, function(a, b) return a > b end)
  return found
end
"""

_STORE: Final = """
local chunks, turns = KEYS[1], KEYS[2]
local expected, session, token = ARGV[1], ARGV[2], ARGV[3]
local ttl, count = tonumber(ARGV[4]), tonumber(ARGV[5])
local first = 6 + 2 * count
local version = tonumber(redis.call('HGET', turns, 'version') or '') or 0
if first < #ARGV then
  if redis.call('HGET', turns, 'token') == token then
    return {'saved', version}
  end
  local old = redis.call('HGET', turns, ARGV[first])
  local actual = old and tonumber(string.sub(old, 1, DIGITS)) or 0
  if expected == 'new' then
    if version > 0 then return {'conflict', version, version} end
  elseif expected ~= '' then
    local wanted = tonumber(expected)
    if wanted ~= actual and (wanted == 0 or wanted ~= version) then
      return {'conflict', actual, version}
    end
  end
end
local sent, absent, asked = {}, {'absent'}, {}
for i = 6, first - 1, 2 do sent[ARGV[i]] = true end
local function look(address)
  if sent[address] or asked[address] then return end
  asked[address] = true
  if redis.call('HEXISTS', chunks, address) == 0 then
    table.insert(absent, address)
  end
end
for i = 7, first - 1, 2 do links(ARGV[i], 1, look) end
for i = first + 1, #ARGV, 2 do links(ARGV[i], ROOT - DIGITS, look) end
if #absent > 1 then return absent end
for i = 6, first - 1, 2 do redis.call('HSET', chunks, ARGV[i], ARGV[i + 1]) end
for i = first, #ARGV - 1, 2 do
  version = version + 1
  local digits = string.format('%0' .. DIGITS .. 'd', version)
  redis.call('HSET', turns, ARGV[i], digits .. ARGV[i + 1])
end
if first < #ARGV then
  redis.call('HSET', turns, 'session', session, 'version', version, 'token', token)
end
if ttl > 0 then
  redis.call('PEXPIRE', turns, ttl)
  -- A little longer, so that there is never a turn without its chunks.
  redis.call('PEXPIRE', chunks, ttl + 1000)
end
return {'saved', version}
""".replace("DIGITS", str(VERSION_DIGITS))

_ABSENT: Final = """
local absent = {}
for i, address in ipairs(ARGV) do
  if redis.call('HEXISTS', KEYS[1], address) == 0 then
    table.insert(absent, address)
  end
end
return absent
"""

_NEWEST: Final = """
local newest = numbers()[1]
if not newest then return false end
local field = string.format('%.0f', newest)
return {field, redis.call('HGET', KEYS[2], field)}
"""

_REACHED: Final = """
for _, address in ipairs(ARGV) do reach(address) end
descend()
return reached
"""

_SWEEP: Final = """
local chunks, turns = KEYS[1], KEYS[2]
local keep = tonumber(ARGV[1])
local freed = {0, 0, 0}
for i, number in ipairs(numbers()) do
  local turn = string.format('%.0f', number)
  if keep < 0 or i <= keep then
    links(redis.call('HGET', turns, turn), ROOT, reach)
  else
    freed[1] = freed[1] + 1
    freed[3] = freed[3] + redis.call('HSTRLEN', turns, turn)
    redis.call('HDEL', turns, turn)
  end
end
descend()
for _, address in ipairs(redis.call('HKEYS', chunks)) do
  if not met[address] then
    freed[2] = freed[2] + 1
    freed[3] = freed[3] + #address + redis.call('HSTRLEN', chunks, address)
    redis.call('HDEL', chunks, address)
  end
end
return freed
"""

_SURVEY: Final = """
local size = 0
for _, key in ipairs(KEYS) do
  for _, field in ipairs(redis.call('HKEYS', key)) do
    size = size + #field + redis.call('HSTRLEN', key, field)
  end
end
local session = redis.call('HGET', KEYS[2], 'session')
local version = tonumber(redis.call('HGET', KEYS[2], 'version') or '') or 0
local chunks = redis.call('HLEN', KEYS[1])
return {session, version, #numbers(), chunks, size, redis.call('PTTL', KEYS[2])}
"""


@frozen
class Script:
    """A script, and the hash by which Redis knows it once it has run.

    Attributes:
        text: Its text.
        sha: SHA-1 of its text, in hexadecimal.
    """

    text: str
    sha: str


def script(text: str) -> Script:
    """Return a script.

    Args:
        text: Its text, in Lua.
    """
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


STORE: Final = script(_LINKS + _STORE)
"""Write chunks and, if any are given, turns, or say what stands against it."""

ABSENT: Final = script(_ABSENT)
"""Say which of some addresses are not there."""

NEWEST: Final = script(_NUMBERS + _NEWEST)
"""Give the field of the turn with the highest number, and what it holds."""

REACHED: Final = script(_LINKS + _BELOW + _REACHED)
"""Give some addresses and all that they lead to."""

SWEEP: Final = script(_LINKS + _BELOW + _NUMBERS + _SWEEP)
"""Take away all turns but the newest, and all chunks that no turn needs."""

SURVEY: Final = script(_NUMBERS + _SURVEY)
"""Say what a session holds."""
