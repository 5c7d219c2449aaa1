import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../../shared/db/entities/account.ts';
import type { Passkey } from '../../shared/db/entities/passkey.ts';
import { findAccount } from '../../shared/db/stores/accounts.ts';
import {
  addPasskey,
  findPasskey,
  issueChallenge,
  listPasskeys,
  notePasskeyUse,
  takeChallenge,
} from '../../shared/db/stores/passkeys.ts';
import { requireLogin, type UserPrincipal } from '../../shared/domain/account.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type {
  PasskeyAssertion,
  PasskeyAttestation,
  PasskeyCreation,
  PasskeyRequest,
} from '../../shared/schemas/passkeys.ts';
import { isToken } from '../../shared/security/keys.ts';
import { type Limiter, type LimiterFactory, takeOrRefuse } from '../limits/limiter.ts';
import { networkOf } from '../request/address.ts';
import type { Mailer } from './mailer.ts';

/** As for wrong passwords. Each challenge is good for one try. */
const CHALLENGES = { name: 'passkey-network', points: 100, windowS: 15 * 60 };
const TIMEOUT_MS = 5 * 60 * 1000;
const RP_NAME = 'Forecue';
/** EdDSA, ES256 and RS256 (RFC 9053). */
const ALGORITHMS = [-8, -7, -257];

interface PasskeyParts {
  em: () => EntityManager;
  limits: LimiterFactory;
  mailer: Mailer | undefined;
  publicUrl: string;
}

/** Registers passkeys for the origin of `publicUrl`, and checks log-ins with them. */
export class Passkeys {
  readonly #parts: PasskeyParts;
  readonly #challenges: Limiter;
  readonly #place: { expectedOrigin: string; expectedRPID: string };

  constructor(parts: PasskeyParts) {
    const { origin, hostname } = new URL(parts.publicUrl);
    this.#parts = parts;
    this.#challenges = parts.limits.open(CHALLENGES);
    this.#place = { expectedOrigin: origin, expectedRPID: hostname };
  }

  async startRegistration({ id }: UserPrincipal): Promise<PasskeyCreation> {
    const { em } = this.#parts;
    const account = await findAccount(em(), id);
    if (account === undefined) throw new AppError('not_authenticated');
    const known = await listPasskeys(em(), id);
    const type = 'public-key' as const;
    return {
      rp: { name: RP_NAME, id: this.#place.expectedRPID },
      // The id is the user handle. It is no secret, and does not change with the address.
      user: { id: Buffer.from(id).toString('base64url'), name: account.email, displayName: account.name },
      challenge: await issueChallenge(em(), id),
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type })),
      timeout: TIMEOUT_MS,
      attestation: 'none',
      excludeCredentials: known.map(({ credentialId, transports }) => ({
        id: credentialId,
        type,
        transports,
      })),
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
    };
  }

  /**
   * Throws `access_denied` for anything but the first answer of an authenticator to a challenge of the account, and what
   * `addPasskey` throws.
   */
  async register(user: UserPrincipal, name: string, credential: PasskeyAttestation): Promise<Passkey> {
    const { em, mailer } = this.#parts;
    const caller = requireLogin(user);
    const registered = await this.#verifyAttestation(user.id, credential);
    if (registered === undefined) throw new AppError('access_denied', { explanation: NO_ANSWER });
    const { id, publicKey, counter } = registered.credential;
    const passkey = await addPasskey(em(), user.id, caller, {
      credentialId: id,
      publicKey: Buffer.from(publicKey),
      counter,
      transports: credential.response.transports ?? [],
      name,
      backedUp: registered.credentialBackedUp,
    });
    mailer?.send(async () => {
      const account = await findAccount(em(), user.id);
      const subject = 'A passkey was added to your Forecue account';
      return account && { to: account.email, subject, text: addedText(this.#parts.publicUrl) };
    });
    return passkey;
  }

  async #verifyAttestation(accountId: string, credential: PasskeyAttestation) {
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    const result = await this.#judge(accountId, (expectedChallenge) =>
      verifyRegistrationResponse({
        ...this.#place,
        response: { ...credential, clientExtensionResults: {} },
        expectedChallenge,
        supportedAlgorithmIDs: ALGORITHMS,
      }),
    );
    return result?.verified ? result.registrationInfo : undefined;
  }

  /** Throws `rate_limited`. */
  async startLogIn(address: string): Promise<PasskeyRequest> {
    await takeOrRefuse(this.#challenges, networkOf(address));
    const challenge = await issueChallenge(this.#parts.em(), null);
    return { challenge, rpId: this.#place.expectedRPID, timeout: TIMEOUT_MS, userVerification: 'required' };
  }

  /** Returns the account. Throws `invalid_credentials`, also for a disabled one. */
  async check(credential: PasskeyAssertion, address: string): Promise<Account> {
    const { em } = this.#parts;
    const passkey = await findPasskey(em(), credential.id);
    const used = await this.#verifyAssertion(passkey, credential);
    if (passkey === undefined || used === undefined || !(await notePasskeyUse(em(), passkey, used)))
      throw new AppError('invalid_credentials');
    await this.#challenges.refund(networkOf(address));
    return passkey.account as Account;
  }

  async #verifyAssertion(passkey: Passkey | undefined, credential: PasskeyAssertion) {
    if (passkey === undefined) return undefined;
    // Imports the package only when it is needed, because the import takes long.
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const { credentialId: id, publicKey, counter } = passkey;
    const result = await this.#judge(null, (expectedChallenge) =>
      verifyAuthenticationResponse({
        ...this.#place,
        response: { ...credential, clientExtensionResults: {} },
        expectedChallenge,
        credential: { id, publicKey: new Uint8Array(publicKey), counter },
      }),
    );
    if (!result?.verified) return undefined;
    const { newCounter, credentialBackedUp } = result.authenticationInfo;
    return { counter: newCounter, backedUp: credentialBackedUp };
  }

  /**
   * Returns undefined for an answer in which the package finds a fault, which it throws. The challenge is used up as
   * soon as it is compared. Throws what the store throws.
   */
  async #judge<Result>(
    accountId: string | null,
    verify: (isExpected: (challenge: string) => Promise<boolean>) => Promise<Result>,
  ): Promise<Result | undefined> {
    const { em } = this.#parts;
    let failure: unknown;
    const isExpected = async (challenge: string) => {
      try {
        return isToken(challenge) && (await takeChallenge(em(), challenge, accountId));
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    try {
      return await verify(isExpected);
    } catch {
      if (failure !== undefined) throw failure;
      return undefined;
    }
  }
}

const NO_ANSWER = 'This is no answer of an authenticator to a challenge of this account.';

const addedText = (publicUrl: string) => `It can be used to log in beside your password.

If it was not you, remove it on the page Account of ${publicUrl}/console/, and set a new password:

${publicUrl}/connect/forgotten-password
`;
