-- The virtual time of a pool: how far the fair order has advanced. Start-time fair queueing (Goyal, Vin, Cheng 1996)
-- with a self-clocked virtual time (Golestani 1994). No row stores it: it is the priority of the first queued work, or
-- the clock in microseconds when nothing waits. So it cannot be lost, and it only grows: when the clock has gone
-- back, it stands still at the floor.
--
-- No work of these kinds has a priority below the floor (`publish_v1`). Scans start there, so that they never walk
-- through the index entries of ended work, which stay for as long as any old snapshot is open.
create or replace function virtual_time_v1(_kinds text[], _floor bigint) returns bigint
language plpgsql as $$
declare
  first bigint;
begin
  select min(head.priority) into first
    from flows f
   cross join lateral (
     select w.priority from work w
      where w.kind = f.kind and w.party = f.party and w.priority >= _floor
        and w.state = 'queued' and w.deadline_at > now()
      order by w.priority limit 1) head
   where f.kind = any (_kinds);
  return coalesce(first - 1, greatest(_floor, (extract(epoch from clock_timestamp()) * 1000000)::bigint));
end $$;
