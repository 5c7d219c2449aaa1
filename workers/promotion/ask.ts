import type { End } from '../../shared/domain/work.ts';
import type { ErrorCode, ErrorSource } from '../../shared/errors/catalogue.ts';
import { ProviderError, type ProviderFault, SHORTEST_CALL_MS } from '../providers/provider.ts';
import type { Allowance } from '../work/handler.ts';

/** What is left of a job's time after the last question, to store what came of it. */
const STORING_MS = 250;
/** After so many calls in a row without an answer the provider is in trouble, not the pieces. */
const OUTAGES_MAX = 2;

const FAILURES: Record<ProviderFault, { code: ErrorCode; source?: ErrorSource }> = {
  timeout: { code: 'job_timeout', source: 'provider' },
  not_configured: { code: 'provider_not_configured' },
  rate_limited: { code: 'provider_rate_limited' },
  failed: { code: 'provider_failed' },
};

/** How a promotion ends when its provider fails. What it has stored until then stays. */
export function failureOf({ fault, retryAfterMs }: ProviderError): End<never> {
  return { state: 'failed', ...FAILURES[fault], retryAfterMs };
}

/** How long a model may take for an answer: as long as the provider may, but that the job has time to store it. */
export function answerMs({ leftMs }: Pick<Allowance, 'leftMs'>, providerTimeoutMs: number): number {
  return Math.min(providerTimeoutMs, leftMs() - STORING_MS);
}

/** What is promoted piece by piece. */
export interface Turns<Piece> {
  /** Resolves with whether a model was asked. */
  promote(piece: Piece): Promise<boolean>;
  /** What can be asked about by itself, of what is left of a piece. */
  partsOf(piece: Piece): readonly Piece[];
  /** Notes that a piece failed by its own doing. */
  setAside(piece: Piece, failure: ProviderError): Promise<void>;
}

/** A piece whose turn comes, with what it is a part of: a piece that failed, or all of them. */
interface Turn<Piece> {
  piece: Piece;
  whole: Whole;
}

interface Whole {
  isAll: boolean;
  /** A model answered about some of it. */
  answered: boolean;
}

/**
 * Promotes one piece after the other. A piece that fails by its own doing, because its answer cannot be used or takes too
 * long, holds up no others: it is set aside, and its parts get a second try after all others. Where some of them are
 * answered, what fails again is tried in smaller parts, and so on: it may be one row that spoils it. Resolves with a failure
 * that was not a piece's own doing; any counts as such when a model answered about no piece at all.
 */
export async function promoteEach<Piece>(
  pieces: readonly Piece[],
  { promote, partsOf, setAside }: Turns<Piece>,
  allowance: Allowance,
  providerTimeoutMs: number,
): Promise<ProviderError | undefined> {
  const fairMs = answerMs(allowance, providerTimeoutMs) / 2;
  const all: Whole = { isAll: true, answered: false };
  let answered = false;
  let failure: ProviderError | undefined;
  let unexplained: ProviderError | undefined;
  let round: Turn<Piece>[] = pieces.map((piece) => ({ piece, whole: all }));
  while (round.length > 0) {
    const again: Turn<Piece>[] = [];
    let outages = 0;
    for (const turn of round) {
      const { piece, whole } = turn;
      const ms = answerMs(allowance, providerTimeoutMs);
      if (failure !== undefined && ms < SHORTEST_CALL_MS) return failure;
      try {
        if (!(await promote(piece))) continue;
        answered = true;
        whole.answered = true;
        outages = 0;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        failure = error;
        const { fault, outage } = error;
        if (fault === 'rate_limited' || fault === 'not_configured') return error;
        const isOwn = fault === 'timeout' ? outage && ms >= fairMs : !outage;
        if (isOwn) await setAside(piece, error);
        outages = outage ? outages + 1 : 0;
        if (outages === OUTAGES_MAX) return error;
        const isDivisible = partsOf(piece).length > 1;
        if (whole.isAll ? fault === 'timeout' || isDivisible : isOwn && isDivisible) again.push(turn);
        else if (!isOwn) unexplained = error;
      }
    }
    round = again
      .filter(({ whole }) => whole.isAll || whole.answered)
      .flatMap(({ piece }) => turnsOf(partsOf(piece)));
  }
  return answered ? unexplained : failure;
}

function turnsOf<Piece>(parts: readonly Piece[]): Turn<Piece>[] {
  const whole = { isAll: false, answered: false };
  return parts.map((piece) => ({ piece, whole }));
}
