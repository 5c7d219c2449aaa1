import { appendFileSync } from 'node:fs';
import Mocha from 'mocha';

/** Reports like Mocha's `spec`, and appends the file of each failed test to the list at `FAILED_FILES`. */
export default class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options);
    const list = process.env['FAILED_FILES'];
    runner.on('fail', ({ file }: Mocha.Test) => {
      if (list !== undefined && file !== undefined) appendFileSync(list, `${file}\n`);
    });
  }
}
