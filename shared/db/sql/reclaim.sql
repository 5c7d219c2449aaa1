-- Takes back work that this process still runs and no other has claimed: a crash of the database server undoes the
-- latest claims, whose commits do not wait for the disk. Returns the ids of the work that the process holds again,
-- including work that an earlier try took back but whose answer was lost: the statement is safe to repeat.
create or replace function reclaim_v1(_ids uuid[], _attempts int[], _worker uuid) returns setof uuid
language sql
as $$
  update work w
     set state = 'running', worker = _worker, started_at = clock_timestamp()
    from unnest(_ids, _attempts) as mine (id, attempt)
   where w.id = any (_ids) and w.id = mine.id and w.attempt = mine.attempt
     and (w.state = 'queued' or w.worker = _worker)
  returning w.id
$$;
