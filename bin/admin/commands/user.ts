import { randomBytes } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../../../shared/db/entities/account.ts';
import {
  changeAccount,
  createAccount,
  findAccount,
  listAccounts,
  type NewAccount,
} from '../../../shared/db/stores/accounts.ts';
import { disableAccount } from '../../../shared/db/stores/disable-account.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { NewUser } from '../../../shared/schemas/accounts.ts';
import { compile } from '../../../shared/schemas/validator.ts';
import { weaknessOf } from '../../../shared/security/password-rules.ts';
import { hashPassword } from '../../../shared/security/passwords.ts';
import { AdminError } from '../admin-error.ts';
import { required, userId } from '../arguments.ts';
import { command, type Outcome } from '../command.ts';
import { lines, table } from '../text.ts';

export const userCreate = command({
  synopsis: '--email E [--name N] [--password-stdin]',
  options: {
    email: { type: 'string' },
    name: { type: 'string', default: '' },
    'password-stdin': { type: 'boolean', default: false },
  },
  operands: 0,
  read(values) {
    const email = required('--email', values.email);
    return async ({ em }) => {
      const password = await passwordOf(values);
      const { name } = values;
      checkUser({ email, name, password });
      const account = await create(em, { email, name, passwordHash: await hashPassword(password) });
      return withPassword(account, password, values);
    };
  },
});

export const userResetPassword = command({
  synopsis: 'USER_ID [--password-stdin] [--revoke-keys]',
  options: {
    'password-stdin': { type: 'boolean', default: false },
    'revoke-keys': { type: 'boolean', default: false },
  },
  operands: 1,
  read(values, operand) {
    const id = userId(operand);
    return async ({ em }) => {
      const account = await findAccount(em, id);
      if (account === undefined)
        throw new AdminError(`there is no active user ${id}: \`user list\` shows the users`);
      const { email, name } = account;
      const password = await passwordOf(values);
      checkUser({ email, name, password });
      const passwordHash = { to: await hashPassword(password) };
      const revokeKeys = values['revoke-keys'];
      return withPassword(await changeAccount(em, id, { passwordHash, revokeKeys }), password, values);
    };
  },
});

export const userList = command({
  synopsis: '',
  options: {},
  operands: 0,
  read:
    () =>
    async ({ em }) => {
      const data = (await listAccounts(em)).map(presentUser);
      return { data, text: table(data, ['id', 'email', 'name', 'active', 'created_at']) };
    },
});

export const userDisable = command({
  synopsis: 'USER_ID',
  options: {},
  operands: 1,
  read(_, operand) {
    const id = userId(operand);
    return async ({ em, config }) => {
      const account = await disableAccount(em, id, config.recoveryWindowS);
      if (account === undefined)
        throw new AdminError(`there is no user ${id}: \`user list\` shows the users`);
      const data = presentUser(account);
      return { data, text: `${lines(data)}\n\nAll credentials and connections of the user have ended.` };
    };
  },
});

interface PasswordOptions {
  'password-stdin': boolean;
}

/** One line of standard input, without its line break, or a random one. */
async function passwordOf({ 'password-stdin': given }: PasswordOptions): Promise<string> {
  return given
    ? (await readText(process.stdin)).replace(/\r?\n$/, '')
    : randomBytes(18).toString('base64url');
}

/** Shows the password only if nobody has chosen it. */
function withPassword(
  account: Account,
  password: string,
  { 'password-stdin': given }: PasswordOptions,
): Outcome {
  if (given) return { data: presentUser(account), text: lines(presentUser(account)) };
  const data = { ...presentUser(account), password };
  return { data, text: `${lines(data)}\n\nThe password is shown only this once.` };
}

const check = compile(NewUser);

/** Applies the rules of signing up. */
function checkUser(user: { email: string; name: string; password: string }): void {
  const result = check({ ...user });
  const [fault] = result.ok ? [] : result.faults;
  if (fault !== undefined) throw new AdminError(`${fault.loc.at(-1)}: ${fault.msg}`);
  const weakness = weaknessOf(user.password, user.email);
  if (weakness !== undefined) throw new AdminError(weakness);
}

async function create(em: EntityManager, account: NewAccount): Promise<Account> {
  try {
    return await createAccount(em, account);
  } catch (error) {
    if (error instanceof AppError && error.code === 'email_taken')
      throw new AdminError('there is a user with this e-mail address: `user list` shows the users');
    throw error;
  }
}

function presentUser({ id, email, name, active, createdAt }: Account) {
  return { id, email, name, active, created_at: createdAt };
}
