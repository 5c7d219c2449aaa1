-- Returns an opaque name for a state of an account's memory. Any other state and any other account has another name.
create or replace function profile_revision(_account uuid, _revision bigint) returns text language sql immutable as
$$ select left(encode(sha256(convert_to(_account || ':' || _revision, 'UTF8')), 'hex'), 16) $$;

-- Returns the hash that a deleted event of an account leaves behind, so that the event does not come back.
create or replace function event_hash(_account uuid, _event text) returns bytea language sql immutable parallel safe as
$$ select sha256(convert_to(_account || ':' || _event, 'UTF8')) $$;
