import { randomBytes } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../../../shared/db/entities/account.ts';
import { transaction } from '../../../shared/db/statement.ts';
import {
  changeAccount,
  createAccount,
  findAccount,
  findAnyAccount,
  listAccounts,
  type NewAccount,
} from '../../../shared/db/stores/accounts.ts';
import {
  beginErasure,
  continueErasure,
  disableAccount,
  enableAccount,
} from '../../../shared/db/stores/end-account.ts';
import { issueToken } from '../../../shared/db/stores/log-ins.ts';
import { passwordResetLink } from '../../../shared/domain/account.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { NewUser } from '../../../shared/schemas/accounts.ts';
import { compile } from '../../../shared/schemas/validator.ts';
import { weaknessOf } from '../../../shared/security/password-rules.ts';
import { hashPassword } from '../../../shared/security/passwords.ts';
import { endingOptions } from '../../../shared/work/ending-options.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { AdminError } from '../admin-error.ts';
import { ingressAddressOf, requireValue, userId } from '../arguments.ts';
import { type Admin, command, EXAMPLE_ID, type Outcome } from '../command.ts';
import { fieldsOutcome, table } from '../text.ts';

/** Time limit of the erasure in this command. The running processes erase what is left after it. */
const ERASE_WITHIN_MS = 10_000;

export const userCreate = command({
  summary: 'Create a user, with a random password unless one is given',
  synopsis: '--email E [--name N] [--password-stdin]',
  example: '--email ada@example.com --name Ada',
  options: {
    email: { type: 'string' },
    name: { type: 'string', default: '' },
    'password-stdin': { type: 'boolean', default: false },
  },
  read(values) {
    const email = requireValue('--email', values.email);
    const { name, 'password-stdin': isGiven } = values;
    return async ({ em }) => {
      const password = isGiven ? await givenPassword() : randomBytes(18).toString('base64url');
      checkUser({ email, name, password });
      const account = await createUser(em, { email, name, passwordHash: await hashPassword(password) });
      const user = presentUser(account);
      if (isGiven) return fieldsOutcome(user);
      return fieldsOutcome({ ...user, password }, 'The password is shown only this once.');
    };
  },
});

export const userResetPassword = command({
  summary: 'Create a password reset link, or set a password; a new one ends all log-ins',
  synopsis: 'USER_ID [--password-stdin [--revoke-keys]]',
  example: EXAMPLE_ID,
  options: {
    'password-stdin': { type: 'boolean', default: false },
    'revoke-keys': { type: 'boolean', default: false },
  },
  operand: userId,
  read(values, id) {
    const { 'password-stdin': isGiven, 'revoke-keys': revokeKeys } = values;
    if (revokeKeys && !isGiven)
      throw new AdminError(
        '--revoke-keys goes with --password-stdin: behind a link the person decides about keys',
      );
    return async (admin) => {
      const account = await findAccount(admin.em, id);
      if (account === undefined)
        throw new AdminError(`there is no active user ${id}: \`user list\` shows the users`);
      return isGiven ? setPassword(admin, account, { revokeKeys }) : makeResetLink(admin, account);
    };
  },
});

async function setPassword(
  { em }: Admin,
  { id, email, name }: Account,
  { revokeKeys }: { revokeKeys: boolean },
): Promise<Outcome> {
  const password = await givenPassword();
  checkUser({ email, name, password });
  const passwordHash = { to: await hashPassword(password) };
  return fieldsOutcome(presentUser(await changeAccount(em, id, { passwordHash, revokeKeys })));
}

/** Longer than the lifetime of a mailed link, because an operator passes this link on by hand. */
const LINK_HOURS = 24;

async function makeResetLink({ em, config }: Admin, account: Account): Promise<Outcome> {
  const ingress = ingressAddressOf(config.publicUrl);
  const issued = await issueToken(em, 'password_resets', account, { lifetimeHours: LINK_HOURS });
  if (issued === undefined) throw new AdminError('the user has changed in this very moment: try again');
  const data = { ...presentUser(account), link: passwordResetLink(ingress, issued.token) };
  return fieldsOutcome(data, `The link is shown only this once. It works once, within ${LINK_HOURS} hours.`);
}

export const userList = command({
  summary: 'List the users',
  read:
    () =>
    async ({ em }) => {
      const data = (await listAccounts(em)).map(presentUser);
      return { data, text: table(data, ['id', 'email', 'name', 'active', 'created_at']) };
    },
});

export const userDisable = command({
  summary: 'Lock a user out: all credentials and connections end',
  synopsis: 'USER_ID',
  example: EXAMPLE_ID,
  operand: userId,
  read(_, id) {
    return async ({ em, config }) => {
      const account = await disableAccount(em, id, config.recoveryWindowS);
      if (account === undefined) throw unknownUser(id);
      return fieldsOutcome(presentUser(account), 'All credentials and connections of the user have ended.');
    };
  },
});

export const userEnable = command({
  summary: 'Let a disabled user log in again; keys and connections that ended stay ended',
  synopsis: 'USER_ID',
  example: EXAMPLE_ID,
  operand: userId,
  read(_, id) {
    return async ({ em }) => {
      const account = await enableAccount(em, id);
      if (account === undefined) throw unknownUser(id);
      const note = 'The user can log in. Keys and connections from before have ended.';
      return fieldsOutcome(presentUser(account), note);
    };
  },
});

export const userErase = command({
  summary: 'Erase a user and all that belongs to it, for good',
  synopsis: 'USER_ID --yes',
  options: { yes: { type: 'boolean', default: false } },
  example: `${EXAMPLE_ID} --yes`,
  operand: userId,
  read({ yes }, id) {
    if (!yes) throw new AdminError(`this erases the user ${id} for good: repeat it with --yes`);
    return (admin) => eraseUser(admin, id);
  },
});

async function eraseUser({ em, config }: Admin, id: string): Promise<Outcome> {
  if ((await findAnyAccount(em, id)) === undefined) throw unknownUser(id);
  await beginErasure(em, { id });
  // Does not announce the work that the erasure ends: requests that wait for it notice within about a second.
  const options = endingOptions(kinds, { announceEnded: () => {} }, config.recoveryWindowS);
  const finished = await continueErasure(em, id, options, ERASE_WITHIN_MS);
  const text = finished
    ? `${id} is erased.`
    : `The erasure of ${id} has begun; the running processes finish it within minutes.`;
  return { data: { id, finished }, text };
}

function unknownUser(id: string): AdminError {
  return new AdminError(`there is no user ${id}: \`user list\` shows the users`);
}

async function givenPassword(): Promise<string> {
  return (await readText(process.stdin)).replace(/\r?\n$/, '');
}

const checkNewUser = compile(NewUser);

function checkUser(user: { email: string; name: string; password: string }): void {
  const result = checkNewUser({ ...user });
  const [fault] = result.ok ? [] : result.faults;
  if (fault !== undefined) throw new AdminError(`${fault.loc.at(-1)}: ${fault.msg}`);
  const weakness = weaknessOf(user.password, user.email);
  if (weakness !== undefined) throw new AdminError(weakness);
}

async function createUser(em: EntityManager, account: NewAccount): Promise<Account> {
  try {
    return await transaction(em, (tx) => createAccount(tx, account));
  } catch (error) {
    if (error instanceof AppError && error.code === 'email_taken')
      throw new AdminError('there is a user with this e-mail address: `user list` shows the users');
    throw error;
  }
}

function presentUser({ id, email, name, active, createdAt }: Account) {
  return { id, email, name, active, created_at: createdAt };
}
