import { availableParallelism } from 'node:os';

export default {
  spec: ['test/**/*.test.ts'],
  ignore: ['test/{abuse,isolation,operators}/**', 'test/**/*.long.test.ts'],
  require: ['./test/setup.ts'],
  parallel: true,
  // More jobs would keep the cores no busier, but make tests miss their time limits. More than eight would exceed the
  // connections that the server allows.
  jobs: Math.min(availableParallelism() + 1, 8),
  timeout: 60_000,
  exit: false,
};
