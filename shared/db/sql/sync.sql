-- Takes a page of a session's events into an account's memory. Each of `_rows` becomes a raw row, unless memory has a
-- row for its event, or had one that was deleted. `_ids` and `_times` are those of the rows. Phrases come as columns:
-- `_places` has the place (from 1) of each phrase's row. `_synced_to` is the arrival up to which memory then has the
-- session's events; null if it is not known. `_starts`: a `session.started` is among the events, which may name another
-- project. The session's earlier rows, and the episodes made from them, then move to it.
--
-- The commit does not wait for the disk: the commit that ends the sync makes all pages durable. If a crash of the
-- server undoes a page, the next one is refused by a serialization failure, and the sync goes on from the stored
-- progress: `from` in `_progress` is the number of events before the page, `scanned` the number with it.
--
-- Stores the progress of the sync with the page, and in it the number of rows created so far, so that a page whose
-- answer is lost can be stored again and counts once. Returns this number, no row when the account is gone or disabled,
-- and raises `no_data_found` when the work was cancelled or is another worker's by now.
--
-- Two pages of a sync can be stored at once: each adds its rows, which takes most of the time, before it waits for the
-- page before it and locks the account. While a page is being stored, it holds an advisory lock on the number of events
-- up to its end, for which the next page waits.
create or replace function sync_page_v1(
  _work uuid, _attempt int, _worker uuid, _account uuid, _progress json, _session text, _synced_to bigint, _ids uuid[],
  _times timestamptz[], _rows json, _places int[], _samples int[], _words text[], _written text[],
  _lines int[], _occasions int[], _starts boolean)
returns table (created int)
language plpgsql set lock_timeout = '2s' set enable_seqscan = off set jit = off as $$
declare
  _added uuid[];
  _project text := (select s.project from recording_sessions s where s.id = _session and s.account_id = _account);
  _moved boolean := false;
begin
  perform set_config('synchronous_commit', 'off', true);
  if not exists (select from accounts a where a.id = _account and a.active) then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(_work::text, (_progress ->> 'scanned')::bigint));
  with added as (
    insert into raw_memories (
      id, account_id, content, kind, role, origin, witness, agent, session_id, source, event_id, occurred_at, project,
      tags, metadata, created_at)
    select r.id, _account, r.content, r.kind, r.role, r.origin, r.witness, r.agent, _session, r.source, r.event_id,
           r."occurredAt", _project, '{}', r.metadata, now()
      from json_to_recordset(_rows) r (
        id uuid, content text, kind text, role text, origin text, witness text, agent text, source text, event_id text,
        "occurredAt" timestamptz, metadata jsonb)
    on conflict (account_id, event_id) where event_id is not null do nothing
    returning id
  )
  select array_agg(a.id) into _added from added a;

  insert into phrases (account_id, raw_id, sample, line, written_at, occasion, words, written)
  select _account, _ids[p.place], p.sample, p.line, _times[p.place], p.occasion, p.words, p.written
    from unnest(_places, _samples, _words, _written, _lines, _occasions)
         p (place, sample, words, written, line, occasion)
   where cardinality(_added) = cardinality(_ids) or _ids[p.place] = any (_added);

  perform pg_advisory_xact_lock(hashtextextended(_work::text, (_progress ->> 'from')::bigint));
  perform from accounts a where a.id = _account and a.active for no key update;
  if not found then
    raise serialization_failure using message = 'the account was disabled';
  end if;
  if exists (select from work w
              where w.id = _work and coalesce((w.progress::json ->> 'scanned')::int, 0)
                    not in ((_progress ->> 'from')::int, (_progress ->> 'scanned')::int)) then
    raise serialization_failure using message = 'the page before this one is not stored';
  end if;
  -- Sees the tombstones of all deletions, which lock the account too.
  if exists (select from memory_tombstones t where t.account_id = _account) then
    delete from raw_memories r
     -- Scalar, so that it is looked up row by row: a join would read all tombstones of the account.
     where r.id = any (_added) and (select true from memory_tombstones t
             where t.account_id = _account and t.event_hash = event_hash(_account, r.event_id));
    select array_agg(r.id) into _added from raw_memories r where r.id = any (_added);
  end if;

  if _starts then
    update raw_memories r set project = _project
     where r.account_id = _account and r.session_id = _session and r.event_id is not null
       and r.project is distinct from _project;
    _moved := found;
    update episodes e set project = _project
     where _moved and e.account_id = _account and e.origin in ('model', 'extractive')
       and e.id in (
         select l.from_id from raw_memories r join memory_links l on l.account_id = r.account_id and l.to_id = r.id
          where r.account_id = _account and r.session_id = _session and l.from_tier = 'episode');
  end if;

  update accounts a set memory_revision = a.memory_revision + 1
   where a.id = _account and (_added is not null or _moved);
  update recording_sessions s set synced_arrival = greatest(s.synced_arrival, _synced_to)
   where s.id = _session and s.account_id = _account and _synced_to is not null;

  update work w
     set progress = (_progress::jsonb || jsonb_build_object('created',
           coalesce((w.progress::json ->> 'created')::int, 0) + coalesce(cardinality(_added), 0)))::text
   where w.id = _work and w.state = 'running' and w.attempt = _attempt and w.worker = _worker
  returning (w.progress::json ->> 'created')::int into created;
  if not found then
    raise no_data_found using message = 'the claim is lost';
  end if;
  return next;
end $$;
