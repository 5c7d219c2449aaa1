import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AdminConfig } from '../../shared/config/config.ts';
import type { Database } from '../../shared/db/orm.ts';
import { AdminError } from './admin-error.ts';

/** What a command works with. */
export interface Admin {
  config: AdminConfig;
  database: Database;
  em: EntityManager;
}

/** The result of a command: `data` with `--json`, else `text`. */
export interface Outcome {
  data: object;
  text: string;
  /** The command ran, but what it found is bad: exit code 1. */
  failed?: boolean;
}

export type Action = (admin: Admin) => Promise<Outcome>;

export interface Command {
  /** The arguments, as the help shows them. */
  synopsis: string;
  /** Parses the arguments, before anything is opened. */
  read(args: string[]): { json: boolean; action: Action };
}

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; strict: true; allowPositionals: true; allowNegative: true }>
>['values'];

interface Definition<O extends Options> {
  synopsis: string;
  options: O;
  /** How many positional arguments there may be. */
  operands: 0 | 1 | 'many';
  /** Checks the values and returns the action. */
  read(values: Values<O>, operand: string | undefined, operands: readonly string[]): Action;
}

/** Builds a command from its definition; every command takes `--json`. */
export function command<const O extends Options>({
  synopsis,
  options,
  operands,
  read,
}: Definition<O>): Command {
  return {
    synopsis,
    read(args) {
      const { values, positionals } = parse(args, options, synopsis);
      const surplus = operands === 'many' ? undefined : positionals[operands];
      if (surplus !== undefined)
        throw misused(`${JSON.stringify(surplus)} is one argument too many`, synopsis);
      const action = read(values, positionals[0], positionals);
      return { json: 'json' in values && values.json === true, action };
    },
  };
}

function parse<O extends Options>(args: string[], options: O, synopsis: string) {
  try {
    return parseArgs({
      args,
      options: { ...options, json: { type: 'boolean' } },
      strict: true,
      allowPositionals: true,
      allowNegative: true,
    });
  } catch (error) {
    const [fault = ''] = String(error instanceof Error ? error.message : error).split(/\.?\n|\. /);
    throw misused(fault, synopsis);
  }
}

/** Wrong arguments: the message shows the right ones. */
export function misused(fault: string, synopsis: string): AdminError {
  return new AdminError(`${fault}: the arguments are ${`${synopsis} [--json]`.trimStart()}`);
}
