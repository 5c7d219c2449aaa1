import { approveAttempt } from '../../../shared/db/stores/connections/attempts.ts';
import { createInvite } from '../../../shared/db/stores/invites.ts';
import { challengeOf } from '../../../shared/security/fingerprint.ts';
import { signUp, type UserClient } from '../account.ts';
import type { AppClient } from '../client.ts';
import { REDIRECT_URI } from '../connection.ts';
import type { System } from '../system.ts';
import { type Json, type Operation, operations } from './document.ts';
import type { Credentials } from './forms.ts';
import { pages, type ShownForm, shownBy } from './pages.ts';
import type { Request, Surroundings } from './request.ts';
import type { Received } from './send.ts';

interface Person {
  client: UserClient;
  key: string;
}

const PEOPLE = 3;
/** Pools of values that only their owner can find. */
const OWNED_POOLS = [
  'keys',
  'events',
  'sessions',
  'refreshes',
  'raw rows',
  'episodes',
  'facts',
  'replies',
  'jobs',
];
const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000';
const REMEMBERED_MAX = 64;
/** Size from which bodies are not remembered, which excludes deeply nested ones too. */
const REMEMBERED_BYTES_MAX = 5000;
/** A person is replaced after this many requests: their account grows, and reads take ever longer. */
const REQUESTS_OF_A_PERSON = 10_000;

/** Verifier of all attempts, so that each can be exchanged. */
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = challengeOf(VERIFIER);

/** The fuzzed installation: its callers, and everything that a run has made in it so far. */
export class World {
  readonly #system: System;
  readonly #apps: AppClient[];
  readonly #people: Person[];
  readonly #pools = new Map<string, Json[]>();
  readonly #gone = new Set<Person>();
  #requests = 0;

  private constructor(system: System, apps: AppClient[], people: Person[]) {
    this.#system = system;
    this.#apps = apps;
    this.#people = people;
  }

  /** Creates an app, an app with a cap of 0, and a few people. Fills the pools that answers do not fill. */
  static async open(system: System): Promise<World> {
    const redirectUris = [REDIRECT_URI];
    const apps = await Promise.all([
      system.app({ redirectUris }),
      system.app({ redirectUris, plan: 'paid', capCents: 0 }),
    ]);
    const people = await Promise.all(Array.from({ length: PEOPLE }, () => newPerson(system)));
    const world = new World(system, apps, people);
    await world.#fill();
    return world;
  }

  /** Returns what a caller knows of the installation. At least three in four owned values are the caller's own. */
  around(caller: number): Surroundings {
    return {
      lookUp: (alias, nth) => {
        const pool = ALIASES[alias] ?? alias;
        const owner = nth % 4 === 0 ? nth : caller;
        const values = this.#pools.get(OWNED_POOLS.includes(pool) ? this.#poolOf(pool, owner) : pool) ?? [];
        return values[(nth >> 2) % values.length] ?? UNKNOWN_ID;
      },
      credential: (operation) => this.#credential(operation, caller),
    };
  }

  #credential({ credential }: Operation, caller: number): Credentials {
    const [app, capped] = this.#apps;
    const person = this.#people[caller % this.#people.length];
    if (app === undefined || capped === undefined || person === undefined) throw new Error('nobody calls');
    const key = caller % 20 === 0 ? capped.key : app.key;
    const { access } = person.client;
    return credential === 'app'
      ? { bearer: key, key: person.key, other: access }
      : { bearer: access, key: person.key, other: key };
  }

  async learn(
    { operation, method, target, headers: sent, json }: Request,
    { caller }: { caller: number },
    { status, headers, text }: Received,
  ): Promise<void> {
    this.#requests += 1;
    if (this.#requests % REQUESTS_OF_A_PERSON === 0)
      await this.#replace(this.#requests / REQUESTS_OF_A_PERSON);
    if (status === 401 && operation.credential === 'user') return this.#replaceGone(sent);
    if (status >= 300) return;
    // Also matches a request whose method a twist has changed.
    if (method === 'DELETE' && operation.path === '/api/auth/me/') return this.#replace(caller);
    if (operation.id === 'showConsent')
      return this.#rememberForm(shownBy(target, String(headers['set-cookie'] ?? ''), text));
    const [body, answered] = [parseJson(json?.toString() ?? ''), parseJson(text)];
    if (body !== undefined && (json?.length ?? 0) < REMEMBERED_BYTES_MAX)
      this.#remember(`body of ${operation.id}`, body);
    await LESSONS[operation.id]?.(body ?? null, answered ?? null, {
      remember: (pool, value) =>
        this.#remember(OWNED_POOLS.includes(pool) ? this.#poolOf(pool, caller) : pool, value),
      approve: (attempt) => this.#approve(attempt, caller),
    });
  }

  #poolOf(pool: string, caller: number): string {
    return `${pool} of ${caller % this.#people.length}`;
  }

  #rememberForm(shown: ShownForm | undefined): void {
    if (shown !== undefined)
      this.#pools.set('shown', [{ ...shown }, ...(this.#pools.get('shown') ?? [])].slice(0, REMEMBERED_MAX));
  }

  /** Remembers a value. Ids must be strings: a refused row may have anything as its id. */
  #remember(pool: string, value: Json): void {
    if (!pool.startsWith('body of') && typeof value !== 'string') return;
    const values = this.#pools.get(pool) ?? [];
    this.#pools.set(pool, [value, ...values].slice(0, REMEMBERED_MAX));
  }

  async #replace(nth: number): Promise<void> {
    this.#people[nth % this.#people.length] = await newPerson(this.#system);
    for (const pool of OWNED_POOLS) this.#pools.delete(this.#poolOf(pool, nth));
  }

  /** Replaces a person whose good token is refused: a request whose answer was not read has erased the account. */
  async #replaceGone(headers: Request['headers']): Promise<void> {
    const nth = this.#people.findIndex(({ client }) =>
      headers.some(([, value]) => value === `Bearer ${client.access}`),
    );
    const person = this.#people[nth];
    if (person === undefined || this.#gone.has(person)) return;
    this.#gone.add(person);
    await this.#replace(nth);
  }

  async #approve(attempt: string, caller: number): Promise<string | undefined> {
    const person = this.#people[caller % this.#people.length];
    return person && approveAttempt(this.#system.em(), attempt, person.client.id).catch(() => undefined);
  }

  async #fill(): Promise<void> {
    for (const redirect of [REDIRECT_URI, 'https://app.example/callback', 'javascript:alert(1)'])
      this.#remember('redirects', redirect);
    this.#remember('redirects', REDIRECT_URI);
    this.#remember('challenges', CHALLENGE);
    for (const { client } of this.#people) {
      this.#remember('emails', client.email);
      this.#remember('passwords', client.password);
    }
    this.#remember('passwords', 'another horse with 9 staples');
    this.#remember('invites', await createInvite(this.#system.em()));
  }
}

async function newPerson(system: System): Promise<Person> {
  const client = await signUp(system);
  const { body } = await client.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'fuzz' });
  return { client, key: body.key };
}

/** Pools that hold the values of path parameters. */
const ALIASES: Record<string, string> = {
  'request_id of /connect/{request_id}': 'attempts',
  'connection_id of /v1/connections/{connection_id}/revoke': 'connections',
  'request_id of /v1/predictions/{request_id}/cancel': 'predictions',
  'key_id of /api/auth/keys/{key_id}/': 'keys',
  'id of /api/connections/{id}/': 'connections',
  'id of /api/recording/events/{id}/': 'events',
  'id of /api/recording/sessions/{id}/events/': 'sessions',
  'id of /api/memory/raw/{id}/': 'raw rows',
  'id of /api/memory/episodes/{id}/': 'episodes',
  'id of /api/memory/facts/{id}/': 'facts',
  'id of /api/predictions/{id}/': 'replies',
  'id of /api/predictions/{id}/feedback/': 'replies',
  'job_id of /api/jobs/{job_id}/': 'jobs',
};

interface WorldMemory {
  remember(pool: string, value: Json): void;
  approve(attempt: string): Promise<string | undefined>;
}

type Lesson = (sent: Json, answered: Json, memory: WorldMemory) => void | Promise<void>;

const LESSONS: Record<string, Lesson> = {
  predict: (sent, _, { remember }) => remember('predictions', get(sent, 'request_id')),
  async startConnection(sent, answered, { remember, approve }) {
    const attempt = get(answered, 'request_id');
    remember('attempts', attempt);
    const code = await approve(String(attempt));
    if (code === undefined) return;
    remember('body of exchangeConnection', {
      request_id: attempt,
      user_id: get(sent, 'user_id'),
      code,
      code_verifier: VERIFIER,
      redirect_uri: get(sent, 'redirect_uri'),
    });
  },
  exchangeConnection: (_, answered, { remember }) => remember('connections', get(answered, 'connection_id')),
  issueKey: (_, answered, { remember }) => remember('keys', get(answered, 'id')),
  recordEvents(sent, answered, { remember }) {
    const invalid = JSON.stringify(get(answered, 'invalid'));
    const rows = Array.isArray(sent) ? sent : [];
    for (const row of rows.filter((_, index) => !invalid.includes(`"index":${index},`)).slice(0, 2)) {
      remember('events', get(row, 'id'));
      remember('sessions', get(row, 'session_id'));
    }
  },
  signUp: (_, answered, { remember }) => remember('refreshes', get(answered, 'refresh')),
  logIn: (_, answered, { remember }) => remember('refreshes', get(answered, 'refresh')),
  addRawMemory: rememberIds('raw rows'),
  addEpisodes: rememberIds('episodes'),
  addFacts: rememberIds('facts'),
  syncMemory: rememberJob,
  promoteEpisodes: rememberJob,
  promoteFacts: rememberJob,
  predictReply: rememberIds('replies'),
  predictReplies(sent, answered, memory) {
    rememberJob(sent, answered, memory);
    const results = get(answered, 'results');
    const predictions = Array.isArray(results) ? results.map((one) => get(one, 'prediction')) : null;
    rememberIds('replies')(sent, predictions, memory);
  },
};

function rememberIds(pool: string): Lesson {
  return (_, answered, { remember }) => {
    for (const one of [answered].flat().slice(0, 2)) remember(pool, get(one, 'id'));
  };
}

/** Remembers a job that was started and not waited for. */
function rememberJob(_: Json, answered: Json, { remember }: WorldMemory): void {
  remember('jobs', get(answered, 'job_id'));
}

function get(value: Json, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return value[name] ?? null;
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function operationOf(name: string): Operation {
  const operation = [...operations, ...pages].find((one) => one.name === name);
  if (operation === undefined) throw new Error(`the document has no ${name}`);
  return operation;
}
