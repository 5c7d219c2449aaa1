import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isTarget, TARGETS, type TargetName } from './targets.ts';

export interface Options {
  /** Seconds of measurement per target, number of callers and round. */
  seconds: number;
  rounds: number;
  callers: number[];
  targets: TargetName[];
  /** Folder in which npm has installed the packages of DBOS and Restate; undefined leaves these two out. */
  peers: string | undefined;
  profile: boolean;
  long: boolean;
  /** True if the run measures only some targets or writes profiles: its figures do not replace the published ones. */
  partial: boolean;
}

const ALL_TARGETS = Object.keys(TARGETS).filter(isTarget);

/** Throws a TypeError that says what is wrong with the options. */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '3' },
      callers: { type: 'string', default: '1,64,128' },
      only: { type: 'string' },
      peers: { type: 'string' },
      profile: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
    },
  });
  const targets = values.only?.split(',') ?? ALL_TARGETS;
  if (!targets.every(isTarget)) throw new TypeError(`--only takes a list of ${ALL_TARGETS.join(', ')}`);
  return {
    seconds: parsePositive('seconds', values.seconds),
    rounds: Math.ceil(parsePositive('rounds', values.rounds)),
    callers: values.callers.split(',').map((one) => Math.ceil(parsePositive('callers', one))),
    targets,
    peers: values.peers && resolve(values.peers),
    profile: values.profile,
    long: values.long,
    partial: values.only !== undefined || values.profile,
  };
}

function parsePositive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new TypeError(`--${name} takes numbers above 0, not ${text}`);
  return value;
}
