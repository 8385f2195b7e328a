/**
 * Cached answers as one Redis script, so that each change is atomic: an answer expires by itself; its facts, its size and
 * its place in the order are removed with it or later. The hash tag keeps all keys in one slot.
 */

export const CACHE_PREFIX = "{parlance}:cache:";

export const CACHE_SCRIPT = `
local P = '${CACHE_PREFIX}'
local op = ARGV[1]

local function remove(key)
  local bytes = redis.call('HGET', P .. 'sizes', key)
  if not bytes then return 0 end
  redis.call('DEL', P .. 'answer ' .. key)
  redis.call('HDEL', P .. 'sizes', key)
  redis.call('HDEL', P .. 'facts', key)
  redis.call('ZREM', P .. 'order', key)
  redis.call('DECRBY', P .. 'bytes', bytes)
  return 1
end

if op == 'put' then
  local key, storedAt, milliseconds, max, bytes = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
  remove(key)
  redis.call('SET', P .. 'answer ' .. key, ARGV[8], 'PX', milliseconds)
  redis.call('HSET', P .. 'sizes', key, bytes)
  redis.call('HSET', P .. 'facts', key, ARGV[7])
  redis.call('ZADD', P .. 'order', storedAt, key)
  local total = redis.call('INCRBY', P .. 'bytes', bytes)
  while total > max do
    local oldest = redis.call('ZRANGE', P .. 'order', 0, 0)[1]
    if not oldest then break end
    remove(oldest)
    total = tonumber(redis.call('GET', P .. 'bytes'))
  end
  return 1
end

if op == 'remove' then
  local removed = 0
  for index = 2, #ARGV do removed = removed + remove(ARGV[index]) end
  return removed
end

if op == 'bytes' then
  local bytes = 0
  for index = 2, #ARGV do bytes = bytes + (tonumber(redis.call('HGET', P .. 'sizes', ARGV[index])) or 0) end
  return bytes
end

if op == 'size' then
  return { redis.call('HLEN', P .. 'sizes'), redis.call('GET', P .. 'bytes') or '0' }
end

return redis.error_reply('unknown operation ' .. op)
`;
