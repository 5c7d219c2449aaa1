import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PromoteResult, SyncResult } from '../../shared/schemas/jobs.ts';
import type { ScoredFact, ScoredRaw } from './scoring.ts';

export const PROMOTIONS = ['episodes', 'facts'] as const;
export type Promotion = (typeof PROMOTIONS)[number];

/** Statuses of temporary provider failures. A promotion keeps what it has done, so it is simply started again. */
const TEMPORARY_STATUSES = [429, 502, 503, 504];
const TRIES_MAX = 5;
const PAUSE_MS = 2000;

export class Person {
  readonly #url: string;
  readonly #email = `${randomUUID()}@example.com`;
  readonly #password = randomUUID();
  #authorization = '';
  id = '';
  /** Number of temporary failures after which a call was repeated. */
  failures = 0;

  private constructor(url: string) {
    this.#url = url;
  }

  static async signUp(url: string): Promise<Person> {
    const person = new Person(url);
    await person.#authenticate('signup');
    return person;
  }

  /** Posts events as one batch. Throws if one of them is not new. */
  async record(events: readonly object[]): Promise<void> {
    const { accepted } = await this.request<{ accepted: number }>('POST', '/api/recording/events/', events);
    if (accepted !== events.length) throw new Error(`${accepted} of ${events.length} events were accepted`);
  }

  sync(): Promise<SyncResult> {
    return this.request('POST', '/api/memory/sync/', {});
  }

  async promote(tier: Promotion): Promise<PromoteResult[]> {
    const results: PromoteResult[] = [];
    for (;;) {
      const result = await this.#postPatiently<PromoteResult>(`/api/memory/promote/${tier}/`, { limit: 500 });
      results.push(result);
      if (result.considered === 0) return results;
    }
  }

  raw(query = ''): Promise<ScoredRaw[]> {
    return this.#list('raw', query);
  }

  async facts(): Promise<ScoredFact[]> {
    const facts = await this.#list<FactRow>('facts');
    const now = new Date().toISOString();
    const current = facts.filter(
      ({ superseded_by, stale_at, valid_to }) =>
        superseded_by === null && stale_at === null && (valid_to === null || valid_to > now),
    );
    return Promise.all(current.map(({ id }) => this.request<FactRow>('GET', `/api/memory/facts/${id}/`)));
  }

  async context(goal?: string): Promise<string[]> {
    const body = { ...(goal !== undefined && { goal }), max_facts: 100 };
    const { facts } = await this.request<{ facts: { text: string }[] }>('POST', '/api/memory/context/', body);
    return facts.map(({ text }) => text);
  }

  async forget(rows: readonly ScoredRaw[]): Promise<void> {
    for (const { id } of rows)
      await this.request('DELETE', `/api/memory/raw/${id}/?purge_event=true`, undefined);
  }

  /** Returns the rows of all tiers, the former wordings of facts, a context and the export, as the API shows them. */
  async everything(): Promise<unknown[]> {
    const [raw, episodes, facts, context, exported] = await Promise.all([
      this.raw(),
      this.#list<object>('episodes'),
      this.#list<{ id: string }>('facts'),
      this.request('POST', '/api/memory/context/', { recency_minutes: 10080, max_facts: 100 }),
      this.#send('GET', '/api/export/').then((response) => response.text()),
    ]);
    const details = await Promise.all(
      facts.map(async ({ id }) => [
        await this.request('GET', `/api/memory/facts/${id}/`),
        await this.request('GET', `/api/memory/facts/?revision_of=${id}`),
      ]),
    );
    return [
      raw,
      episodes,
      details,
      context,
      ...exported
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ];
  }

  async erase(): Promise<void> {
    // Erasing needs a recent log-in.
    await this.#authenticate('login');
    await this.request('DELETE', '/api/auth/me/');
  }

  async request<Body>(method: string, path: string, body?: object): Promise<Body> {
    const response = await this.#send(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  }

  async #authenticate(way: 'signup' | 'login'): Promise<void> {
    const body = { email: this.#email, password: this.#password };
    const { access, user } = await this.request<{ access: string; user: { id: string } }>(
      'POST',
      `/api/auth/${way}/`,
      body,
    );
    this.#authorization = `Bearer ${access}`;
    this.id = user.id;
  }

  async #list<Row>(tier: string, query = ''): Promise<Row[]> {
    const rows: Row[] = [];
    for (let cursor = ''; ; ) {
      const page: { results: Row[]; next: string | null } = await this.request(
        'GET',
        `/api/memory/${tier}/?limit=200${query}${cursor}`,
      );
      rows.push(...page.results);
      if (page.next === null) return rows;
      cursor = `&cursor=${page.next}`;
    }
  }

  async #postPatiently<Body>(path: string, body: object): Promise<Body> {
    for (let tries = 1; ; tries += 1) {
      const response = await this.#send('POST', path, body);
      const text = await response.text();
      if (response.ok) return JSON.parse(text);
      if (!TEMPORARY_STATUSES.includes(response.status) || tries === TRIES_MAX)
        throw new Error(`${path} was answered ${response.status} ${text}`);
      this.failures += 1;
      await sleep(Math.max(PAUSE_MS, 1000 * Number(response.headers.get('retry-after') ?? 0)));
    }
  }

  #send(method: string, path: string, body?: object): Promise<Response> {
    return fetch(this.#url + path, {
      method,
      headers: { 'content-type': 'application/json', authorization: this.#authorization },
      ...(body && { body: JSON.stringify(body) }),
    });
  }
}

interface FactRow extends ScoredFact {
  superseded_by: string | null;
  stale_at: string | null;
  valid_to: string | null;
}
