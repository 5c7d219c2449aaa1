import { parseArgs } from 'node:util';
import { isTarget, TARGETS, type TargetName } from './targets.ts';

export interface Options {
  /** Measured time of each target at each number of callers, in each round. */
  seconds: number;
  rounds: number;
  callers: number[];
  targets: TargetName[];
  profile: boolean;
  /** Measures what takes minutes as well. */
  long: boolean;
  /** Whether this run measures less than everything: its figures do not replace the published ones. */
  partial: boolean;
}

const ALL = Object.keys(TARGETS).filter(isTarget);

/** The options of the command line. Throws a TypeError that says what is wrong with them. */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '3' },
      callers: { type: 'string', default: '1,64,128' },
      only: { type: 'string' },
      profile: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
    },
  });
  const targets = values.only?.split(',') ?? ALL;
  if (!targets.every(isTarget)) throw new TypeError(`--only takes a list of ${ALL.join(', ')}`);
  return {
    seconds: positive('seconds', values.seconds),
    rounds: Math.ceil(positive('rounds', values.rounds)),
    callers: values.callers.split(',').map((one) => Math.ceil(positive('callers', one))),
    targets,
    profile: values.profile,
    long: values.long,
    partial: values.only !== undefined || values.profile,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new TypeError(`--${name} takes numbers above 0, not ${text}`);
  return value;
}
