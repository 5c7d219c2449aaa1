-- Functions that no running version calls any more. A function moves here one release after its last caller: until then
-- old processes may still need it.
drop function if exists queue_floor_v1(text[]);
drop function if exists virtual_time_v1(text[]);
drop function if exists make_weeks_v1();

-- Claims of processes that do not look at how long work was queued.
create or replace function claim_v4(
  _kinds text[], _one_at_a_time text[], _worker uuid, _slots int, _parties uuid[], _rooms int[], _room int,
  _abandon_after_ms int)
returns table (
  id uuid, kind text, party uuid, month text, attempt int, connection_id uuid, input text, facts text, left_ms float8)
language sql
as $$
  select id, kind, party, month, attempt, connection_id, input, facts, left_ms
    from claim_v5(_kinds, _one_at_a_time, _worker, _slots, _parties, _rooms, _room, _abandon_after_ms)
$$;

-- Claims of processes that know no kind of which a party has one piece running at a time.
create or replace function claim_v3(
  _kinds text[], _worker uuid, _slots int, _parties uuid[], _rooms int[], _room int, _abandon_after_ms int)
returns table (
  id uuid, kind text, party uuid, month text, attempt int, connection_id uuid, input text, facts text, left_ms float8)
language sql
as $$ select * from claim_v4(_kinds, '{}', _worker, _slots, _parties, _rooms, _room, _abandon_after_ms) $$;

-- The polls of processes that cannot tell what is gone from what still runs.
create or replace function outcomes_v1(_keys uuid[])
returns table (
  id uuid, kind text, party uuid, key uuid, month text, state text, code text, source text, attempt int, units smallint,
  expires_at timestamptz, queue_ms float8, facts text, report text, answer text)
language sql
as $$ select * from outcomes_v2(_keys) where id is not null $$;
