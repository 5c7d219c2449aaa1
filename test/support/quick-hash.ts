import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Preloaded into a host of tests: argon2 there takes the least memory and time that it may, and not 20 ms of a core. */
const { argon2Sync } = crypto;
crypto.argon2Sync = (algorithm, parameters) =>
  argon2Sync(algorithm, { ...parameters, memory: 8 * parameters.parallelism, passes: 1 });
syncBuiltinESMExports();
