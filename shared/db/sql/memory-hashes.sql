-- An opaque name of a state of an account's memory: another state, or another account, has another.
create or replace function profile_revision(_account uuid, _revision bigint) returns text language sql immutable as
$$ select left(encode(sha256(convert_to(_account || ':' || _revision, 'UTF8')), 'hex'), 16) $$;

-- The trace that a deleted event of an account leaves behind, so that it does not come back.
create or replace function event_hash(_account uuid, _event text) returns bytea language sql immutable parallel safe as
$$ select sha256(convert_to(_account || ':' || _event, 'UTF8')) $$;
