import type { ContextCandidates } from '../../shared/domain/context-rows.ts';

/** Returns the candidates of a context bundle: a row of each tier, and a profile, all with the text. */
export function offerOf(text: string): ContextCandidates {
  const [at, none] = [new Date(0), { words: [], matched: 1, whole: true }];
  const common = {
    id: '1',
    origin: 'human',
    project: null,
    tags: [],
    model: null,
    createdAt: at,
    updatedAt: at,
    relevance: 0,
  };
  const fact = { ...common, text, kind: null, slot: null, confidence: 1, recordedAt: at, support: 0 };
  const episode = { ...common, title: text, summary: text, status: 'closed', salience: 1, support: 0 };
  const raw = { ...common, content: text, kind: 'note', role: 'human', agent: null, source: 'x' };
  return {
    revision: 1,
    generatedAt: at,
    since: at,
    profile: { data: { habits: [text] }, summary: text, revision: 1, createdAt: at, updatedAt: at },
    facts: {
      ...none,
      rows: [{ ...fact, validFrom: null, validTo: null, pinned: false }],
      superseded: 0,
      stale: 0,
      expired: 0,
      notYetValid: 0,
    },
    episodes: { ...none, rows: [{ ...episode, startedAt: at, endedAt: at, promotedAt: null }], stale: 0 },
    raw: {
      ...none,
      rows: [
        {
          ...raw,
          sessionId: null,
          eventId: null,
          occurredAt: at,
          metadata: { note: text },
          promotedAt: null,
        },
      ],
      predicted: 0,
    },
    backlog: { raw: 0, episodes: 0 },
    timedOut: false,
  };
}
