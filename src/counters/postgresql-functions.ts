/**
 * Counter operations as PostgreSQL functions, so that each is one statement. The tables are unlogged: after a crash of
 * the server they are empty, and the replicas restore their usage. Names carry a version, so that replicas of two
 * versions can run side by side during an upgrade.
 */

import { LEASE_MS } from "./counter-store.ts";
import { SLICES } from "./moving-window.ts";

export const POSTGRESQL_SETUP = `
create unlogged table if not exists counters2_windows (
  id text primary key, total bigint not null, expires_at bigint not null) with (fillfactor = 50);
create unlogged table if not exists counters2_slices (
  window_id text, number bigint, replica text, amount bigint not null,
  primary key (window_id, number, replica)) with (fillfactor = 50);
create unlogged table if not exists counters2_held (
  replica text, id text, claims jsonb not null, primary key (replica, id));
create unlogged table if not exists counters2_sums (
  replica text, window_id text, amount bigint not null, primary key (replica, window_id)) with (fillfactor = 50);
create unlogged table if not exists counters2_replicas (
  id text primary key, state text not null, seen_at bigint not null);
create unlogged table if not exists counters2_epoch (
  singleton integer primary key, epoch text not null, joins bigint not null default 0);

create or replace function counters2_now() returns bigint language sql volatile as
$$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$;

-- Locks windows, always in one order, and drops what has left them.
create or replace function counters2_open(claims jsonb) returns bigint language plpgsql as $$
declare
  at bigint;
begin
  insert into counters2_windows
    select distinct (c->>'ms') || ' ' || (c->>'key'), 0, 0 from jsonb_array_elements(claims) c order by 1
    on conflict (id) do update set total = counters2_windows.total;
  at := counters2_now();
  with opened as (
    select distinct (c->>'ms') || ' ' || (c->>'key') as id, (c->>'ms')::bigint as ms from jsonb_array_elements(claims) c
  ), gone as (
    delete from counters2_slices s using opened o
      where s.window_id = o.id and s.number < floor(at / (o.ms / ${SLICES}.0))::bigint - ${SLICES} returning s.window_id, s.amount
  ), sums as (select window_id, sum(amount) as amount from gone group by window_id)
  update counters2_windows w set total = w.total - coalesce(s.amount, 0), expires_at = at + o.ms + 60000
    from opened o left join sums s on s.window_id = o.id
    where w.id = o.id and (s.amount is not null or w.expires_at < at + o.ms + 30000);
  return at;
end $$;

-- Adds to slices of windows that are locked: each {key, ms, number, amount}.
create or replace function counters2_add(who text, amounts jsonb) returns void language plpgsql as $$
begin
  with added as (
    select (a->>'ms') || ' ' || (a->>'key') as id, (a->>'number')::bigint as number, sum((a->>'amount')::bigint) as amount
      from jsonb_array_elements(amounts) a group by 1, 2
  ), slices as (
    insert into counters2_slices select id, number, who, amount from added where amount <> 0
      on conflict (window_id, number, replica) do update set amount = counters2_slices.amount + excluded.amount
  )
  update counters2_windows w set total = w.total + a.amount
    from (select id, sum(amount) as amount from added group by id) a where w.id = a.id;
end $$;

-- Changes slices that are still in their windows, never to less than nothing: each {key, ms, number, amount}.
create or replace function counters2_correct(who text, at bigint, amounts jsonb) returns void language plpgsql as $$
begin
  perform counters2_add(who, coalesce(jsonb_agg(a || jsonb_build_object('amount',
      greatest((a->>'amount')::bigint, -coalesce(s.amount, 0)))), '[]'))
    from jsonb_array_elements(amounts) a
    left join counters2_slices s on s.window_id = (a->>'ms') || ' ' || (a->>'key')
      and s.number = (a->>'number')::bigint and s.replica = who
    where (a->>'number')::bigint >= floor(at / ((a->>'ms')::bigint / ${SLICES}.0))::bigint - ${SLICES};
end $$;

-- What replicas hold of a window, which is locked.
create or replace function counters2_held_in(replicas text[], id text) returns bigint language plpgsql stable as $$
begin
  return (select coalesce(sum(amount), 0) from counters2_sums where replica = any(replicas) and window_id = id);
end $$;

create or replace function counters2_add_to_sums(who text, claims jsonb, sign integer) returns void language plpgsql as $$
begin
  insert into counters2_sums
    select who, (c->>'ms') || ' ' || (c->>'key') as id, sign * sum((c->>'amount')::bigint)
      from jsonb_array_elements(claims) c group by id order by id
    on conflict (replica, window_id) do update set amount = counters2_sums.amount + excluded.amount;
end $$;

create or replace function counters2_hold(who text, reservation text, given jsonb) returns void language plpgsql as $$
begin
  insert into counters2_held values (who, reservation, given)
    on conflict (replica, id) do update set claims = excluded.claims;
  perform counters2_add_to_sums(who, given, 1);
end $$;

create or replace function counters2_take(who text, at bigint, reservation text, claims jsonb) returns jsonb
language plpgsql as $$
declare
  refused jsonb;
  totals jsonb;
  numbered jsonb;
begin
  select jsonb_build_object('index', r.place - 1, 'milliseconds', r.wait) into refused from (
    select e.place, case when e.asked > e.most then e.ms else (
        select (s.number + ${SLICES + 1}) * (e.ms / ${SLICES}.0) - at from (
          select number, e.total - sum(amount) over (order by number, replica) as remaining
            from counters2_slices where window_id = e.id) s
          where s.remaining <= e.most - e.asked order by s.number limit 1) end as wait
    from (
      select c.place, w.id, w.total, (c.value->>'ms')::bigint as ms, (c.value->>'limit')::bigint as most,
          sum((c.value->>'amount')::bigint) over (partition by w.id order by c.place) as asked
        from jsonb_array_elements(claims) with ordinality as c(value, place)
        join counters2_windows w on w.id = (c.value->>'ms') || ' ' || (c.value->>'key')) e
    where e.asked > 0 and e.total + e.asked > e.most order by wait desc limit 1) r;
  if refused is null then
    select jsonb_agg(c || jsonb_build_object('number', floor(at / ((c->>'ms')::bigint / ${SLICES}.0))::bigint))
      into numbered from jsonb_array_elements(claims) c;
    perform counters2_add(who, numbered);
    perform counters2_hold(who, reservation, jsonb_agg(c))
      from jsonb_array_elements(numbered) c where (c->>'isHeld')::boolean having count(*) > 0;
  end if;
  select jsonb_agg(w.total order by c.place) into totals
    from jsonb_array_elements(claims) with ordinality as c(value, place)
    join counters2_windows w on w.id = (c.value->>'ms') || ' ' || (c.value->>'key');
  return jsonb_build_object('now', at, 'used', totals, 'refusal', refused);
end $$;


-- What all replicas have spent by their records counts under the name "recorded", as far as they do not count it. It
-- may have stood in for what a replica brings back: each {key, ms, from, slices, reserved}.
create or replace function counters2_replace_recorded(who text, windows jsonb) returns void language sql as $$
  with restored as (
    select c->>'key' as key, c->>'ms' as ms, (c->>'ms') || ' ' || (c->>'key') as id, c
      from jsonb_array_elements(windows) c
  ), changed as (
    select r.key, r.ms, r.id, counters2_held_in(array[who], r.id) - (r.c->>'reserved')::bigint
        + (select coalesce(sum((s->>'amount')::bigint), 0) from jsonb_array_elements(r.c->'slices') s)
        - (select coalesce(sum(s.amount), 0) from counters2_slices s
            where s.window_id = r.id and s.replica = who and s.number >= coalesce((r.c->>'from')::bigint, 0)) as amount
      from restored r where exists (select from counters2_slices s where s.window_id = r.id and s.replica = 'recorded')
  ), recorded as (
    select c.key, c.ms, s.number,
        least(s.amount, c.amount - (sum(s.amount) over (partition by s.window_id order by s.number) - s.amount)) as cut
      from changed c join counters2_slices s on s.window_id = c.id and s.replica = 'recorded'
  )
  select counters2_add('recorded', jsonb_agg(jsonb_build_object('key', key, 'ms', ms, 'number', number, 'amount', -cut)))
    from recorded where cut > 0 having count(*) > 0;
$$;

-- Several operations at once, in their order. Tables that are new and small do not stay so, hence no scans of them.
create or replace function counters2_run(who text, operations jsonb) returns jsonb language plpgsql set enable_seqscan = off set jit = off as $$
declare
  shares boolean := exists (select from counters2_replicas where id = who and state = 'sharing');
  at bigint;
  operation jsonb;
  answers jsonb[] := '{}';
  held jsonb;
begin
  at := counters2_open((select coalesce(jsonb_agg(c), '[]')
    from jsonb_array_elements(operations) o, jsonb_array_elements(o->'claims') c));
  for operation in select value from jsonb_array_elements(operations) loop
    if operation->>'op' = 'take' then
      answers := answers || case when shares then counters2_take(who, at, operation->>'id', operation->'claims')
        else 'null'::jsonb end;
      continue;
    end if;
    if operation->>'op' = 'settle' then
      delete from counters2_held where replica = who and id = operation->>'id' returning claims into held;
      if found then perform counters2_add_to_sums(who, held, -1); else held := null; end if;
      -- What was given back already, because the replica was taken for dead, counts again.
      perform counters2_correct(who, at, (select jsonb_agg(c || jsonb_build_object(
          'number', floor((operation->>'takenAt')::bigint / ((c->>'ms')::bigint / ${SLICES}.0))::bigint,
          'amount', (c->>'difference')::bigint + case when held is not null then 0 else (c->>'amount')::bigint end))
        from jsonb_array_elements(operation->'claims') c));
    elsif operation->>'op' = 'place' then
      perform counters2_replace_recorded(who, operation->'claims');
      perform counters2_add(who, coalesce(jsonb_agg(jsonb_build_object('ms', c->>'ms', 'key', c->>'key',
          'number', s.number, 'amount', -s.amount)), '[]'))
        from jsonb_array_elements(operation->'claims') c
        join counters2_slices s on s.window_id = (c->>'ms') || ' ' || (c->>'key') and s.replica = who
          and s.number >= coalesce((c->>'from')::bigint, 0);
      delete from counters2_slices s using jsonb_array_elements(operation->'claims') c
        where s.window_id = (c->>'ms') || ' ' || (c->>'key') and s.replica = who
          and s.number >= coalesce((c->>'from')::bigint, 0);
      perform counters2_correct(who, at, (select coalesce(jsonb_agg(jsonb_build_object('ms', c->>'ms', 'key', c->>'key',
          'number', s->'number', 'amount', s->'amount')), '[]')
        from jsonb_array_elements(operation->'claims') c, jsonb_array_elements(c->'slices') s));
    elsif operation->>'op' = 'raise' then
      -- What others hold than those that share is not known as well, and counts as used.
      perform counters2_add('recorded', jsonb_agg(jsonb_build_object('key', key, 'ms', ms, 'amount', missing,
          'number', floor(at / (ms / ${SLICES}.0))::bigint)))
        from (
          select c->>'key' as key, (c->>'ms')::bigint as ms, (c->>'amount')::bigint - w.total + counters2_held_in(
              array(select id from counters2_replicas where state = 'sharing'), w.id) as missing
            from jsonb_array_elements(operation->'claims') c
            join counters2_windows w on w.id = (c->>'ms') || ' ' || (c->>'key')) m
        where missing > 0 having count(*) > 0;
    end if;
    answers := answers || 'true'::jsonb;
  end loop;
  return to_jsonb(answers);
end $$;

-- Opens the windows of some of what these names hold, and of other claims with them, and releases it.
create or replace function counters2_release(holders text[], most integer, others jsonb) returns bigint language plpgsql set enable_seqscan = off set jit = off as $$
declare
  at bigint;
  holder text;
  held jsonb;
  ids text[] := array(select id from counters2_held where replica = any(holders) order by replica limit most);
begin
  at := counters2_open(others || (select coalesce(jsonb_agg(c), '[]')
    from counters2_held h, jsonb_array_elements(h.claims) c where h.replica = any(holders) and h.id = any(ids)));
  foreach holder in array holders loop
    select coalesce(jsonb_agg(c), '[]') into held
      from counters2_held h, jsonb_array_elements(h.claims) c where h.replica = holder and h.id = any(ids);
    perform counters2_add_to_sums(holder, held, -1);
    perform counters2_correct(holder, at, (select coalesce(
        jsonb_agg(c || jsonb_build_object('amount', -(c->>'amount')::bigint)), '[]') from jsonb_array_elements(held) c));
  end loop;
  delete from counters2_held where replica = any(holders) and id = any(ids);
  return at;
end $$;

-- Other replicas go on with what is left.
create or replace function counters2_end(who text) returns void language plpgsql as $$
begin
  update counters2_replicas set state = 'ended' where id = who;
  perform counters2_release(array[who, who || ' share'], 200, '[]');
  delete from counters2_replicas where id = who
    and not exists (select from counters2_held where replica in (who, who || ' share'));
end $$;

create or replace function counters2_announce(who text) returns void language sql as $$
  insert into counters2_replicas values (who, 'restoring', counters2_now())
    on conflict (id) do update set state = excluded.state, seen_at = excluded.seen_at;
$$;

-- What a replica may use without asking counts under a name of its own, apart from what it has used.
create or replace function counters2_join(who text, known text, new_state text, has_counted boolean, reservations jsonb, share jsonb) returns bigint language plpgsql as $$
begin
  -- First, as all do that lock windows for a replica.
  perform from counters2_replicas where id = who for update;
  if not exists (select from counters2_epoch where epoch = known) then return null; end if;
  perform counters2_correct(who || ' share', counters2_release(array[who || ' share'], 1, share), share);
  if jsonb_array_length(share) > 0 then perform counters2_hold(who || ' share', 'share', share); end if;
  delete from counters2_held where replica = who;
  delete from counters2_sums where replica = who;
  perform counters2_hold(who, r->>'id', r->'claims') from jsonb_array_elements(reservations) r;
  insert into counters2_replicas values (who, new_state, counters2_now())
    on conflict (id) do update set state = excluded.state, seen_at = excluded.seen_at;
  if new_state = 'sharing' and has_counted then update counters2_epoch set joins = joins + 1; end if;
  return (select joins from counters2_epoch);
end $$;

create or replace function counters2_beat(who text) returns jsonb language plpgsql set enable_seqscan = off set jit = off as $$
declare
  at bigint := counters2_now();
  dead text;
begin
  update counters2_replicas set seen_at = at where id = who and state <> 'ended';
  for dead in select id from counters2_replicas where state = 'ended' or seen_at < at - ${LEASE_MS}
      order by id for update skip locked limit 1 loop
    perform counters2_end(dead);
  end loop;
  -- Now and then, since all windows are looked through.
  if random() < 0.02 then
    delete from counters2_windows where expires_at between 1 and at;
    delete from counters2_slices s where not exists (select from counters2_windows w where w.id = s.window_id);
    delete from counters2_sums where amount = 0;
  end if;
  return jsonb_build_object('now', at, 'joins', (select joins from counters2_epoch),
    'replicas', (select coalesce(jsonb_object_agg(id, jsonb_build_object('state', state, 'seenAt', seen_at)), '{}')
      from counters2_replicas where state <> 'ended' and seen_at >= at - ${LEASE_MS}));
end $$;
`;
