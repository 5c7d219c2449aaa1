import { hasScope, type UserPrincipal } from './account.ts';

/** The credential that brought a piece of evidence. */
export interface Witness {
  /** `login`, `import`, `recorded`, or the id of a key. */
  readonly name: string;
  /** False if it is no evidence of what the person said or did, but a report. */
  readonly vouches: boolean;
  /** Raw row with the person's own reply, which settles a prediction unless the person decides on it themselves. */
  readonly replyId?: string;
}

export const IMPORTER: Witness = { name: 'import', vouches: true };

/** Returns the caller as a witness of the person's own words (`record`) or decisions (`decide`). */
export function witnessOf(user: UserPrincipal, scope: 'record' | 'decide'): Witness {
  return { name: user.keyId ?? 'login', vouches: hasScope(user, [scope]) };
}

/** Origins that say less of the person than `reported`: such words are in no context. */
const PREDICTED = ['accepted_prediction', 'edited_prediction'];

/** Replaces the author of words that are only reported, because the reporter may have written them. */
export function originFrom<Origin extends string>(
  origin: Origin,
  { vouches }: Pick<Witness, 'vouches'>,
): Origin | 'reported' {
  return vouches || PREDICTED.includes(origin) ? origin : 'reported';
}

/** Returns the columns of a posted episode or fact, which is the agent's unless the caller vouches for the person. */
export function authorOf({ name, vouches }: Witness, origin: 'human' | 'agent' = 'human') {
  return { origin: vouches ? origin : ('agent' as const), witness: name };
}
