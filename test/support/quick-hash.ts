import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Preloaded into a process of tests, makes argon2 as cheap as it can be, instead of 20 ms of a core. */
const { argon2Sync } = crypto;
crypto.argon2Sync = (algorithm, parameters) =>
  argon2Sync(algorithm, { ...parameters, memory: 8 * parameters.parallelism, passes: 1 });
syncBuiltinESMExports();
