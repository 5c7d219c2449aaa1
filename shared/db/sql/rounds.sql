-- Ends rounds of this process, and begins those of the steps that are due: no living process runs a round of it, and
-- the latest began about `_every_ms` ago or earlier. The process must have sent heartbeats without a gap for
-- `_steady_ms`. Returns the steps begun. Rows rather than advisory locks, which would hold a connection and a
-- transaction for as long as a round takes. Writes nothing if nothing ends and nothing is due. A crash of the database
-- may undo the commit, which does not wait for the disk: then another round follows.
create or replace function turn_rounds_v1(
  _process uuid, _ended text[], _succeeded text[], _steps text[], _every_ms int[], _steady_ms int[])
returns text[] language plpgsql as $$
declare
  _begun text[];
begin
  perform set_config('synchronous_commit', 'off', true);
  if exists (select from unnest(_steps) s where not exists (select from rounds r where r.step = s)) then
    insert into rounds (step, every_ms) select * from unnest(_steps, _every_ms) order by 1 on conflict do nothing;
  end if;
  with due as (
    select r.step, s.every_ms
      from rounds r join unnest(_steps, _every_ms, _steady_ms) as s (step, every_ms, steady_ms) using (step)
     -- A process may begin one a little early: by its own timer a whole interval has passed. A clock that was set back
     -- by less than a second makes none due.
     where coalesce(
         r.began_at not between now() - make_interval(secs => s.every_ms * 0.8 / 1000)
                            and now() + interval '1 second',
         true)
       and not exists (
         select from processes a where a.id = r.process and a.id <> _process and is_alive(a.alive_until))
       and (s.steady_ms = 0 or exists (
         select from processes a
          where a.id = _process and a.since < now() - make_interval(secs => s.steady_ms / 1000.0)))
     -- What another process is turning is left to it.
     for update of r skip locked),
  begun as (
    update rounds r
       set every_ms = d.every_ms, process = _process, began_at = now(),
           ended_at = case when r.process = _process and r.step = any (_succeeded) then now() else r.ended_at end
      from due d where r.step = d.step
    returning r.step)
  select coalesce(array_agg(step), '{}') from begun into _begun;
  if not _ended <@ _begun then
    update rounds r set process = null, ended_at = case when r.step = any (_succeeded) then now() else r.ended_at end
     where r.step = any (_ended) and r.step <> all (_begun) and r.process = _process;
  end if;
  return _begun;
end $$;
