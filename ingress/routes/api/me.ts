import { Readable } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../../../shared/db/entities/account.ts';
import { findAccount } from '../../../shared/db/stores/accounts.ts';
import type { EventRow } from '../../../shared/db/stores/recording/read.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { AccountChange, ExportLine, UserResponse } from '../../../shared/schemas/accounts.ts';
import { SMALL_BODY_BYTES_MAX } from '../../../shared/schemas/limits.ts';
import { exportAccount } from '../../accounts/export.ts';
import { presentUser } from '../../accounts/present.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const readAccount = endpoint('user', {
  operationId: 'readAccount',
  tag: 'Accounts',
  summary: 'The account',
  response: UserResponse,
}).handle(async ({ user }, { em }: Parts) => ({ body: presentUser(await findOwnAccount(em(), user.id)) }));

export const changeAccount = endpoint('user', {
  operationId: 'changeAccount',
  changes: 'account',
  tag: 'Accounts',
  scopes: [],
  summary: 'Change name, password, target or floor',
  inTurn: 'account',
  description:
    '`precision_target` is the minimum precision: the share of correct predictions among those that reach the suggested ' +
    'threshold. `GET /api/predictions/calibration/` returns it in `evidence`. ' +
    '`threshold_floor` is the lowest threshold of predicted replies, whatever a request says. ' +
    'A new password needs `current_password`. It ends every refresh and access token, that of this request too: log in again. ' +
    'Keys live on until they are revoked: with `revoke_keys: true` the change revokes all of them too.',
  body: AccountChange,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  response: UserResponse,
}).handle(async ({ user, body, address, signal }, { accounts }: Parts) => {
  const { name, password, current_password: currentPassword, revoke_keys: revokeKeys = false } = body;
  const change = {
    name,
    precisionTarget: body.precision_target,
    thresholdFloor: body.threshold_floor,
    password,
    currentPassword,
    revokeKeys,
    address,
  };
  return { body: presentUser(await accounts.change(user.id, change, signal)) };
});

export const eraseAccount = endpoint('user', {
  operationId: 'eraseAccount',
  changes: 'account',
  tag: 'Accounts',
  summary: 'Erase the account and all that belongs to it',
  description: 'Needs an access token of a log-in within the last ten minutes. A key is not enough.',
  login: 'fresh',
  inTurn: 'account',
  status: 204,
}).handle(async ({ user }, { eraseAccount }: Parts) => {
  await eraseAccount(user);
});

export const exportAccountLines = endpoint('user', {
  operationId: 'exportAccount',
  tag: 'Accounts',
  summary: 'Everything of the account, one JSON object a line',
  errors: ['overloaded'],
  response: ExportLine,
  responseType: 'application/x-ndjson',
}).handle(async ({ user, reserve, signal }, { em, recording, noteReads }: Parts) => {
  const account = await findOwnAccount(em(), user.id);
  const renderEvent = (event: EventRow) => recording.render(user.id, event, { reserve, signal });
  const lines = await exportAccount({ em, renderEvent, reserve }, account);
  return { body: Readable.from(countedLines(lines, (rows) => noteReads(user, { export: rows }))) };
});

/** Reports the number of lines at the end, also of a stream that breaks off. */
async function* countedLines(texts: AsyncIterable<string>, onEnd: (lines: number) => void) {
  let lines = 0;
  try {
    for await (const text of texts) {
      lines += text.split('\n').length - 1;
      yield text;
    }
  } finally {
    onEnd(lines);
  }
}

async function findOwnAccount(em: EntityManager, id: string): Promise<Account> {
  const account = await findAccount(em, id);
  // The account was erased within the second for which its credential is cached.
  if (account === undefined) throw new AppError('not_authenticated');
  return account;
}
