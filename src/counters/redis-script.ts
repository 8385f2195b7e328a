/**
 * Counter operations as one Redis script, so that each is atomic: of replicas, their leases and what they hold, on the
 * windows of the first part.
 */

import { LEASE_MS } from "./counter-store.ts";
import { WINDOWS_SCRIPT } from "./redis-windows.ts";

export const REDIS_SCRIPT = `${WINDOWS_SCRIPT}
local LEASE = ${LEASE_MS}

-- Sums of what a name holds, by window.
local function sumsOf(who) return C .. 'sums ' .. who end

local function addToSums(who, claims, sign)
  for _, claim in ipairs(claims) do
    local id = claim[2] .. ' ' .. claim[1]
    if redis.call('HINCRBY', sumsOf(who), id, text(sign * tonumber(claim[4]))) == 0 then redis.call('HDEL', sumsOf(who), id) end
  end
end

local function hold(who, id, claims)
  redis.call('HSET', C .. 'held ' .. who, id, cjson.encode(claims))
  addToSums(who, claims, 1)
end

local function heldIn(w, who) return tonumber(redis.call('HGET', sumsOf(who), w.id) or 0) end

-- What all replicas have spent by their records counts under a name of its own, as far as they do not count it.
local RECORDED = 'recorded'

-- Records may have stood in for what a replica brings back.
local function replaceRecorded(w, amount)
  local own = redis.call('HGETALL', ownName(w, RECORDED))
  for field = 1, #own, 2 do
    local cut = math.min(amount, tonumber(own[field + 1]))
    if cut > 0 and tonumber(own[field]) >= w.oldest then
      add(w, RECORDED, tonumber(own[field]), -cut, true)
      amount = amount - cut
    end
  end
end

local function giveBack(who, most)
  local held = C .. 'held ' .. who
  -- A page of a hash that has become sparse may be empty.
  local cursor, entries = '0', {}
  repeat
    local page = redis.call('HSCAN', held, cursor, 'COUNT', most)
    cursor, entries = page[1], page[2]
  until #entries > 0 or cursor == '0'
  for index = 1, #entries, 2 do
    local claims = cjson.decode(entries[index + 1])
    for _, claim in ipairs(claims) do
      correct(open(claim[1], claim[2]), who, tonumber(claim[3]), -tonumber(claim[4]))
    end
    redis.call('HDEL', held, entries[index])
    addToSums(who, claims, -1)
  end
  return redis.call('EXISTS', held) == 0
end

-- What a replica may use without asking counts under a name of its own, apart from what it has used.
local function shareName(who) return who .. ' share' end

local members = C .. 'replicas'

local function stateOf(who)
  local state, seen = string.match(redis.call('HGET', members, who) or '', '^(%a+) (%d+)$')
  return state, tonumber(seen)
end

local function setState(who, state) redis.call('HSET', members, who, state .. ' ' .. text(now)) end

-- Other replicas go on with what is left.
local function release(who)
  setState(who, 'ended')
  if giveBack(who, 200) and giveBack(shareName(who), 1) then redis.call('HDEL', members, who) end
end

local function noteTime()
  -- Never less: the clock of a server that took over may be behind.
  if now > tonumber(redis.call('GET', P .. 'beat') or 0) then redis.call('SET', P .. 'beat', text(now)) end
end

if op == 'open' then
  -- A server that has come back with older data has lost counts, like one that has come back empty.
  if epoch == '' or tonumber(redis.call('GET', P .. 'beat') or 0) < tonumber(ARGV[4]) then
    for _, who in ipairs(redis.call('HKEYS', members)) do
      redis.call('DEL', C .. 'held ' .. who, C .. 'held ' .. shareName(who), sumsOf(who), sumsOf(shareName(who)))
    end
    redis.call('DEL', members, C .. 'joins')
    epoch = ARGV[3]
    redis.call('SET', P .. 'epoch', epoch)
    redis.call('SET', P .. 'beat', text(now))
  end
  return { text(now), epoch }
end

if op == 'announce' then
  setState(replica, 'restoring')
  return 1
end

if op == 'place' then
  local w, from = open(ARGV[3], ARGV[4]), tonumber(ARGV[5])
  local name = ownName(w, replica)
  local own = redis.call('HGETALL', name)
  local before = w.total
  for field = 1, #own, 2 do
    local number = tonumber(own[field])
    if number >= from then
      if number >= w.oldest then add(w, replica, number, -tonumber(own[field + 1]), true) end
      redis.call('HDEL', name, own[field])
    end
  end
  for index = 7, #ARGV, 2 do
    local number = tonumber(ARGV[index])
    if number >= w.oldest then add(w, replica, number, tonumber(ARGV[index + 1]), true) end
  end
  if redis.call('EXISTS', ownName(w, RECORDED)) == 1 then
    replaceRecorded(w, w.total - before - tonumber(ARGV[6]) + heldIn(w, replica))
  end
  setOrder(w)
  keep(w.name, w)
  return 1
end

if op == 'join' then
  if ARGV[3] ~= epoch then return false end
  local share, claims = shareName(replica), cjson.decode(ARGV[5])
  while not giveBack(share, 1) do end
  for _, claim in ipairs(claims) do
    correct(open(claim[1], claim[2]), share, tonumber(claim[3]), tonumber(claim[4]))
  end
  if #claims > 0 then hold(share, 'share', claims) end
  redis.call('DEL', C .. 'held ' .. replica, sumsOf(replica))
  for index = 7, #ARGV, 2 do hold(replica, ARGV[index], cjson.decode(ARGV[index + 1])) end
  setState(replica, ARGV[4])
  if ARGV[4] == 'sharing' and ARGV[6] == '1' then redis.call('INCR', C .. 'joins') end
  return redis.call('GET', C .. 'joins') or '0'
end

if op == 'beat' then
  local own = stateOf(replica)
  if own and own ~= 'ended' then setState(replica, own) end
  noteTime()
  local answer = { text(now), redis.call('GET', C .. 'joins') or '0' }
  for _, who in ipairs(redis.call('HKEYS', members)) do
    local state, seen = stateOf(who)
    if state == 'ended' or now - seen > LEASE then
      release(who)
    else
      for _, word in ipairs({ who, state, text(seen) }) do answer[#answer + 1] = word end
    end
  end
  return answer
end

if op == 'take' then
  if stateOf(replica) ~= 'sharing' then return {} end
  local windows, asked, claims = {}, {}, {}
  local refused, longest = -1, -1
  for index = 4, #ARGV, 5 do
    local key, ms = ARGV[index], ARGV[index + 3]
    local id = ms .. ' ' .. key
    windows[id] = windows[id] or open(key, ms)
    local w, amount, limit = windows[id], tonumber(ARGV[index + 1]), tonumber(ARGV[index + 2])
    asked[id] = (asked[id] or 0) + amount
    if asked[id] > 0 and w.total + asked[id] > limit then
      local wait = asked[id] <= limit and milliseconds(w, limit - asked[id]) or w.ms
      if wait > longest then refused, longest = #claims, wait end
    end
    claims[#claims + 1] = { w = w, key = key, ms = ms, amount = amount, isHeld = ARGV[index + 4] == '1' }
  end
  local answer = { text(now), refused, math.ceil(longest) }
  if refused == -1 then
    local held = {}
    for _, claim in ipairs(claims) do
      local number = math.floor(now / claim.w.width)
      if claim.amount ~= 0 then add(claim.w, replica, number, claim.amount) end
      if claim.isHeld then held[#held + 1] = { claim.key, claim.ms, text(number), text(claim.amount) } end
    end
    if #held > 0 then hold(replica, ARGV[3], held) end
  end
  for _, claim in ipairs(claims) do answer[#answer + 1] = text(claim.w.total) end
  return answer
end

if op == 'settle' then
  local wasHeld = redis.call('HGET', C .. 'held ' .. replica, ARGV[3])
  if wasHeld then
    redis.call('HDEL', C .. 'held ' .. replica, ARGV[3])
    addToSums(replica, cjson.decode(wasHeld), -1)
  end
  for index = 5, #ARGV, 4 do
    local w = open(ARGV[index], ARGV[index + 1])
    local difference = tonumber(ARGV[index + 3])
    -- What was given back already, because the replica was taken for dead, counts again.
    if not wasHeld then difference = difference + tonumber(ARGV[index + 2]) end
    correct(w, replica, math.floor(ARGV[4] / w.width), difference)
  end
  return 1
end

if op == 'raise' then
  local w = open(ARGV[3], ARGV[4])
  local missing = tonumber(ARGV[5]) - w.total
  for _, who in ipairs(redis.call('HKEYS', members)) do
    -- What others hold is not known as well, and counts as used.
    if stateOf(who) == 'sharing' then missing = missing + heldIn(w, who) end
  end
  if missing > 0 then add(w, RECORDED, math.floor(now / w.width), missing) end
  noteTime()
  return text(now)
end

if op == 'leave' then
  release(replica)
  return 1
end

return redis.error_reply('unknown operation ' .. op)
`;
