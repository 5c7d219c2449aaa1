import { type Argon2Parameters, argon2Sync } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

if (process.platform === 'linux') {
  // On Linux, this sets the priority of this thread. On other systems, it would apply to the whole process.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}

parentPort?.on('message', ({ id, parameters }: { id: number; parameters: Argon2Parameters }) => {
  parentPort?.postMessage({ id, tag: argon2Sync('argon2id', parameters) });
});
