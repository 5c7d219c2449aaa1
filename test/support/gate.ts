import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { until } from './until.ts';

export interface Visit<Subject> {
  subject: Subject;
  /** True if the worker aborted the run before it was let through. */
  aborted: boolean;
  letThrough(): void;
}

/** A server that work under test calls when it runs. The test decides when each run may continue. */
export class Gate<Subject> {
  readonly visits: Visit<Subject>[] = [];
  #open = true;
  readonly #server = createServer(async (request, response) => {
    // A worker killed while it sends does not count as a visit.
    const subject = await json(request).catch(() => undefined);
    if (subject === undefined) return;
    const visit = { subject: subject as Subject, aborted: false, letThrough: () => void response.end() };
    response.on('close', () => {
      visit.aborted = !response.writableEnded;
    });
    this.visits.push(visit);
    if (this.#open) visit.letThrough();
  });

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  shut(): void {
    this.#open = false;
  }

  open(): void {
    this.#open = true;
    for (const { letThrough } of this.visits) letThrough();
  }

  async visited(n: number, withinMs?: number): Promise<Visit<Subject>> {
    return until(() => this.visits[n - 1], withinMs);
  }

  reset(): void {
    this.open();
    this.visits.length = 0;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
