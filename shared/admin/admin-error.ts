import { ConfigError } from '../config/env.ts';
import { isFromPostgres, isLockTimeout, isUnavailable } from '../db/faults.ts';

/** What the operator did or asked for cannot be. The message says what happened and what to do, on one line. */
export class AdminError extends Error {}

/** Tables, columns and functions that are not there. */
const UNDEFINED = ['42P01', '42703', '42883'];

/** What went wrong and what to do, on one line. */
export function explain(error: unknown): string {
  if (error instanceof AdminError || error instanceof ConfigError) return error.message;
  const { what, toDo } = diagnose(error, 'DATABASE_URL');
  return `${what}: ${toDo}`;
}

/** An error of the database, whose address `variable` gives, as what happened and what to do. */
export function diagnose(error: unknown, variable: string): { what: string; toDo: string } {
  const { code, message } = faultOf(error);
  if (isUnavailable(error))
    return { what: `the database does not answer (${message})`, toDo: `start it or correct ${variable}` };
  if (isLockTimeout(error))
    return {
      what: `the database was held up (${message})`,
      toDo: 'try again once what holds its locks is done',
    };
  if (UNDEFINED.includes(code))
    return { what: 'the database is not up to date', toDo: 'run `npm run migrate`' };
  if (isFromPostgres(error))
    return { what: `the database refused (${message})`, toDo: `see whether ${variable} is right` };
  return { what: message, toDo: 'see whether the settings are right' };
}

/** The first line of an error's message. One that gathers several, as of a host with two addresses, has a code only. */
function faultOf(error: unknown): { code: string; message: string } {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return { code, message: message || code };
}
