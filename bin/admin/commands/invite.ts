import { createInvite } from '../../../shared/db/stores/invites.ts';
import { command } from '../command.ts';
import { lines } from '../text.ts';

export const inviteCreate = command({
  synopsis: '',
  options: {},
  operands: 0,
  read:
    () =>
    async ({ em }) => {
      const data = { code: await createInvite(em) };
      return { data, text: `${lines(data)}\n\nThe code is shown only this once, and works once.` };
    },
});
