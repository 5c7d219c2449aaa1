import type { Faults } from './faults.ts';

/** A model that a request names must be one of those that the operator offers. */
export function checkModel(model: string | undefined, supported: readonly string[], faults: Faults): void {
  if (model === undefined || supported.includes(model)) return;
  const msg = `Input should be one of ${supported.join(', ')}`;
  faults.add('model', msg, 'enum', { ctx: { expected: supported }, input: model });
}
