import assert from 'node:assert/strict';
import { bundleOf } from '../../../shared/domain/context-bundle.ts';
import { extractiveDraft, type RawToPromote } from '../../../shared/domain/episodes.ts';
import { createLog } from '../../../shared/log.ts';
import type { Message } from '../../../shared/schemas/predictions.ts';
import { newAppKey, newServiceKey } from '../../../shared/security/keys.ts';
import { phrasesOf } from '../../../shared/text/phrases.ts';
import { Conversation } from '../../../shared/transcripts/conversation.ts';
import { readEpisode } from '../../../workers/memory/episode-prompt.ts';
import { statementsIn } from '../../../workers/memory/extract-facts.ts';
import { checkProposals, type ProposedFact } from '../../../workers/memory/gate.ts';
import { LocalProvider } from '../../../workers/providers/local.ts';
import { replyQuestion } from '../../../workers/replies/prompt.ts';
import { proposeLocally } from '../../../workers/replies/reply.ts';
import { anyCharge } from '../../support/charge.ts';
import { offerOf } from '../../support/context-offer.ts';

const SMALL = 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz';
const MIXED = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0iL3oR6uX9a';
const DIGITS = '12345678901234567890';

/** Secrets as people write them: a name, the words that contain the secret, and the part that must not be passed on. */
const SECRETS: [name: string, words: string, secret: string][] = [
  ['a password in words', 'my password is hunter2', 'hunter2'],
  ['a password after a colon', 'password: hunter2', 'hunter2'],
  ['a password with a long number', 'my password is hunter-20242025-tango', '-tango'],
  ['a password with an at sign', 'password: a,p@ss;word-tango', '-tango'],
  ['a password in a variable', 'DB_PASSWORD=hunter2', 'hunter2'],
  ['a German password', 'mein Passwort ist geheim99', 'geheim99'],
  ['a labelled API key', 'the API key: zanzibar', 'zanzibar'],
  ['a labelled access token', 'access_token=zanzibar', 'zanzibar'],
  ['a PIN', 'my PIN is 4711', '4711'],
  ['a database address with a password', 'postgres://ann:hunter2@db.example/engine', 'hunter2'],
  ['a password with an at sign in an address', 'redis://ann:hun@ter2@db.example', 'ter2'],
  ['a bearer token', `Authorization: Bearer ${SMALL}`, SMALL],
  ['basic credentials', 'Authorization: Basic YW5uOmh1bnRlcjI=', 'YW5uOmh1bnRlcjI'],
  ['a card number', '4111 1111 1111 1111', '1111'],
  ['a card number without spaces', '5105105105105100', '5105105105105100'],
  ['a card number of 15 digits', '3782-822463-10005', '822463'],
  ['an IBAN', 'IBAN DE89 3704 0044 0532 0130 00', '0532'],
  ['a private key', `-----BEGIN RSA PRIVATE KEY-----${SMALL}-----END RSA PRIVATE KEY-----`, SMALL],
  ['a PGP key', `-----BEGIN PGP PRIVATE KEY BLOCK-----${SMALL}`, SMALL],
  ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh', 'eyJzdWIiOiIxMjM0In0'],
  ['an encrypted JWT', 'eyJhbGciOiJkaXIifQ..abcdefghijkl.abcdefgh.abcdefgh', 'abcdefghijkl'],
  ['an old OpenAI key', 'sk-abcdefghijklmnopqrstuvwx', 'abcdefghijklmnop'],
  ['an OpenAI key of a project', `sk-proj-${SMALL.slice(0, 24)}`, SMALL.slice(0, 24)],
  ['an OpenAI key of an account', `sk-svcacct-${MIXED}`, MIXED],
  ['an Anthropic key', `sk-ant-api03-${MIXED}-AA`, MIXED],
  ['an OpenRouter key', `sk-or-v1-${SMALL}${DIGITS}`, SMALL],
  ['a Hugging Face token', `hf_${SMALL.slice(0, 34)}`, SMALL.slice(0, 34)],
  ['a Groq key', `gsk_${MIXED}`, MIXED],
  ['a Replicate token', `r8_${MIXED.slice(0, 37)}`, MIXED.slice(0, 37)],
  ['a GitHub token', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'abcdefghijklmnopqrstuvwxyz0123456789'],
  ['a fine-grained GitHub token', `github_pat_${MIXED.slice(0, 22)}_${MIXED}`, MIXED],
  ['a GitLab token', `glpat-${SMALL.slice(0, 20)}`, SMALL.slice(0, 20)],
  ['an npm token', `npm_${SMALL.slice(0, 36)}`, SMALL.slice(0, 36)],
  ['a PyPI token', `pypi-${SMALL}`, SMALL],
  ['a Slack bot token', `xoxb-${DIGITS}-${SMALL.slice(0, 24)}`, SMALL.slice(0, 24)],
  ['a Slack user token', `xoxo-${SMALL.slice(0, 24)}`, SMALL.slice(0, 24)],
  ['a Slack app token', `xapp-1-A0-${DIGITS}-${SMALL}`, SMALL],
  ['a secret Stripe key', `sk_live_${SMALL.slice(0, 24)}`, SMALL.slice(0, 24)],
  ['a Stripe webhook secret', `whsec_${SMALL.slice(0, 32)}`, SMALL.slice(0, 32)],
  ['an AWS key id', 'AKIAIOSFODNN7EXAMPLE', 'IOSFODNN7EXAMPLE'],
  [
    'an AWS secret key',
    'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    'bPxRfiCYEXAMPLEKEY',
  ],
  ['a Google API key', `AIza${MIXED.slice(0, 35)}`, MIXED.slice(0, 35)],
  ['a Google access token', `ya29.${SMALL}`, SMALL],
  ['a SendGrid key', `SG.${SMALL.slice(0, 22)}.${MIXED}`, MIXED],
  ['a random token', 'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA', 'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA'],
  ['an app key', newAppKey().key, ''],
  ['a service key', newServiceKey().key, ''],
].map(([name = '', words = '', secret = '']) => [name, words, secret === '' ? words.slice(12, 40) : secret]);

const sentence = (words: string) => `I always use ${words} at work.`;

const rawRow = (content: string): RawToPromote => ({
  id: '1',
  sessionId: 's',
  project: null,
  occurredAt: new Date(0),
  content,
  isHuman: true,
  role: 'human',
  origin: 'human',
  agent: null,
});

const messageOf = (content: string): Message => ({ role: 'user', content, origin: 'human' });

function predict(mode: 'complete_draft' | 'next_prompt', draft: string, messages: Message[]) {
  const task = {
    mode,
    draft,
    draftHead: '',
    messages,
    artifact: null,
    language: 'auto',
    preferences: '',
    memory: null,
  };
  const signal = new AbortController().signal;
  return new LocalProvider().predict(task, { model: 'local', signal, timeoutMs: 1000, charge: anyCharge });
}

/** Each consumer returns what it makes of a text. */
const CONSUMERS: Record<string, (text: string) => unknown> = {
  'imported events': (text) => {
    const session = { id: 's', agent: 'codex', detail: text };
    const conversation = new Conversation(session, 'import', Date.parse('2026-01-02T00:00:00Z'));
    return conversation.read({ kind: 'user', id: '1', at: '2026-01-01T00:00:00Z', text });
  },
  'phrases for completions': phrasesOf,
  'facts found by patterns': (text) => statementsIn({ ...rawRow(text), role: 'human' }),
  'facts stated by a model': (text) => {
    const proposal = {
      text,
      kind: 'habit',
      slot: null,
      valid_from: null,
      valid_to: null,
      evidence: [{ source: 1, quote: text }],
      relation: 'new',
      target: null,
      salience: 3,
    } satisfies ProposedFact;
    return checkProposals([proposal], { rows: [rawRow(text)], known: [], titles: [] });
  },
  'episodes made without a model': (text) => extractiveDraft([rawRow(text)]),
  'episodes written by a model': (text) =>
    readEpisode(
      {
        title: text.slice(0, 150),
        summary: text,
        outcome: 'done',
        tags: [text.slice(0, 75)],
        salience: 'minor',
        cites: [1],
      },
      [rawRow(text)],
    ),
  'completions of the built-in predictor': async (text) => {
    const begun = ['I always use', text.slice(0, 15), text.slice(0, text.length / 2)];
    const drafts = await Promise.all(
      begun.map((draft) => predict('complete_draft', draft, [messageOf(text), messageOf(text)])),
    );
    const question: Message = { role: 'assistant', content: 'With what?', origin: 'agent' };
    const repeated = await predict('next_prompt', '', [question, messageOf(text), question]);
    return [...drafts, repeated].map(({ completion }) => completion);
  },
  'reply candidates of the built-in predictor': (text) =>
    proposeLocally(
      'With what?',
      { replies: [{ response: text.slice(13), share: 1, times: 9 }], shareOf: () => 1, neighbours: [] },
      9,
      3,
    ).candidates,
  "a model's prompt for a reply": (text) =>
    replyQuestion(
      {
        profile: { summary: text, data: { notes: [text] } },
        facts: [{ id: '1', on: '', text, pinned: false }],
        episodes: [{ id: '1', on: '', title: text, summary: text }],
        raw: [{ id: '1', on: '', role: 'human', origin: 'human', content: text }],
        examples: [],
        prompt: text,
        truncated: false,
      },
      { agent: text, k: 1 },
    ).messages,
  'context bundles': (text) =>
    bundleOf(offerOf(text), { recencyMinutes: 9, maxFacts: 9, maxEpisodes: 9, maxRaw: 9 }),
  'the log': (text) => {
    const lines: string[] = [];
    const log = createLog('test', 'info', { write: (line) => lines.push(line) });
    log.warn({ err: new Error(text), reason: text }, 'failed');
    return lines;
  },
};

describe('secrets in what people write', () => {
  for (const [consumer, consume] of Object.entries(CONSUMERS))
    for (const [name, words, secret] of SECRETS)
      it(`${name} that a person writes is kept out of ${consumer}`, async () => {
        const result = JSON.stringify(await consume(sentence(words))) ?? '';
        assert.ok(!result.includes(secret.slice(-6)), result);
      });

  it('a value is masked in a context bundle and in the prompt for a reply if its name is the label of a secret', async () => {
    const data = {
      wifi_password: 'xylophone',
      pins: { Passphrase: 771_234, apiKey: ['marimba'] },
      'password manager': 'Bitwarden',
      password: '',
    };
    const masked = {
      wifi_password: '[masked password]',
      pins: { Passphrase: '[masked password]', apiKey: ['[masked key]'] },
      'password manager': 'Bitwarden',
      password: '',
    };
    const offer = offerOf('Tea at four');
    const rows = offer.raw.rows.map((row) => ({ ...row, metadata: data }));
    const { profile, raw } = await bundleOf(
      { ...offer, profile: offer.profile && { ...offer.profile, data }, raw: { ...offer.raw, rows } },
      { recencyMinutes: 9, maxFacts: 9, maxEpisodes: 9, maxRaw: 9 },
    );
    assert.deepEqual([profile?.data, raw[0]?.metadata], [masked, masked]);
    const nothing = { facts: [], episodes: [], raw: [], examples: [], prompt: 'Tea?', truncated: false };
    const { messages } = replyQuestion({ profile: { summary: '', data }, ...nothing }, { agent: 'a', k: 1 });
    assert.ok(messages[1]?.content.includes(JSON.stringify(masked)));
  });
});
