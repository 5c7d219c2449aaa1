import { appendFileSync } from 'node:fs';
import Mocha from 'mocha';

/** Mocha's own report. The files with a failure are written to `FAILED_FILES`, a line each: `.ci/run` runs them again, alone. */
export default class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options);
    const list = process.env['FAILED_FILES'];
    runner.on('fail', ({ file }: Mocha.Test) => {
      if (list !== undefined && file !== undefined) appendFileSync(list, `${file}\n`);
    });
  }
}
