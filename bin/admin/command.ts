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

interface Definition<O extends Options, A> extends Help {
  options?: O;
  /** Number of positional arguments; none by default. */
  operands?: 1 | 'many';
  /** Time limit of an SQL statement; by default the service's usual limit. */
  statementMs?: number;
  /** Checks the values and returns the action. */
  read(values: Values<O>, operand: string | undefined, operands: readonly string[]): A;
}

export function command<const O extends Options>(definition: Definition<O, Action>): Command {
  return define(definition, (action) => withAdmin(action, definition.statementMs));
}

/** Builds a command for which no database is opened; its action opens what it needs. */
export function standaloneCommand<const O extends Options>(
  definition: Definition<O, () => Promise<Outcome>>,
): Command {
  return define(definition, (action) => action());
}

function define<const O extends Options, A>(
  { options, operands, read, ...help }: Definition<O, A>,
  perform: (action: A) => Promise<Outcome>,
): Command {
  return {
    ...help,
    options: options ?? {},
    read(args) {
      // The cast is safe: without options, `O` has no members.
      const { values, positionals } = parse(args, options ?? ({} as O), help.synopsis);
      const surplus = operands === 'many' ? undefined : positionals[operands ?? 0];
      if (surplus !== undefined)
        throw usageError(`${JSON.stringify(surplus)} is one argument too many`, help.synopsis);
      const action = read(values, positionals[0], positionals);
      return { json: 'json' in values && values.json === true, run: () => perform(action) };
    },
  };
}

async function withAdmin(action: Action, statementMs?: number): Promise<Outcome> {
  const config = adminConfig(await withDatabase(process.env));
  // Logs nothing, because standard output is for the result, and failures are thrown anyway.
  const database = await openDatabase(config, createLog('admin', 'silent'), 'forecue admin', statementMs);
  try {
    return await action({ config, database, em: database.orm.em.fork() });
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
    const [problem = ''] = String(error instanceof Error ? error.message : error).split(/\.?\n|\. /);
    throw usageError(problem, synopsis);
  }
}

export function usageError(problem: string, synopsis = ''): AdminError {
  return new AdminError(`${problem}: the arguments are ${`${synopsis} [--json]`.trimStart()}`);
}
