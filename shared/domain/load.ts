/** What an ingress sees of the queue at one moment. */
export interface QueueSnapshot {
  /** Milliseconds of any steady clock. */
  at: number;
  /** How many predictions of each app wait in the queue. */
  queuedByApp: Map<string, number>;
  /** For how long the oldest of them has waited. */
  oldestMs: number;
  /** Predictions that the living workers have taken so far. */
  claimed: number;
}

/** How much of a new measurement counts: one spell alone says little. */
const WEIGHT = 0.5;
/** Shorter spells measure chance. */
const SHORTEST_SPELL_MS = 300;
/** A queue whose oldest is younger is only on its way through. */
const STANDING_MS = 150;
/** What a prediction needs at its provider, until one was measured. */
const FIRST_SERVICE_MS = 500;
const SERVICE_WEIGHT = 0.1;

/**
 * Estimates how long a new prediction would take, from what was measured: what the workers took while a queue stood is
 * what they can take. Apps take turns, so that of each other app only as many go before a prediction as its own app
 * already has waiting.
 */
export class LoadEstimate {
  #latest: QueueSnapshot | undefined;
  #spellStart: QueueSnapshot | undefined;
  #perMs: number | undefined;
  #serviceMs = FIRST_SERVICE_MS;

  /** Whether the latest snapshot found a queue that stands. */
  get hasQueue(): boolean {
    return this.#latest !== undefined && this.#latest.oldestMs >= STANDING_MS;
  }

  /** Takes a snapshot in. */
  observe(snapshot: QueueSnapshot): void {
    this.#latest = snapshot;
    const start = this.#spellStart;
    if (!this.hasQueue) {
      this.#spellStart = undefined;
    } else if (start === undefined || snapshot.claimed < start.claimed) {
      this.#spellStart = snapshot;
    } else if (snapshot.at - start.at >= SHORTEST_SPELL_MS && snapshot.claimed > start.claimed) {
      this.#learn((snapshot.claimed - start.claimed) / (snapshot.at - start.at));
      this.#spellStart = snapshot;
    }
  }

  /** Forgets what was measured: the queue was away, which says nothing about the workers. */
  forget(): void {
    this.#spellStart = undefined;
    this.#perMs = undefined;
  }

  /** Counts a prediction that joined the queue since the latest snapshot. */
  joined(appId: string): void {
    const queued = this.#latest?.queuedByApp;
    queued?.set(appId, (queued.get(appId) ?? 0) + 1);
  }

  /** Learns from an answer how long the work itself takes. */
  served(ms: number): void {
    this.#serviceMs += SERVICE_WEIGHT * (ms - this.#serviceMs);
  }

  /** Milliseconds until an app's next prediction would be answered; 0 while no queue stands, or nothing was measured yet. */
  answerMs(appId: string): number {
    if (this.#latest === undefined || !this.hasQueue || this.#perMs === undefined) return 0;
    const { queuedByApp } = this.#latest;
    const own = queuedByApp.get(appId) ?? 0;
    let ahead = 0;
    for (const queued of queuedByApp.values()) ahead += Math.min(queued, own + 1);
    return ahead / this.#perMs + this.#serviceMs;
  }

  #learn(perMs: number): void {
    this.#perMs = this.#perMs === undefined ? perMs : WEIGHT * perMs + (1 - WEIGHT) * this.#perMs;
  }
}
