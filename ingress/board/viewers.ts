import type { ServerResponse } from 'node:http';
import { every, type Repetition } from '../../shared/timing/every.ts';
import type { BoardSnapshot } from './snapshot.ts';

const REFRESH_MS = 2000;
/** Maximum age of a snapshot that is shown again. */
const FRESH_MS = 1000;
const VIEWERS_MAX = 50;
/** Time after which a stream ends. The browser then connects again, which needs a valid session. */
const STREAM_MS = 15 * 60 * 1000;

interface Viewer {
  response: ServerResponse;
  /** Content of each section as sent to this viewer. */
  shown: Record<string, string>;
}

/** Source of the board's snapshots, and of the sections that show them. */
export interface BoardSource {
  read(): Promise<BoardSnapshot>;
  /** Renders the sections of the page, by the ids of their elements. */
  render(snapshot: BoardSnapshot): Record<string, string>;
  /** Renders the replacement of all sections when a read has failed. */
  renderFailure(error: unknown): Record<string, string>;
}

/**
 * Viewers of the board, who share one set of statements per refresh. Without viewers, nothing is refreshed.
 */
export class Viewers {
  readonly #source: BoardSource;
  readonly #viewers = new Set<Viewer>();
  #latest: { at: number; snapshot: BoardSnapshot } | undefined;
  #reading: Promise<BoardSnapshot> | undefined;
  #refreshes: Repetition | undefined;

  constructor(source: BoardSource) {
    this.#source = source;
  }

  get isFull(): boolean {
    return this.#viewers.size >= VIEWERS_MAX;
  }

  /** Reads a snapshot, or returns the latest if its read ended within the last second. */
  async latest(): Promise<BoardSnapshot> {
    if (this.#latest !== undefined && performance.now() - this.#latest.at < FRESH_MS)
      return this.#latest.snapshot;
    this.#reading ??= this.#source.read().finally(() => {
      this.#reading = undefined;
    });
    const snapshot = await this.#reading;
    this.#latest = { at: performance.now(), snapshot };
    return snapshot;
  }

  /** Streams the sections as they change (server-sent events), until the viewer leaves, for `STREAM_MS` at most. */
  add(response: ServerResponse): void {
    const viewer = { response, shown: {} };
    this.#viewers.add(viewer);
    // Avoids `response.end`, which would wait for a viewer that reads nothing, such as a laptop that sleeps.
    const endTimer = setTimeout(() => response.destroy(), STREAM_MS);
    response.once('close', () => {
      clearTimeout(endTimer);
      this.#viewers.delete(viewer);
      if (this.#viewers.size > 0) return;
      void this.#refreshes?.stop();
      this.#refreshes = undefined;
    });
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    response.write('retry: 2000\n\n');
    this.#refreshes ??= every(REFRESH_MS, () => this.#refresh(), { atOnce: true, ref: false });
  }

  async #refresh(): Promise<void> {
    const sections = await this.latest().then(this.#source.render, this.#source.renderFailure);
    for (const viewer of this.#viewers) send(viewer, sections);
  }

  close(): void {
    for (const { response } of this.#viewers) response.destroy();
  }
}

/** Sends a viewer the sections that have changed, unless the viewer has not read the previous ones yet. */
function send(viewer: Viewer, sections: Record<string, string>): void {
  if (viewer.response.writableNeedDrain) return;
  const changed = Object.entries(sections).filter(([id, text]) => viewer.shown[id] !== text);
  viewer.shown = { ...viewer.shown, ...sections };
  viewer.response.write(`data: ${JSON.stringify(Object.fromEntries(changed))}\n\n`);
}
