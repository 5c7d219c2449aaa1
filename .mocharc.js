import { availableParallelism } from 'node:os';

export default {
  spec: ['test/**/*.test.ts'],
  ignore: ['test/{abuse,isolation,operators}/**', 'test/**/*.long.test.ts'],
  require: ['./test/setup.ts'],
  parallel: true,
  // More jobs than this keep the cores no busier, but make tests miss time limits; more than eight, the server's limit of
  // connections.
  jobs: Math.min(availableParallelism() + 1, 8),
  timeout: 60_000,
  exit: false,
};
