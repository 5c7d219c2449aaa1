-- No work of these kinds has a lower priority. Scans start here, so that they never walk through the index entries of
-- what has ended, which stay as long as anybody holds an old snapshot.
create or replace function queue_floor_v1(_kinds text[]) returns bigint
language sql stable as $$
  select coalesce(min(q.floor), 0) from queues q where q.kind = any (_kinds)
$$;
