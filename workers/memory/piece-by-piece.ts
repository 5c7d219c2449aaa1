import { ProviderError, SHORTEST_CALL_MS } from '../providers/provider.ts';

/** Number of consecutive outages after which the provider, not a piece, counts as the cause. */
const OUTAGES_MAX = 2;
/** Number of consecutive failures of any kind after which the model counts as the cause. */
const FAILURES_MAX = 5;

export interface PieceSteps<Piece> {
  /** Promotes a piece: rows or sources that are promoted together. Resolves with whether a model was asked. */
  promote(piece: Piece): Promise<boolean>;
  /** Splits the unfinished rest of a piece into pieces that can be promoted separately. */
  split(piece: Piece): readonly Piece[];
  setAside(piece: Piece, failure: ProviderError): Promise<void>;
}

/**
 * Promotes one piece after the other. A piece with an unusable or late answer is set aside, split, and tried again
 * after all others, because a single row may be the cause. Its parts are split again only if the model answered for one
 * of them. Throws a `ProviderError` if the provider is the cause, if a piece fails for good without being the cause, if
 * the model never answered, or if the time ends after a failure. `answerMs` returns the maximum time for an answer that
 * begins now.
 */
export function promoteEach<Piece>(
  pieces: readonly Piece[],
  steps: PieceSteps<Piece>,
  answerMs: () => number,
): Promise<void> {
  return new PieceTries(steps, answerMs).promoteAll(pieces);
}

class PieceTries<Piece> {
  readonly #steps: PieceSteps<Piece>;
  readonly #answerMs: () => number;
  /** If a call has less time than this for its answer, a timeout is not the piece's fault. */
  readonly #fairMs: number;
  #hasAnswer = false;
  #outages = 0;
  #failures = 0;
  #failure: ProviderError | undefined;
  /** The last failure that was not its piece's fault, of a piece that will not be tried again. */
  #unexplainedFailure: ProviderError | undefined;

  constructor(steps: PieceSteps<Piece>, answerMs: () => number) {
    this.#steps = steps;
    this.#answerMs = answerMs;
    this.#fairMs = answerMs() / 2;
  }

  async promoteAll(pieces: readonly Piece[]): Promise<void> {
    let groups = [pieces];
    for (let isFirst = true; groups.length > 0; isFirst = false)
      groups = await this.#tryGroups(groups, isFirst);
    const failure = this.#hasAnswer ? this.#unexplainedFailure : this.#failure;
    if (failure !== undefined) throw failure;
  }

  /**
   * Tries all groups. Resolves with the groups for the next call: for each failed piece, a group of its parts. After
   * the first call, leaves out pieces of groups without an answer.
   */
  async #tryGroups(groups: readonly (readonly Piece[])[], isFirst: boolean): Promise<(readonly Piece[])[]> {
    this.#outages = 0;
    const nextGroups: (readonly Piece[])[] = [];
    for (const group of groups) {
      const { failedPieces, hasAnswer } = await this.#tryGroup(group, isFirst);
      if (isFirst || hasAnswer) nextGroups.push(...failedPieces.map((piece) => this.#steps.split(piece)));
    }
    return nextGroups;
  }

  async #tryGroup(
    group: readonly Piece[],
    isFirst: boolean,
  ): Promise<{ failedPieces: Piece[]; hasAnswer: boolean }> {
    const failedPieces: Piece[] = [];
    let hasAnswer = false;
    for (const piece of group) {
      const ms = this.#answerMs();
      if (this.#failure !== undefined && ms < SHORTEST_CALL_MS) throw this.#failure;
      try {
        if (!(await this.#steps.promote(piece))) continue;
        hasAnswer = true;
        this.#outages = 0;
        this.#failures = 0;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        if (await this.#mayTryAgain(piece, error, { hadTime: ms >= this.#fairMs, isFirst }))
          failedPieces.push(piece);
      }
    }
    this.#hasAnswer ||= hasAnswer;
    return { failedPieces, hasAnswer };
  }

  /** Resolves with whether to try the piece again. Throws the failure if it would hit any other piece as well. */
  async #mayTryAgain(
    piece: Piece,
    failure: ProviderError,
    { hadTime, isFirst }: { hadTime: boolean; isFirst: boolean },
  ): Promise<boolean> {
    const { fault, outage } = failure;
    this.#failure = failure;
    if (fault === 'rate_limited' || fault === 'not_configured') throw failure;
    const isPieceFault = fault === 'timeout' ? outage && hadTime : !outage;
    if (isPieceFault) await this.#steps.setAside(piece, failure);
    this.#outages = outage ? this.#outages + 1 : 0;
    this.#failures += 1;
    if (this.#outages === OUTAGES_MAX || this.#failures === FAILURES_MAX) throw failure;
    const isDivisible = this.#steps.split(piece).length > 1;
    const mayTryAgain = isFirst ? fault === 'timeout' || isDivisible : isPieceFault && isDivisible;
    if (!mayTryAgain && !isPieceFault) this.#unexplainedFailure = failure;
    return mayTryAgain;
  }
}
