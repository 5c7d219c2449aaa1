import { type Argon2Parameters, argon2Sync } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

if (process.platform === 'linux') {
  // Linux gives each thread its own priority; elsewhere this would lower the whole process's.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}

parentPort?.on('message', ({ id, parameters }: { id: number; parameters: Argon2Parameters }) => {
  parentPort?.postMessage({ id, tag: argon2Sync('argon2id', parameters) });
});
