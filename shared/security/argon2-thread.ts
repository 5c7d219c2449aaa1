import { type Argon2Parameters, argon2Sync } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

/** The thread behind `argon2.ts`: one hash after the other, whenever nothing more urgent wants its core. */
if (process.platform === 'linux') {
  // There a thread has a priority of its own; elsewhere it would be the whole process's.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}

parentPort?.on('message', ({ id, parameters }: { id: number; parameters: Argon2Parameters }) => {
  parentPort?.postMessage({ id, tag: argon2Sync('argon2id', parameters) });
});
