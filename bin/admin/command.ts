import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type AdminConfig, adminConfig } from '../../shared/config/config.ts';
import { type Database, openDatabase } from '../../shared/db/orm.ts';
import { createLog } from '../../shared/log.ts';
import { AdminError } from './admin-error.ts';
import { withDatabase } from './environment.ts';

export interface Admin {
  config: AdminConfig;
  database: Database;
  em: EntityManager;
}

/** Result of a command: `data` is printed with `--json`, otherwise `text`. */
export interface Outcome {
  data: object;
  text: string;
  /** True if the command ran but found a problem: exit code 1. */
  failed?: boolean;
}

export type Action = (admin: Admin) => Promise<Outcome>;

interface Help {
  summary: string;
  synopsis?: string;
  /** Example arguments, without the command itself, which the help adds. */
  example?: string;
}

export const EXAMPLE_ID = '019a9fd0-5a11-7e3c-b0a4-9c2f6d1e8b30';

export interface Command extends Help {
  /** Options besides `--json`. */
  options: Options;
  /** Parses the arguments before anything is opened. */
  read(args: string[]): { json: boolean; run: () => Promise<Outcome> };
}

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; strict: true; allowPositionals: true; allowNegative: true }>
>['values'];

interface Definition<O extends Options, T, A> extends Help {
  options?: O;
  /** Parses the positional argument. Without it, the command takes none. */
  operand?: (first: string | undefined, all: readonly string[]) => T;
  takesManyOperands?: boolean;
  /** Time limit of an SQL statement; by default the service's usual limit. */
  statementMs?: number;
  /** Checks the values and returns the action. */
  read(values: Values<O>, operand: T): A;
}

export function command<const O extends Options, T>(definition: Definition<O, T, Action>): Command {
  return define(definition, (action) => withAdmin(action, definition.statementMs));
}

/** Builds a command for which no database is opened; its action opens what it needs. */
export function standaloneCommand<const O extends Options, T>(
  definition: Definition<O, T, () => Promise<Outcome>>,
): Command {
  return define(definition, (action) => action());
}

function define<const O extends Options, T, A>(
  { options, operand, takesManyOperands, read, ...help }: Definition<O, T, A>,
  perform: (action: A) => Promise<Outcome>,
): Command {
  return {
    ...help,
    options: options ?? {},
    read(args) {
      // The cast is safe: without options, `O` has no members.
      const { values, positionals } = parse(args, options ?? ({} as O), help.synopsis);
      const surplus = takesManyOperands ? undefined : positionals[operand === undefined ? 0 : 1];
      if (surplus !== undefined)
        throw usageError(`${JSON.stringify(surplus)} is one argument too many`, help.synopsis);
      // The cast is safe: without `operand`, `read` takes none.
      const action = read(values, operand?.(positionals[0], positionals) as T);
      return { json: 'json' in values && values.json === true, run: () => perform(action) };
    },
  };
}

async function withAdmin(action: Action, statementMs?: number): Promise<Outcome> {
  const config = adminConfig(await withDatabase(process.env));
  const act = (database: Database) => action({ config, database, em: database.orm.em.fork() });
  return useDatabase(config, act, statementMs);
}

/** Opens the database for some work. Logs nothing: standard output is for the result, and failures are thrown anyway. */
export async function useDatabase<T>(
  config: Parameters<typeof openDatabase>[0],
  work: (database: Database) => Promise<T>,
  statementMs?: number,
): Promise<T> {
  const database = await openDatabase(config, createLog('admin', 'silent'), 'forecue admin', statementMs);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

function parse<O extends Options>(args: string[], options: O, synopsis: string | undefined) {
  try {
    return parseArgs({
      args,
      options: { ...options, json: { type: 'boolean' } },
      strict: true,
      allowPositionals: true,
      allowNegative: true,
    });
  } catch (error) {
    const message = String(error instanceof Error ? error.message : error);
    // Node says of a value that begins with a dash, in its first sentence, only that it is ambiguous.
    const [problem = ''] = message.replace(/^.* is ambiguous\..*\n/s, '').split(/\.?\n|\. /);
    throw usageError(problem, synopsis);
  }
}

export function usageError(problem: string, synopsis = ''): AdminError {
  return new AdminError(`${problem}: the arguments are ${`${synopsis} [--json]`.trimStart()}`);
}
