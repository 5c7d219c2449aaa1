-- Begins a round of a step, and returns true, unless a living process runs one or the latest began less than about
-- `_every_ms` ago. The process must have sent heartbeats without a gap for `_steady_ms`. A row rather than an advisory
-- lock, which would hold a connection and a transaction for as long as the round takes. Writes nothing if it returns
-- false. A crash of the database may undo the commit, which does not wait for the disk: then another round follows.
create or replace function begin_round_v1(_step text, _every_ms int, _process uuid, _steady_ms int) returns boolean
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  if not exists (select from rounds r where r.step = _step) then
    insert into rounds (step, every_ms) values (_step, _every_ms) on conflict do nothing;
  end if;
  update rounds r set every_ms = _every_ms, process = _process, began_at = now()
   where r.step = _step
     -- A process may begin one a little early: by its own timer a whole interval has passed. A clock that was set back
     -- by less than a second makes none due.
     and coalesce(
       r.began_at not between now() - make_interval(secs => _every_ms * 0.8 / 1000)
                          and now() + interval '1 second',
       true)
     and not exists (
       select from processes a where a.id = r.process and a.id <> _process and is_alive(a.alive_until))
     and (_steady_ms = 0 or exists (
       select from processes a
        where a.id = _process and a.since < now() - make_interval(secs => _steady_ms / 1000.0)));
  return found;
end $$;

create or replace function end_round_v1(_step text, _process uuid, _succeeded boolean) returns void
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update rounds r set process = null, ended_at = case when _succeeded then now() else r.ended_at end
   where r.step = _step and r.process = _process;
end $$;
