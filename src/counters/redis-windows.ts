/**
 * First part of the Redis script: moving windows. A window is a hash of slices with their total, a list of the slices in
 * order, and for each replica a hash of its own usage.
 */

import { SLICES } from "./moving-window.ts";

/** The hash tag keeps all keys in one slot; the version lets replicas of two versions run side by side in an upgrade. */
export const COUNTERS_PREFIX = "{parlance}:counters2:";

export const WINDOWS_SCRIPT = `
local P = '${COUNTERS_PREFIX}'
local SLICES = ${SLICES}
local op, replica = ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = redis.call('GET', P .. 'epoch') or ''
-- What was counted before another epoch began is no longer found.
local C = P .. epoch .. ' '

-- Zero is added because Redis takes no '-0'.
local function text(number) return string.format('%.0f', number + 0) end

-- Drops what has left the window.
local function open(key, ms)
  local id = ms .. ' ' .. key
  local w = { id = id, name = C .. 'window ' .. id, order = C .. 'order ' .. id, ms = tonumber(ms) }
  w.width = w.ms / SLICES
  w.oldest = math.floor(now / w.width) - SLICES
  w.total = tonumber(redis.call('HGET', w.name, 'total') or 0)
  local gone = 0
  local head = redis.call('LINDEX', w.order, 0)
  while head and tonumber(head) < w.oldest do
    gone = gone + tonumber(redis.call('HGET', w.name, head) or 0)
    redis.call('HDEL', w.name, head)
    redis.call('LPOP', w.order)
    head = redis.call('LINDEX', w.order, 0)
  end
  if gone ~= 0 then w.total = redis.call('HINCRBY', w.name, 'total', text(-gone)) end
  return w
end

local function ownName(w, who) return C .. 'own ' .. who .. ' ' .. w.id end

local function keep(name, w) redis.call('PEXPIRE', name, math.ceil(w.ms + 2 * w.width + 1000)) end

local function setOrder(w)
  local numbers = {}
  for _, field in ipairs(redis.call('HKEYS', w.name)) do
    if field ~= 'total' then numbers[#numbers + 1] = tonumber(field) end
  end
  table.sort(numbers)
  redis.call('DEL', w.order)
  for _, number in ipairs(numbers) do redis.call('RPUSH', w.order, text(number)) end
  keep(w.order, w)
end

local function trim(own, w)
  if redis.call('HLEN', own) <= 2 * SLICES then return end
  for _, field in ipairs(redis.call('HKEYS', own)) do
    if tonumber(field) < w.oldest then redis.call('HDEL', own, field) end
  end
end

-- The order is left to the caller when isPlaced.
local function add(w, who, number, amount, isPlaced)
  local slice = text(number)
  if redis.call('HEXISTS', w.name, slice) == 0 and not isPlaced then
    local last = redis.call('LINDEX', w.order, -1)
    redis.call('HSET', w.name, slice, 0)
    if last and tonumber(last) > number then setOrder(w) else redis.call('RPUSH', w.order, slice) end
    keep(w.order, w)
    keep(w.name, w)
  end
  redis.call('HINCRBY', w.name, slice, text(amount))
  w.total = redis.call('HINCRBY', w.name, 'total', text(amount))
  local own = ownName(w, who)
  if redis.call('HEXISTS', own, slice) == 0 then
    trim(own, w)
    redis.call('HSET', own, slice, 0)
    keep(own, w)
  end
  redis.call('HINCRBY', own, slice, text(amount))
end

local function correct(w, who, number, difference)
  if number < w.oldest then return end
  local own = tonumber(redis.call('HGET', ownName(w, who), text(number)) or 0)
  local change = math.max(difference, -own)
  if change ~= 0 then add(w, who, number, change) end
end

local function milliseconds(w, most)
  local left, from = w.total, 0
  while true do
    local numbers = redis.call('LRANGE', w.order, from, from + 49)
    if #numbers == 0 then return 0 end
    for index, amount in ipairs(redis.call('HMGET', w.name, unpack(numbers))) do
      left = left - tonumber(amount or 0)
      if left <= most then return (numbers[index] + SLICES + 1) * w.width - now end
    end
    from = from + 50
  end
end
`;
