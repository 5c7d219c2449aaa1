import { appendFileSync } from 'node:fs';
import Mocha from 'mocha';

/**
 * Mocha's own report, which also writes the names of files with a failure to `FAILED_FILES`, one per line: `.ci/run`
 * runs them again, alone.
 */
export default class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options);
    const list = process.env['FAILED_FILES'];
    runner.on('fail', ({ file }: Mocha.Test) => {
      if (list !== undefined && file !== undefined) appendFileSync(list, `${file}\n`);
    });
  }
}
