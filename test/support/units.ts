import assert from 'node:assert/strict';
import type { AppClient } from './client.ts';

/** Asserts the numbers of charged and reserved units in an app's usage of this month. */
export async function assertUnits(app: AppClient, units: number, reserved = 0): Promise<void> {
  const { prediction_units, reserved_units } = (await app.usage()).body;
  assert.deepEqual(
    { prediction_units, reserved_units },
    { prediction_units: units, reserved_units: reserved },
  );
}
