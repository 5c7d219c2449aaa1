import Mocha from 'mocha';

/** Mocha's own report, and after it the tests that passed only when they were tried again: each with what it failed with. */
export default class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options);
    const failures: string[] = [];
    runner.on('retry', (test: Mocha.Test, { message }: Error) =>
      failures.push(`${test.fullTitle()}: ${message.replaceAll(/\s+/g, ' ')}`),
    );
    runner.once('end', () => {
      if (failures.length > 0) process.stdout.write(`  tried again:\n\n    ${failures.join('\n    ')}\n\n`);
    });
  }
}
