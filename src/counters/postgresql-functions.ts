/**
 * Counter operations as PostgreSQL functions, so that each is one statement. The tables are unlogged: after a crash of
 * the server they are empty, and the replicas restore their usage. Names carry a version, so that replicas of two
 * versions can run side by side during an upgrade.
 */

import { LEASE_MS } from "./counter-store.ts";
import { SLICES } from "./moving-window.ts";

export const POSTGRESQL_SETUP = `
create unlogged table if not exists counters1_windows (
  id text primary key, total bigint not null, expires_at bigint not null) with (fillfactor = 50);
create unlogged table if not exists counters1_slices (
  window_id text, number bigint, replica text, amount bigint not null,
  primary key (window_id, number, replica)) with (fillfactor = 50);
create unlogged table if not exists counters1_held (
  replica text, id text, claims jsonb not null, primary key (replica, id));
create unlogged table if not exists counters1_replicas (id text primary key, seen_at bigint not null);
create unlogged table if not exists counters1_begun (window_id text primary key, expires_at bigint not null);
create unlogged table if not exists counters1_epoch (singleton integer primary key, epoch text not null);

create or replace function counters1_now() returns bigint language sql volatile as
$$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$;

-- Locks windows, always in one order, and drops what has left them.
create or replace function counters1_open(claims jsonb) returns bigint language plpgsql as $$
declare
  at bigint;
begin
  insert into counters1_windows
    select distinct (c->>'ms') || ' ' || (c->>'key'), 0, 0 from jsonb_array_elements(claims) c order by 1
    on conflict (id) do update set total = counters1_windows.total;
  at := counters1_now();
  with opened as (
    select distinct (c->>'ms') || ' ' || (c->>'key') as id, (c->>'ms')::bigint as ms from jsonb_array_elements(claims) c
  ), gone as (
    delete from counters1_slices s using opened o
      where s.window_id = o.id and s.number < floor(at / (o.ms / ${SLICES}.0))::bigint - ${SLICES} returning s.window_id, s.amount
  ), sums as (select window_id, sum(amount) as amount from gone group by window_id)
  update counters1_windows w set total = w.total - coalesce(s.amount, 0), expires_at = at + o.ms + 60000
    from opened o left join sums s on s.window_id = o.id
    where w.id = o.id and (s.amount is not null or w.expires_at < at + o.ms + 30000);
  return at;
end $$;

-- Adds to slices of windows that are locked: each {key, ms, number, amount}.
create or replace function counters1_add(who text, amounts jsonb) returns void language plpgsql as $$
begin
  with added as (
    select (a->>'ms') || ' ' || (a->>'key') as id, (a->>'number')::bigint as number, sum((a->>'amount')::bigint) as amount
      from jsonb_array_elements(amounts) a group by 1, 2
  ), slices as (
    insert into counters1_slices select id, number, who, amount from added where amount <> 0
      on conflict (window_id, number, replica) do update set amount = counters1_slices.amount + excluded.amount
  )
  update counters1_windows w set total = w.total + a.amount
    from (select id, sum(amount) as amount from added group by id) a where w.id = a.id;
end $$;

-- Changes slices that are still in their windows, never to less than nothing: each {key, ms, number, amount}.
create or replace function counters1_correct(who text, at bigint, amounts jsonb) returns void language plpgsql as $$
begin
  perform counters1_add(who, coalesce(jsonb_agg(a || jsonb_build_object('amount',
      greatest((a->>'amount')::bigint, -coalesce(s.amount, 0)))), '[]'))
    from jsonb_array_elements(amounts) a
    left join counters1_slices s on s.window_id = (a->>'ms') || ' ' || (a->>'key')
      and s.number = (a->>'number')::bigint and s.replica = who
    where (a->>'number')::bigint >= floor(at / ((a->>'ms')::bigint / ${SLICES}.0))::bigint - ${SLICES};
end $$;

create or replace function counters1_take(who text, at bigint, reservation text, claims jsonb) returns jsonb
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
            from counters1_slices where window_id = e.id) s
          where s.remaining <= e.most - e.asked order by s.number limit 1) end as wait
    from (
      select c.place, w.id, w.total, (c.value->>'ms')::bigint as ms, (c.value->>'limit')::bigint as most,
          sum((c.value->>'amount')::bigint) over (partition by w.id order by c.place) as asked
        from jsonb_array_elements(claims) with ordinality as c(value, place)
        join counters1_windows w on w.id = (c.value->>'ms') || ' ' || (c.value->>'key')) e
    where e.asked > 0 and e.total + e.asked > e.most order by wait desc limit 1) r;
  if refused is null then
    select jsonb_agg(c || jsonb_build_object('number', floor(at / ((c->>'ms')::bigint / ${SLICES}.0))::bigint))
      into numbered from jsonb_array_elements(claims) c;
    perform counters1_add(who, numbered);
    insert into counters1_held
      select who, reservation, jsonb_agg(c) from jsonb_array_elements(numbered) c where (c->>'isHeld')::boolean
      having count(*) > 0 on conflict (replica, id) do update set claims = excluded.claims;
  end if;
  select jsonb_agg(w.total order by c.place) into totals
    from jsonb_array_elements(claims) with ordinality as c(value, place)
    join counters1_windows w on w.id = (c.value->>'ms') || ' ' || (c.value->>'key');
  return jsonb_build_object('now', at, 'used', totals, 'refusal', refused);
end $$;

-- Several operations at once, in their order. Tables that are new and small do not stay so, hence no scans of them.
create or replace function counters1_run(who text, operations jsonb) returns jsonb language plpgsql set enable_seqscan = off set jit = off as $$
declare
  is_member boolean := exists (select from counters1_replicas where id = who);
  at bigint;
  operation jsonb;
  answers jsonb[] := '{}';
  was_held boolean;
begin
  at := counters1_open((select coalesce(jsonb_agg(c), '[]')
    from jsonb_array_elements(operations) o, jsonb_array_elements(o->'claims') c));
  for operation in select value from jsonb_array_elements(operations) loop
    if operation->>'op' = 'take' then
      answers := answers || case when is_member then counters1_take(who, at, operation->>'id', operation->'claims')
        else 'null'::jsonb end;
      continue;
    end if;
    if operation->>'op' = 'settle' then
      delete from counters1_held where replica = who and id = operation->>'id';
      was_held := found;
      -- What was given back already, because the replica was taken for dead, counts again.
      perform counters1_correct(who, at, (select jsonb_agg(c || jsonb_build_object(
          'number', floor((operation->>'takenAt')::bigint / ((c->>'ms')::bigint / ${SLICES}.0))::bigint,
          'amount', (c->>'difference')::bigint + case when was_held then 0 else (c->>'amount')::bigint end))
        from jsonb_array_elements(operation->'claims') c));
    elsif operation->>'op' = 'place' then
      delete from counters1_held where replica = who;
      perform counters1_add(who, coalesce(jsonb_agg(jsonb_build_object('ms', c->>'ms', 'key', c->>'key',
          'number', s.number, 'amount', -s.amount)), '[]'))
        from jsonb_array_elements(operation->'claims') c
        join counters1_slices s on s.window_id = (c->>'ms') || ' ' || (c->>'key') and s.replica = who
          and s.number >= coalesce((c->>'from')::bigint, 0);
      delete from counters1_slices s using jsonb_array_elements(operation->'claims') c
        where s.window_id = (c->>'ms') || ' ' || (c->>'key') and s.replica = who
          and s.number >= coalesce((c->>'from')::bigint, 0);
      perform counters1_correct(who, at, (select coalesce(jsonb_agg(jsonb_build_object('ms', c->>'ms', 'key', c->>'key',
          'number', s->'number', 'amount', s->'amount')), '[]')
        from jsonb_array_elements(operation->'claims') c, jsonb_array_elements(c->'slices') s));
    elsif operation->>'op' = 'begin' then
      insert into counters1_begun
        select (c->>'ms') || ' ' || (c->>'key'), at + (c->>'ms')::bigint from jsonb_array_elements(operation->'claims') c
        on conflict do nothing;
      if found then
        perform counters1_add('begun', (select jsonb_agg(c || jsonb_build_object(
            'number', floor(at / ((c->>'ms')::bigint / ${SLICES}.0))::bigint))
          from jsonb_array_elements(operation->'claims') c));
      end if;
    end if;
    answers := answers || 'true'::jsonb;
  end loop;
  return to_jsonb(answers);
end $$;

-- Opens the windows of what these names hold, and of other claims with them, and returns what they hold.
create or replace function counters1_return(holders text[], others jsonb) returns bigint language plpgsql set enable_seqscan = off set jit = off as $$
declare
  at bigint;
  holder text;
begin
  at := counters1_open(others || (select coalesce(jsonb_agg(c), '[]')
    from counters1_held h, jsonb_array_elements(h.claims) c where h.replica = any(holders)));
  foreach holder in array holders loop
    perform counters1_correct(holder, at, (select coalesce(
        jsonb_agg(c || jsonb_build_object('amount', -(c->>'amount')::bigint)), '[]')
      from counters1_held h, jsonb_array_elements(h.claims) c where h.replica = holder));
  end loop;
  delete from counters1_held where replica = any(holders);
  return at;
end $$;

create or replace function counters1_give_back(who text) returns void language plpgsql as $$
begin
  perform counters1_return(array[who, who || ' share'], '[]');
  delete from counters1_replicas where id = who;
end $$;

-- What a replica may use without asking counts under a name of its own, apart from what it has used.
create or replace function counters1_enter(who text, reservations jsonb, share jsonb) returns void language plpgsql as $$
begin
  perform counters1_correct(who || ' share', counters1_return(array[who || ' share'], share), share);
  insert into counters1_held select who || ' share', 'share', share where jsonb_array_length(share) > 0;
  delete from counters1_held where replica = who;
  insert into counters1_held select who, r->>'id', r->'claims' from jsonb_array_elements(reservations) r;
  insert into counters1_replicas values (who, counters1_now())
    on conflict (id) do update set seen_at = excluded.seen_at;
end $$;

create or replace function counters1_beat(who text) returns jsonb language plpgsql set enable_seqscan = off set jit = off as $$
declare
  at bigint := counters1_now();
  is_member boolean;
  dead text;
begin
  update counters1_replicas set seen_at = at where id = who;
  is_member := found;
  for dead in select id from counters1_replicas where seen_at < at - ${LEASE_MS}
      order by id for update skip locked limit 1 loop
    perform counters1_give_back(dead);
  end loop;
  -- Now and then, since all windows are looked through.
  if random() < 0.02 then
    delete from counters1_windows where expires_at between 1 and at;
    delete from counters1_slices s where not exists (select from counters1_windows w where w.id = s.window_id);
    delete from counters1_begun where expires_at < at;
  end if;
  return jsonb_build_object('now', at, 'isMember', is_member,
    'replicas', (select coalesce(jsonb_object_agg(id, seen_at), '{}') from counters1_replicas
      where seen_at >= at - ${LEASE_MS}));
end $$;
`;
