/** Multiplies the rounds and sizes of trials: `SCALE=10 npm test -- test/nightly/chaos.test.ts`. */
export const SCALE = Number(process.env['SCALE'] ?? 1);

/** Returns the promised limit if a trial is run by hand (`SCALE` above 1), else one that a busy machine can keep. */
export function promisedMs(promised: number, onBusyMachine: number): number {
  return SCALE > 1 ? promised : onBusyMachine;
}
