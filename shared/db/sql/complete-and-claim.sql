-- Ends work of one party (`complete_v1`) and claims for the slots that it leaves (`claim_v2`), in one transaction. A
-- row has the place of an item that took effect, or is one of a claim's.
--
-- A claim's commit does not wait for the disk, a completion's does: the setting that this function brings along,
-- whatever its value, confines to it the one that the claim makes.
create or replace function complete_and_claim_v2(
  _party uuid, _batch json, _answers text[], _window_s int, _grace_ms int,
  _kinds text[], _parties uuid[], _counts int[], _since float8[], _slots int, _worker uuid, _one_at_a_time text[],
  _reach_ms int)
returns table (
  place int, id uuid, kind text, party uuid, month text, attempt int, connection_id uuid, input text, facts text,
  queued_ms float8, left_ms float8, queued_at_ms float8, latest text)
language plpgsql
set synchronous_commit = on
as $$
begin
  return query
  select c.place, null::uuid, null, null::uuid, null, null::int, null::uuid, null, null,
         null::float8, null::float8, null::float8, null
    from complete_v1(_party, _batch, _answers, _window_s, _grace_ms) c;
  return query
  select null::int, c.*
    from claim_v2(
      _kinds, _parties, _counts, _since, _slots, _worker, _one_at_a_time, _reach_ms) c;
end $$;
