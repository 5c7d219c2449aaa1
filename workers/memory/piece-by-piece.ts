import { ProviderError, SHORTEST_CALL_MS } from '../providers/provider.ts';

/** After so many calls in a row without an answer the provider is in trouble, not the pieces. */
const OUTAGES_MAX = 2;

/** Steps by which pieces are promoted one by one. */
export interface PieceSteps<Piece> {
  /** Resolves with whether a model was asked. */
  promote(piece: Piece): Promise<boolean>;
  /** Parts of what is left of a piece that can be asked about alone. */
  partsOf(piece: Piece): readonly Piece[];
  /** Notes that a piece failed by its own doing. */
  setAside(piece: Piece, failure: ProviderError): Promise<void>;
}

/**
 * Promotes one piece after the other. A piece that fails by its own doing, because its answer cannot be used or takes too
 * long, holds up no others: it is set aside, and its parts get a second try after all others. Where some of them are
 * answered, what fails again is tried in smaller parts, and so on: it may be one row that spoils it. Throws a
 * `ProviderError` that was not a piece's own doing; any counts as such when a model answered about no piece at all.
 * `answerMs` says how long a model may take for an answer now.
 */
export function promoteEach<Piece>(
  pieces: readonly Piece[],
  steps: PieceSteps<Piece>,
  answerMs: () => number,
): Promise<void> {
  return new Tries(steps, answerMs).promoteAll(pieces);
}

class Tries<Piece> {
  readonly #steps: PieceSteps<Piece>;
  readonly #answerMs: () => number;
  /** A time-out is a piece's own doing only if the model had this long. */
  readonly #fairMs: number;
  #hasAnswer = false;
  /** Calls in a row without an answer. */
  #outages = 0;
  #failure: ProviderError | undefined;
  /** Failure of a piece that is not tried again, and not its own doing. */
  #unexplained: ProviderError | undefined;

  constructor(steps: PieceSteps<Piece>, answerMs: () => number) {
    this.#steps = steps;
    this.#answerMs = answerMs;
    this.#fairMs = answerMs() / 2;
  }

  async promoteAll(pieces: readonly Piece[]): Promise<void> {
    let groups = [pieces];
    for (let isFirst = true; groups.length > 0; isFirst = false) groups = await this.#round(groups, isFirst);
    const failure = this.#hasAnswer ? this.#unexplained : this.#failure;
    if (failure !== undefined) throw failure;
  }

  /** Tries all pieces. Resolves with the parts of those that are worth another round, grouped by piece. */
  async #round(groups: readonly (readonly Piece[])[], isFirst: boolean): Promise<(readonly Piece[])[]> {
    this.#outages = 0;
    const again: (readonly Piece[])[] = [];
    for (const group of groups) {
      const { failed, hasAnswer } = await this.#tryGroup(group, isFirst);
      if (isFirst || hasAnswer) again.push(...failed.map((piece) => this.#steps.partsOf(piece)));
    }
    return again;
  }

  async #tryGroup(
    group: readonly Piece[],
    isFirst: boolean,
  ): Promise<{ failed: Piece[]; hasAnswer: boolean }> {
    const failed: Piece[] = [];
    let hasAnswer = false;
    for (const piece of group) {
      const ms = this.#answerMs();
      if (this.#failure !== undefined && ms < SHORTEST_CALL_MS) throw this.#failure;
      try {
        if (!(await this.#steps.promote(piece))) continue;
        hasAnswer = true;
        this.#outages = 0;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        if (await this.#mayTryAgain(piece, error, { hadTime: ms >= this.#fairMs, isFirst }))
          failed.push(piece);
      }
    }
    this.#hasAnswer ||= hasAnswer;
    return { failed, hasAnswer };
  }

  /** Throws the failure when no other piece can do better. */
  async #mayTryAgain(
    piece: Piece,
    failure: ProviderError,
    { hadTime, isFirst }: { hadTime: boolean; isFirst: boolean },
  ): Promise<boolean> {
    const { fault, outage } = failure;
    this.#failure = failure;
    if (fault === 'rate_limited' || fault === 'not_configured') throw failure;
    const isOwn = fault === 'timeout' ? outage && hadTime : !outage;
    if (isOwn) await this.#steps.setAside(piece, failure);
    this.#outages = outage ? this.#outages + 1 : 0;
    if (this.#outages === OUTAGES_MAX) throw failure;
    const isDivisible = this.#steps.partsOf(piece).length > 1;
    const mayTryAgain = isFirst ? fault === 'timeout' || isDivisible : isOwn && isDivisible;
    if (!mayTryAgain && !isOwn) this.#unexplained = failure;
    return mayTryAgain;
  }
}
