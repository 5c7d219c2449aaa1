import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const EXTRA_MS = 300;

/** Preloaded into a process, delays each password hash, so that a queue of them outlives a pause of the test. */
const { argon2Sync } = crypto;
crypto.argon2Sync = (algorithm, parameters) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXTRA_MS);
  return argon2Sync(algorithm, parameters);
};
syncBuiltinESMExports();
