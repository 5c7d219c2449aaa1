import { deleteProfile, readProfile, writeProfile } from '../../../../shared/db/stores/memory/rows.ts';
import { checkRows } from '../../../../shared/domain/faults.ts';
import { profileValues } from '../../../../shared/domain/memory-rows.ts';
import { MIB } from '../../../../shared/schemas/limits.ts';
import { ProfileRequest, ProfileResponse } from '../../../../shared/schemas/memory.ts';
import { endpoint } from '../../../http/endpoint.ts';
import { presentProfile } from '../../../memory/present.ts';
import type { Parts } from '../../parts.ts';

export const readMemoryProfile = endpoint('user', {
  operationId: 'readProfile',
  tag: 'Memory',
  summary: 'The profile',
  errors: ['not_found'],
  response: ProfileResponse,
}).handle(async ({ user }, { em }: Parts) => ({
  body: presentProfile(await readProfile(em(), user.id)),
  read: { profile: 1 },
}));

export const writeMemoryProfile = endpoint('user', {
  operationId: 'writeProfile',
  changes: 'memory',
  showsStored: true,
  tag: 'Memory',
  summary: 'Replace the given parts of the profile',
  inTurn: 'memory',
  description: '201 when there was none.',
  body: ProfileRequest,
  bodyLimit: 4 * MIB,
  keepsBody: true,
  status: 201,
  otherStatus: 200,
  response: ProfileResponse,
}).handle(async ({ user, body }, { em }: Parts) => {
  const [values] = checkRows(body, profileValues);
  const { profile, isNew } = await writeProfile(em(), user.id, values);
  return { body: presentProfile(profile), status: isNew ? 201 : 200 };
});

export const deleteMemoryProfile = endpoint('user', {
  operationId: 'deleteProfile',
  changes: 'memory',
  tag: 'Memory',
  summary: 'Delete the profile',
  inTurn: 'memory',
  errors: ['not_found'],
  status: 204,
}).handle(async ({ user }, { em }: Parts) => {
  await deleteProfile(em(), user.id);
});
