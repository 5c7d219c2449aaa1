import type { EntityManager } from '@mikro-orm/postgresql';
import { UniqueConstraintViolationException } from '@mikro-orm/postgresql';
import type { Account } from '../shared/db/entities/account.ts';
import { createAccount, findByEmail } from '../shared/db/stores/accounts.ts';
import { AppError } from '../shared/errors/app-error.ts';
import { hashPassword, verifyPassword } from '../shared/security/passwords.ts';

export interface SignUp {
  email: string;
  password: string;
  name: string;
  inviteCode: string | undefined;
  address: string;
}

export interface SignIn {
  email: string;
  password: string;
  address: string;
}

/** Signing up and in, for `/api` and for the consent page. */
export class AccountService {
  readonly #em: () => EntityManager;

  constructor(em: () => EntityManager) {
    this.#em = em;
  }

  /** The new account. Throws `email_taken`. */
  async signUp({ email, password, name }: SignUp): Promise<Account> {
    try {
      return await createAccount(this.#em(), { email, name, passwordHash: await hashPassword(password) });
    } catch (error) {
      if (error instanceof UniqueConstraintViolationException)
        throw new AppError('email_taken', { cause: error });
      throw error;
    }
  }

  /** The account, if the password is its own. Throws `invalid_credentials`, whichever of the two is wrong. */
  async signIn({ email, password }: SignIn): Promise<Account> {
    const account = await findByEmail(this.#em(), email);
    const right = await verifyPassword(password, account?.passwordHash);
    if (!right || account === undefined || !account.active) throw new AppError('invalid_credentials');
    return account;
  }
}
