-- A kind's snapshot of the queue is published several times a second, and its floor is read by every admission and
-- every claim. While any other snapshot of the database is open (a dump, a report), no old version of a row can be
-- pruned, and a look-up reads past all of them. So each publication is a new row, the next page, which replaces the one
-- before: a look-up starts from the newest page, and reads one. One page of a kind is visible at a time.

-- The floor of the priorities: no live work of these kinds has a lower one.
create or replace function queue_floor_v2(_kinds text[]) returns bigint
language plpgsql as $$
begin
  return coalesce((
    select min(p.floor)
      from unnest(_kinds) as k (kind)
     cross join lateral (
       select q.floor from queue_snapshots q where q.kind = k.kind order by q.page desc limit 1) p), 0);
end $$;

-- Publishes the snapshot of a pool's queue that all ingresses read, and moves the floor of its priorities. Only the
-- leader calls it, several times a second while there is work; nobody else scans the live work. Returns whether there
-- is any.
create or replace function publish_v1(_kinds text[]) returns boolean
language plpgsql
as $$
declare
  old_floor bigint := queue_floor_v2(_kinds);
  mark queue_snapshots%rowtype;
  due boolean;
  reached bigint := virtual_time_v1(_kinds, old_floor);
  -- A floor of 20 to 40 s ago, and the one that follows it.
  scan_from bigint;
  scan_next bigint;
  scanned_at timestamptz;
  scan_since bigint := old_floor;
  one_kind text;
  last_page bigint;
  live record;
begin
  select * into mark from queue_snapshots q where q.kind = _kinds[1] order by q.page desc limit 1;
  if not found then
    mark.floor := 0;
    mark.next_floor := 0;
    mark.next_floor_at := now();
  end if;
  -- An admission in progress may use a slightly older virtual time, but not one that is two seconds old. If one does
  -- anyway, the next move finds its work, because that scans from a floor older than any statement. Every 20 s a move
  -- scans everything; not each of them, because while any other snapshot is open the index entries of all ended work
  -- stay. When the clock has gone back, new work may have a lower priority than the virtual time that was reached
  -- before: the floor stays for another two seconds.
  if mark.next_floor_at > now() then
    mark.next_floor := old_floor;
  end if;
  due := mark.next_floor_at not between now() - interval '2 seconds' and now();
  scan_from := coalesce((mark.snapshot ->> 'scanFrom')::bigint, 0);
  scan_next := coalesce((mark.snapshot ->> 'scanNext')::bigint, 0);
  scanned_at := coalesce((mark.snapshot ->> 'scannedAt')::timestamptz, '-infinity');
  if due and scanned_at between now() - interval '20 seconds' and now() then
    scan_since := scan_from;
  elsif due then
    scan_since := 0;
    scan_from := scan_next;
    scan_next := old_floor;
    scanned_at := now();
  end if;

  select coalesce(sum(p.queued), 0)::int as queued, coalesce(sum(p.running), 0)::int as running,
         coalesce(json_object_agg(p.party, p.queued) filter (where p.queued > 0), '{}') as queued_by_party,
         coalesce(extract(epoch from now() - min(p.oldest)) * 1000, 0)::float8 as oldest_ms,
         (extract(epoch from now() - max(p.latest_claim)) * 1000)::float8 as last_claim_ms,
         min(p.lowest) as lowest
    into live
    from (
      select f.party, count(*) filter (where w.state = 'queued') as queued,
             count(*) filter (where w.state = 'running') as running,
             min(w.admitted_at) filter (where w.state = 'queued') as oldest,
             max(w.started_at) as latest_claim, min(w.priority) as lowest
        from flows f
       cross join lateral (
         select l.* from work l
          where l.kind = f.kind and l.party = f.party
            and l.priority >= scan_since offset 0) w
       where f.kind = any (_kinds)
       group by f.party) p;

  if due then
    mark.floor := least(mark.next_floor, live.lowest);
    mark.next_floor := reached;
    mark.next_floor_at := now();
  end if;
  mark.published_at := clock_timestamp();
  mark.snapshot := json_build_object(
    'queuedByParty', live.queued_by_party, 'oldestMs', live.oldest_ms, 'lastClaimMs', live.last_claim_ms,
    'queued', live.queued, 'running', live.running,
    'scanFrom', scan_from, 'scanNext', scan_next, 'scannedAt', scanned_at);
  foreach one_kind in array _kinds loop
    -- By the page: joined to all pages, a plan may read those that are gone.
    select q.page into last_page from queue_snapshots q where q.kind = one_kind order by q.page desc limit 1;
    delete from queue_snapshots q where q.kind = one_kind and q.page = last_page;
    insert into queue_snapshots (kind, page, floor, next_floor, next_floor_at, published_at, snapshot)
    values (one_kind, coalesce(last_page, 0) + 1, mark.floor, mark.next_floor, mark.next_floor_at, mark.published_at,
            mark.snapshot)
        -- Another leader, whose lease has just ended, publishes the same page.
        on conflict do nothing;
  end loop;

  return live.queued + live.running > 0;
end $$;
