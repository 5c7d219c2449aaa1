import { ConfigError } from '../../shared/config/env.ts';
import { isCancelled, isLockTimeout, isUnavailable } from '../../shared/db/faults.ts';
import { messageOf } from '../../shared/errors/message-of.ts';
import { isFromPostgres } from '../../shared/log.ts';
import { READ_ONLY_SQLSTATE } from '../../shared/primary.ts';
import { escapeInvisible } from '../../shared/text/visible.ts';

/** A mistake by the operator. The message is one line: what is wrong, and what to do. */
export class AdminError extends Error {}

/** SQLSTATEs of an undefined table, column or function. */
const UNDEFINED_OBJECT_STATES = ['42P01', '42703', '42883'];
const TOO_MANY_CONNECTIONS = '53300';

export function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof AdminError) return escapeInvisible(error.message);
  const { what, toDo } = diagnose(error, 'DATABASE_URL');
  return `${what}: ${toDo}`;
}

/** Explains a database error. `variable` is the setting that holds the database's address. */
export function diagnose(error: unknown, variable: string): { what: string; toDo: string } {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const [message = ''] = messageOf(error).split('\n');
  if (message.includes('unsupported startup parameter'))
    return {
      what: `${variable} leads to a pooler, which refuses our settings of a session (${message})`,
      toDo: 'set DATABASE_DIRECT_URL to PostgreSQL itself',
    };
  if (isTlsFault(code, message))
    return {
      what: `no TLS with the database (${message})`,
      toDo: `correct sslmode, or sslrootcert, in ${variable}`,
    };
  if (code === TOO_MANY_CONNECTIONS)
    return {
      what: `the database has no connection left (${message})`,
      toDo: 'end sessions that nobody needs (pg_stat_activity, as a superuser), or raise max_connections',
    };
  if (code === READ_ONLY_SQLSTATE) return { what: message, toDo: `point ${variable} at the primary` };
  if (isUnavailable(error))
    return { what: `the database does not answer (${message})`, toDo: `start it or correct ${variable}` };
  if (isCancelled(error))
    return {
      what: `a statement took too long, or waited for a lock (${message})`,
      toDo: 'try again when the database has less to do',
    };
  if (isLockTimeout(error))
    return {
      what: `a statement waited too long for a lock (${message})`,
      toDo: 'try again when the other transaction is over',
    };
  if (UNDEFINED_OBJECT_STATES.includes(code))
    return { what: 'the database is not up to date', toDo: 'run `npm run migrate`' };
  if (isFromPostgres(error)) return { what: `the database refused (${message})`, toDo: `check ${variable}` };
  const isOfFile = error instanceof Error && 'path' in error;
  return {
    what: message,
    toDo: isOfFile ? 'check this path, and whether you may use it' : 'check the settings',
  };
}

/** Codes are those of OpenSSL's verification; pg has none for a server that has no TLS. */
function isTlsFault(code: string, message: string): boolean {
  return /CERT|^ERR_(SSL|TLS)|^UNABLE_TO_/.test(code) || message.includes('does not support SSL');
}
