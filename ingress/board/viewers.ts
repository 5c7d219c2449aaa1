import type { ServerResponse } from 'node:http';
import { every, type Repetition } from '../../shared/timing/every.ts';
import type { BoardSnapshot } from './snapshot.ts';

const REFRESH_MS = 2000;
const SNAPSHOT_MAX_AGE_MS = 1000;
const VIEWERS_MAX = 50;
/** Time after which a stream ends. The browser then reconnects, which needs a valid session. */
const STREAM_MAX_MS = 15 * 60 * 1000;

interface Viewer {
  response: ServerResponse;
  isSignedIn: () => Promise<boolean>;
  shown: Record<string, string>;
}

export interface BoardSource {
  read(): Promise<BoardSnapshot>;
  /** Returns the HTML of each section, by the id of its element in the page. */
  render(snapshot: BoardSnapshot): Record<string, string>;
  /** Returns the HTML of each section when reading a snapshot has failed. */
  renderFailure(error: unknown): Record<string, string>;
}

/** Viewers of the board. A refresh reads one snapshot for all of them. Without viewers, nothing is refreshed. */
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

  /** Reads a snapshot, or returns the latest if it is less than a second old. */
  async latest(): Promise<BoardSnapshot> {
    if (this.#latest !== undefined && performance.now() - this.#latest.at < SNAPSHOT_MAX_AGE_MS)
      return this.#latest.snapshot;
    this.#reading ??= this.#source.read().finally(() => {
      this.#reading = undefined;
    });
    const snapshot = await this.#reading;
    this.#latest = { at: performance.now(), snapshot };
    return snapshot;
  }

  /** Streams the sections as they change (server-sent events) while `isSignedIn`, for `STREAM_MAX_MS` at most. */
  add(response: ServerResponse, isSignedIn: () => Promise<boolean>): void {
    const viewer = { response, isSignedIn, shown: {} };
    this.#viewers.add(viewer);
    // `response.end` would wait for a viewer that reads nothing, such as a sleeping laptop.
    const endTimer = setTimeout(() => response.destroy(), STREAM_MAX_MS);
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
    await Promise.all([...this.#viewers].map((viewer) => this.#show(viewer, sections)));
  }

  /** While the database does not answer, nobody can sign out, and the sections say so. */
  async #show(viewer: Viewer, sections: Record<string, string>): Promise<void> {
    if (await viewer.isSignedIn().catch(() => true)) send(viewer, sections);
    else viewer.response.destroy();
  }

  close(): void {
    for (const { response } of this.#viewers) response.destroy();
  }
}

/** Sends the sections that have changed. Sends nothing while the viewer has unread data. */
function send(viewer: Viewer, sections: Record<string, string>): void {
  if (viewer.response.writableNeedDrain) return;
  const changed = Object.entries(sections).filter(([id, text]) => viewer.shown[id] !== text);
  viewer.shown = { ...viewer.shown, ...sections };
  viewer.response.write(`data: ${JSON.stringify(Object.fromEntries(changed))}\n\n`);
}
