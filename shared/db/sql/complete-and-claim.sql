-- Ends work of one party (`complete_v1`) and claims work for the freed slots (`claim_v2`), in one transaction. Each
-- row is either the place of an item that took effect, or a row of the claim.
--
-- The commit waits for the disk, as a completion must: `claim_v2` turns that off, but the `set` clause of this
-- function, whatever its value, undoes such a change when the function returns.
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
