import { findApp, revokeKeys, rotateKey } from '../../../shared/db/stores/apps.ts';
import { AdminError } from '../admin-error.ts';
import { appId, graceSeconds, requireValue, unknownApp } from '../arguments.ts';
import { command, EXAMPLE_ID } from '../command.ts';
import { fieldsOutcome } from '../text.ts';

export const keyRotate = command({
  summary: 'Issue a new key for an app, and end its older ones',
  synopsis: 'APP_ID [--grace SECONDS]',
  example: `${EXAMPLE_ID} --grace 3600`,
  options: { grace: { type: 'string', default: '0' } },
  operand: appId,
  read(values, id) {
    const grace = graceSeconds(values.grace);
    return async ({ em }) => {
      const key = await rotateKey(em, id, grace);
      if (key === undefined) throw unknownApp(id);
      const older = grace === 0 ? 'have stopped working' : `stop working in ${grace} s`;
      return fieldsOutcome({ key }, `The key is shown only this once. The app's older keys ${older}.`);
    };
  },
});

export const keyRevoke = command({
  summary: 'End the keys of an app that `app show` lists under this prefix',
  synopsis: 'APP_ID --prefix P',
  example: `${EXAMPLE_ID} --prefix fc_a1B2c3`,
  options: { prefix: { type: 'string' } },
  operand: appId,
  read(values, id) {
    const prefix = requireValue('--prefix', values.prefix);
    return async ({ em }) => {
      if ((await findApp(em, id)) === undefined) throw unknownApp(id);
      const revoked = await revokeKeys(em, id, prefix);
      // The error does not print the given prefix, which may be a whole key.
      if (revoked === 0)
        throw new AdminError(`no working key of this app has that prefix: \`app show ${id}\` lists them`);
      return { data: { revoked }, text: `${prefix}… has stopped working.` };
    };
  },
});
