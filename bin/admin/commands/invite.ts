import { createInvite, listInvites } from '../../../shared/db/stores/invites.ts';
import { command } from '../command.ts';
import { fieldsOutcome, table } from '../text.ts';

export const inviteCreate = command({
  summary: 'Create an invitation to sign up, which works once',
  read:
    () =>
    async ({ em }) => {
      const data = { code: await createInvite(em) };
      return fieldsOutcome(data, 'The code is shown only this once, and works once.');
    },
});

export const inviteList = command({
  summary: 'List the latest 1000 invitations, without their codes',
  read:
    () =>
    async ({ em }) => {
      const data = (await listInvites(em)).map(({ id, createdAt, usedAt }) => ({
        id,
        created_at: createdAt,
        used_at: usedAt ?? null,
      }));
      return { data, text: table(data, ['id', 'created_at', 'used_at']) };
    },
});
