-- The virtual time of a pool: how far the fair order has come. Start-time fair queueing (Goyal, Vin, Cheng 1996) with a
-- self-clocked virtual time (Golestani 1994), kept in no row: it is the priority of what is first in the order, or the
-- clock in microseconds when nothing waits. Nobody can forget it, and it grows.
create or replace function virtual_time_v1(_kinds text[]) returns bigint
language plpgsql
set enable_seqscan = off set jit = off
as $$
declare
  floor bigint := queue_floor_v1(_kinds);
  first bigint;
begin
  select min(head.priority) into first
    from flows f
   cross join lateral (
     select w.priority from work w
      where w.kind = f.kind and w.party = f.party and w.priority >= floor
        and w.state = 'queued' and w.deadline_at > now()
      order by w.priority limit 1) head
   where f.kind = any (_kinds);
  return coalesce(first - 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint);
end $$;
