import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Memory, PredictionTask } from '../../../shared/domain/context-envelope.ts';
import type { Message } from '../../../shared/schemas/predictions.ts';
import { draftEndOf, phrasesOf } from '../../../shared/text/phrases.ts';
import { LocalProvider } from '../../../workers/providers/local.ts';
import type { Guess } from '../../../workers/providers/provider.ts';
import { anyCharge } from '../../support/charge.ts';

const EXAMPLE = 'Please summarise the quarterly sales report for the board';
const SURE_CONFIDENCE = 0.3;

function messageOf(content: string, fields: Partial<Message> = {}): Message {
  return { role: 'user', content, origin: 'unknown', ...fields };
}

const agentMessage = (content: string) => messageOf(content, { role: 'assistant', origin: 'agent' });

function predict(
  draft: string,
  messages: readonly Message[],
  fields: Partial<PredictionTask> = {},
): Promise<Guess> {
  const task: PredictionTask = {
    mode: 'complete_draft',
    draft,
    draftHead: '',
    messages,
    artifact: null,
    language: 'auto',
    preferences: '',
    memory: null,
    ...fields,
  };
  const signal = new AbortController().signal;
  return new LocalProvider().predict(task, { model: 'local', signal, timeoutMs: 1000, charge: anyCharge });
}

const next = (messages: readonly Message[], draft = '') => predict(draft, messages, { mode: 'next_prompt' });

async function completionOf(draft: string, ...contents: string[]): Promise<string> {
  return (
    await predict(
      draft,
      contents.map((content) => messageOf(content)),
    )
  ).completion;
}

/** Predicts for a person who wrote these texts 100 days ago, each in a session of its own unless `sessions` says so. */
function predictFromMemory(
  draft: string,
  texts: readonly string[],
  { dismissed = 0, sessions = [...texts.keys()] } = {},
): Promise<Guess> {
  const phrases = draftEndOf(draft).tails.flatMap((tail, words) =>
    texts.flatMap((text, row) =>
      phrasesOf(text)
        .filter((phrase) => tail !== '' && phrase.words.startsWith(tail))
        .map((phrase) => ({
          following: (phrase.written ?? phrase.words).slice(tail.length),
          words,
          scale: 1,
          days: 100,
          source: `row ${row}`,
          line: phrase.line,
          occasion: sessions[row] ?? row,
        })),
    ),
  );
  return predict(draft, [], { local: { phrases, minConfidence: 0, taken: 0, dismissed } });
}

describe('built-in predictor: drafts', () => {
  it('the built-in predictor completes the example draft of the README with "erly sales report", and counts no tokens', async () => {
    const { completion, confidence, usage } = await predict('Please summarise the quart', [
      messageOf(EXAMPLE),
    ]);
    assert.equal(completion, 'erly sales report');
    assert.ok(confidence > SURE_CONFIDENCE && confidence <= 1, `${confidence}`);
    assert.deepEqual(usage, { inputTokens: 0, cachedTokens: 0, outputTokens: 0 });
  });

  it('the built-in predictor learns from facts and from earlier texts of the person', async () => {
    const draft = 'Please summarise the quart';
    const recalled = { facts: [], episodes: [], said: [] };
    const memory: Memory = { profile: null, facts: [EXAMPLE], recalled };
    assert.match((await predict(draft, [], { memory })).completion, /^erly/);
    const written = [EXAMPLE, 'Summarise the quarterly budget'];
    assert.match((await predictFromMemory(draft, written)).completion, /^erly/);
  });

  it('the built-in predictor continues a draft correctly inside a word, and after a word, a space or punctuation', async () => {
    assert.match(await completionOf('Please summarise the quarterly sa', EXAMPLE), /^les report/);
    assert.match(await completionOf('Please summarise the quarterly sales', EXAMPLE), /^ report/);
    assert.match(await completionOf('Please summarise the quarterly sales ', EXAMPLE), /^report/);
    const list = 'Send apples, pears, and plums (not quinces).';
    assert.match(await completionOf('Send apples', list), /^, pears/);
    assert.match(await completionOf('Send apples, pears,', list), /^ and plums/);
    assert.match(await completionOf('Send apples, pears, and plums (', list), /^not/);
  });

  it('the built-in predictor never puts punctuation after a space where the learned text has no space', async () => {
    assert.equal(await completionOf('Send apples ', 'Send apples, pears, and plums.'), '');
  });

  it('the built-in predictor ignores case, and keeps the spelling of the learned text', async () => {
    assert.match(await completionOf('please SUMMARISE the quarterly s', EXAMPLE), /^ales report/);
    assert.match(await completionOf('we fly with luft', 'We fly with LuftHansa Cargo'), /^Hansa/);
  });

  it('the built-in predictor prefers the words that followed the longest match with the end of the draft', async () => {
    const contents = ['red apples cost two euros', 'green apples cost nine dollars'];
    assert.match(await completionOf('green apples cost', ...contents), /^ nine/);
    assert.match(await completionOf('red apples cost', ...contents), /^ two/);
  });

  it("the built-in predictor prefers the person's own words to the agent's", async () => {
    const own = messageOf('The launch date is Monday');
    const theirs = agentMessage('The launch date is Friday');
    assert.match((await predict('The launch date is', [own, theirs])).completion, /^ Monday/);
    assert.match((await predict('The launch date is', [theirs, own])).completion, /^ Monday/);
  });

  it("the built-in predictor learns from the draft, the artifact's selection and summary, and the user's preferences", async () => {
    const draft = 'The Nordwind turbine is new. We love the Nordw';
    assert.match((await predict(draft, [])).completion, /^ind/);
    const artifact = {
      kind: 'slides',
      selection: 'gross margin erosion',
      summary: 'churn by cohort size',
    } as const;
    const fields = { artifact, preferences: 'always metric units' };
    for (const [begun, rest] of [
      ['Explain gross marg', 'in'],
      ['Explain churn by coh', 'ort'],
      ['Use always metr', 'ic'],
    ] as const)
      assert.ok((await predict(begun, [], fields)).completion.startsWith(rest), begun);
  });

  it('an accepted prediction in the conversation does not change what the built-in predictor predicts', async () => {
    const conversation = [
      messageOf('Let us compare the quarterly figures'),
      agentMessage('Do you want the quarterly report?'),
    ];
    const accepted = messageOf('Yes', { origin: 'accepted_prediction' });
    const guess = await predict('I want the quarterly ', conversation);
    assert.deepEqual(await predict('I want the quarterly ', [accepted, ...conversation]), guess);
  });

  it('the built-in predictor does not learn from accepted predictions', async () => {
    const fed = messageOf(EXAMPLE, { origin: 'accepted_prediction' });
    assert.equal((await predict('Please summarise the quart', [fed])).completion, '');
  });

  it('the built-in predictor continues Chinese and Cyrillic text', async () => {
    assert.match(await completionOf('请总结这份季度', '请总结这份季度销售报告给董事会'), /^销售/);
    assert.match(
      await completionOf('Пожалуйста, подготовь квар', 'Пожалуйста, подготовь квартальный отчёт'),
      /^тальный/,
    );
  });

  it('the built-in predictor matches a draft in composed Unicode with a learned text in decomposed Unicode', async () => {
    assert.match(await completionOf('Das Café am Bo', 'Das Cafe\u0301 am Bodensee'), /^densee/);
  });

  it('the built-in predictor ends its completion at the end of a learned line or text', async () => {
    assert.equal(await completionOf(EXAMPLE, EXAMPLE, 'and then rest'), '');
    assert.match(await completionOf('buy milk and', 'buy milk and eggs\nwash the car'), /^ eggs$/);
  });

  const abstentions: [name: string, draft: string, content: string][] = [
    ['the draft ends with words that it has never seen', 'Zzyzx qwxyv mnbv', EXAMPLE],
    ['the draft ends with a line break', 'Done.\n', EXAMPLE],
    ['the draft is empty', '', EXAMPLE],
    ['the context is empty', 'Zzyzx qwxyv', ''],
    ['no known word begins with the partial word at the end of the draft', 'Please xyl', EXAMPLE],
  ];
  for (const [name, draft, content] of abstentions)
    it(`the built-in predictor abstains if ${name}`, async () => {
      const { completion, confidence } = await predict(draft, [messageOf(content)]);
      assert.deepEqual([completion, confidence], ['', 0]);
    });

  it('the built-in predictor has a confidence below 0.3 if the learned texts continue the draft in five different ways', async () => {
    const names = ['Ann', 'Bob', 'Cid', 'Dan', 'Eve'].map((name) =>
      messageOf(`Please send the file to ${name} today`),
    );
    assert.ok((await predict('Please send the file to', names)).confidence < SURE_CONFIDENCE);
  });

  it('choices are shown together where none of them is likely enough to be shown alone', async () => {
    const cities = ['Berlin', 'Lisbon', 'Madrid'];
    const messages = cities.map((city) => messageOf(`Please book the flight to ${city}`));
    const alone = await predict('Please book the flight to ', messages);
    assert.ok(alone.confidence < SURE_CONFIDENCE, String(alone.confidence));
    const three = await predict('Please book the flight to ', messages, { alternatives: 2 });
    assert.deepEqual([three.completion, ...(three.alternatives ?? [])].toSorted(), cities);
    assert.ok(Number(three.together) >= SURE_CONFIDENCE, String(three.together));
  });

  const written: [form: string, draft: string, completion: string, contents?: string[]][] = [
    ['a name that begins like a common word', 'I met Sa', ''],
    ['a name that begins like a common word', 'How much does it cost to ship this to Nor', ''],
    ['a German name that begins like a verb', 'ich wohne in Mü', ''],
    ['a Spanish name that begins like a common word', 'vivo en Ca', ''],
    ['a verb that begins like a noun, after a noun', 'Warum schlägt der Test immer wieder fe', ''],
    ['a day after a capital', 'Könnten wir uns am Mon', 'tag'],
    ['a typographic apostrophe', 'That’s good, but I don', '’t'],
    ['a typewriter apostrophe', "That's good, but I don", "'t"],
    ['a word with a typographic apostrophe', 'N’hés', 'itez'],
    ['a line in capitals', 'DIE STR', 'ASSE IST', ['Die Straße ist gesperrt']],
    ['a name with two capitals', 'We ask O’B', 'rien', ['CEO O’Brien is not there']],
    ['a German clause, which needs a comma', 'Hast du das Spiel gesehen', ''],
    ['a French order, which needs a hyphen', 'Donne', ''],
  ];
  for (const [form, draft, completion, contents = []] of written)
    it(`the built-in predictor writes ${form} as people do: ${draft}⟨${completion}⟩`, async () => {
      const guess = await predict(
        draft,
        contents.map((content) => messageOf(content)),
      );
      assert.equal(guess.confidence < SURE_CONFIDENCE ? '' : guess.completion, completion);
    });

  it('the built-in predictor never completes a secret', async () => {
    const key = 'sk-proj-Ab12Cd34Ef56Gh78Ij90';
    assert.equal(await completionOf('my key is sk-pr', `my key is ${key} ok`), '');
    assert.doesNotMatch(await completionOf('my key is', `my key is ${key} ok`), /sk/);
    assert.equal(await completionOf('card 4111 11', 'card 4111 1111 1111 1111 ok'), '');
    assert.equal(await completionOf(`my key is ${key}`, 'x'), '');
  });
});

describe('built-in predictor: recall', () => {
  const sentence = 'The invoice goes to my upholsterer in Bremen';

  it('the built-in predictor completes a partial word from one text, but whole words only from two lines in two sessions, or one in three', async () => {
    assert.equal((await predictFromMemory('It goes to my upho', [sentence])).completion, 'lsterer');
    const other = `Again: ${sentence}`;
    const cases: [texts: string[], sessions: number[], completion: RegExp][] = [
      [[sentence], [1], /^(?! goes)/],
      [[sentence, sentence, other], [1, 1, 1], /^(?! goes)/],
      [[sentence, sentence.toUpperCase()], [1, 2], /^(?! goes)/],
      [[sentence, other], [1, 2], /^ goes/],
      [[sentence, sentence, sentence], [1, 2, 3], /^ goes/],
    ];
    for (const [texts, sessions, completion] of cases)
      assert.match((await predictFromMemory('The invoice', texts, { sessions })).completion, completion);
    const recalled = { facts: [sentence], episodes: [], said: [] };
    assert.equal(
      (await predict('The invoice', [], { memory: { profile: null, facts: [other], recalled } })).completion,
      '',
    );
  });

  it('the built-in predictor is less sure for a person who dismissed 50 suggestions and accepted none', async () => {
    const texts = [sentence, sentence];
    const [usual, wary] = [
      await predictFromMemory('The inv', texts),
      await predictFromMemory('The inv', texts, { dismissed: 50 }),
    ];
    assert.ok(wary.confidence < usual.confidence / 1.5, `${wary.confidence}, ${usual.confidence}`);
  });

  const before = 'Reply to';
  const unlearned: [name: string, detail: string][] = [
    ['a secret', 'sk-proj-Ab12Cd34Ef56Gh78Ij90'],
    ['an e-mail address', 'ada.lovelace@example.org'],
    ['a number of six digits', '482913'],
    ['an amount of money', '€83400'],
    ['an amount in words', 'achthundert€'],
    ['an illness', 'Ann, diagnosed with Crohn'],
    ['a paper of identity', 'my passport name Quandt'],
    ['a telephone number', '+49 421 55 19 37'],
    ['an English address', '12 Baker Street'],
    ['a German address', 'Hauptstraße 5 in 28195 Bremen'],
    ['a French address', '14 rue des Lilas'],
    ['a Spanish address', 'Calle Mayor 22'],
    ['a link with a query', 'https://example.org/x?token=abc'],
    ['a link with a password', 'postgres://me:pw@db/x'],
    ['an IP address', '10.11.12.13'],
    ['an account name', '@ada_lovelace'],
  ];
  for (const [name, detail] of unlearned)
    it(`the built-in predictor never completes ${name} from memory, even if it was written five times`, async () => {
      const texts = Array.from({ length: 5 }, () => `${before} ${detail} today`);
      const drafts = Array.from(
        { length: detail.length },
        (_, typed) => `${before} ${detail.slice(0, typed)}`,
      );
      for (const draft of [before, ...drafts]) {
        const { completion } = await predictFromMemory(draft, texts);
        // A stranger gets it too, so it is not from memory.
        if (completion === (await predictFromMemory(draft, [])).completion) continue;
        const told = completion.trim();
        assert.ok(
          told.length < 3 || draft.includes(told) || !detail.includes(told),
          `${draft}|${completion}`,
        );
      }
    });
});

describe('built-in predictor: long lines', () => {
  const lines = [
    'Please run the integration tests again and report every failing assertion with its complete stack trace',
    'Write comprehensive documentation for the configuration parameters and environment variables',
    "Refactor whatever authentication middleware the administrators haven't documented, which doesn't terminate",
    'Bitte die Benutzerverwaltungsoberfläche und die Zugriffsberechtigungsprüfung überarbeiten, dann ausliefern',
    `Summarise ${Array.from('𐐨𐐩𐐪𐐫𐐬𐐭', (letter) => letter.repeat(9)).join(' ')} afterwards`,
    `Summarise ${Array.from('abcdefgh', (letter) => `${letter}👩‍👩‍👧‍👦🇩🇪`).join(' ')} afterwards`,
  ];
  const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
  const sources = {
    memory: (draft: string, line: string) => predictFromMemory(draft, [line, line, line]),
    messages: (draft: string, line: string) =>
      predict(draft, Array(20).fill(messageOf(line)), {
        local: { phrases: [], minConfidence: 0, taken: 0, dismissed: 0 },
      }),
  };
  for (const [name, predictAfter] of Object.entries(sources))
    it(`the built-in predictor completes words of a long line from ${name} as a whole`, async () => {
      for (const line of lines) {
        const ends = new Set([...segmenter.segment(line)].map(({ index }) => index)).add(line.length);
        for (const { index } of line.matchAll(/(?<=.{3})./gu)) {
          const draft = line.slice(0, index);
          const { completion } = await predictAfter(draft, line);
          const text = draft + completion;
          assert.ok(completion.isWellFormed(), text);
          // What many people write may be likelier than the line.
          if (!line.startsWith(text)) continue;
          assert.ok(completion === '' || ends.has(text.length), text);
        }
      }
    });

  it('the built-in predictor completes a long line of a script without spaces', async () => {
    const chinese =
      '请总结这份季度销售报告给董事会并且把所有的数字与去年同期进行比较然后用简单的语言解释为什么利润下降以及我们下一步应该做什么来改善目前的情况谢谢大家的努力';
    const thai =
      'กรุณาสรุปรายงานยอดขายประจำไตรมาสนี้ให้คณะกรรมการแล้วเปรียบเทียบตัวเลขทั้งหมดกับปีที่แล้วและอธิบายด้วยภาษาที่เข้าใจง่าย';
    for (const line of [chinese, thai])
      for (const predictAfter of Object.values(sources)) {
        const { completion } = await predictAfter(line.slice(0, 6), line);
        assert.ok(completion !== '' && line.slice(6).startsWith(completion), completion);
      }
  });
});

describe('built-in predictor: next prompts', () => {
  it("the built-in predictor returns a next prompt that begins with the person's draft", async () => {
    const { completion, confidence } = await next([messageOf(EXAMPLE)], 'Please summarise the quart');
    assert.equal(completion, 'Please summarise the quarterly sales report');
    assert.ok(confidence > SURE_CONFIDENCE);
    const fields = { mode: 'next_prompt', draftHead: 'Hello. ' } as const;
    assert.match(
      (await predict('Please summ', [messageOf(EXAMPLE)], fields)).completion,
      /^Hello\. Please summarise/,
    );
  });

  it("the built-in predictor predicts the person's earlier answer to the same question as the next prompt", async () => {
    const question = agentMessage('The tests pass. Shall I commit the change?');
    const { completion, confidence } = await next([question, messageOf('Yes, commit and push'), question]);
    assert.equal(completion, 'Yes, commit and push');
    assert.ok(confidence > SURE_CONFIDENCE);
  });

  it('the built-in predictor predicts an earlier answer to an open question only if the person gave the answer twice', async () => {
    const question = agentMessage('What should the parser do with an empty line?');
    assert.equal((await next([question, messageOf('Skip it'), question])).completion, '');
    const { completion } = await next([
      question,
      messageOf('Skip it'),
      question,
      messageOf('Skip it'),
      question,
    ]);
    assert.equal(completion, 'Skip it');
  });

  it('the built-in predictor predicts a prompt that the person wrote after each of several different questions', async () => {
    const turns = ['one', 'two', 'three', 'four'].flatMap((word) => [
      agentMessage(word),
      messageOf('Continue.'),
      messageOf('continue'),
    ]);
    const { completion, confidence } = await next([...turns, agentMessage('five')]);
    assert.match(completion, /^continue/i);
    assert.ok(confidence > SURE_CONFIDENCE);
  });

  for (const [question, ...short] of [
    ['Shall I run the tests?', 'yes', 'no'],
    ['Soll ich die Tests ausführen?', 'ja', 'nein'],
    ['¿Quieres que ejecute las pruebas?', 'sí', 'no'],
    ['Veux-tu que je lance les tests ?', 'oui', 'non'],
  ] as const)
    it(`the choices of a next prompt after "${question}" have a plain yes and no of its language`, async () => {
      const messages = [question, 'later', question, 'later', question].map((text, place) =>
        place % 2 === 0 ? agentMessage(text) : messageOf(text, { origin: 'human' }),
      );
      const { alternatives } = await predict('', messages, { mode: 'next_prompt', alternatives: 2 });
      assert.deepEqual(alternatives, short);
    });

  it('the built-in predictor abstains from a next prompt, or is unsure, if no message repeats', async () => {
    assert.equal((await next([])).completion, '');
    assert.equal((await next([agentMessage('What now?')])).completion, '');
    assert.ok(
      (await next([messageOf('Write a poem'), agentMessage('Roses are red. More?')])).confidence <
        SURE_CONFIDENCE,
    );
    assert.equal((await next([agentMessage('zzz')], 'qqq')).completion, '');
  });

  it("the built-in predictor takes no next prompt from accepted predictions, from an agent's words or from secrets", async () => {
    const question = agentMessage('Shall I?');
    const others = [
      messageOf('yes', { origin: 'accepted_prediction' }),
      messageOf('yes', { origin: 'agent' }),
      messageOf('use sk-proj-Ab12Cd34Ef56Gh78Ij90'),
    ];
    for (const other of others)
      assert.equal((await next([question, other, question])).completion, '', other.content);
  });
});

describe('built-in predictor: any text', () => {
  const words = fc.array(
    fc.constantFrom('the', 'a', ' ', '\n', '.', '(', '"', "don't", '😀', '报', 'İ', 'ß', 'é'),
    { maxLength: 30 },
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    words.map((parts) => parts.join('')),
  );
  const modes = fc.constantFrom('complete_draft', 'next_prompt');

  it('for any input, the built-in predictor returns text without NUL, lone surrogates or doubled spaces, and a valid confidence', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.array(text, { maxLength: 4 }), modes, async (draft, contents, mode) => {
        const messages = contents.map((content) => messageOf(content.replaceAll('\0', '')));
        const { completion, confidence } = await predict(draft, messages, { mode });
        assert.ok((draft + completion).isWellFormed() && !completion.replace(draft, '').includes('\0'));
        assert.ok(confidence >= 0 && confidence <= 1);
        if (mode === 'next_prompt' && draft.trim() !== '' && completion !== '')
          assert.ok(completion.startsWith(draft));
        if (mode === 'complete_draft' && /\s$/.test(draft)) assert.ok(!/^\s/.test(completion));
      }),
      { numRuns: 500 },
    );
  });

  it('the built-in predictor continues a phrase that it has seen twice, after its first three to five words', async () => {
    const word = fc.string({
      unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzäöüéñжщλ'),
      minLength: 2,
      maxLength: 9,
    });
    const phrase = fc.uniqueArray(word, { minLength: 6, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(phrase, fc.integer({ min: 3, max: 5 }), async (parts, typed) => {
        const seen = parts.join(' ');
        const draft = parts.slice(0, typed).join(' ');
        const { completion } = await predict(`${draft} `, [messageOf(seen), messageOf(seen)]);
        assert.ok(
          seen.startsWith(`${draft} ${completion}`) && completion !== '',
          `${seen} | ${draft} | ${completion}`,
        );
      }),
    );
  });

  it('the built-in predictor completes text such as __proto__ or .*+? like other text', async () => {
    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', '.*+?^()|[]\\'])
      assert.ok((await completionOf('we call it', `we call it ${name} here`)).startsWith(' '), name);
  });
});

describe('built-in predictor: time', () => {
  const fill = (unit: string) => (length: number) => unit.repeat(Math.ceil(length / unit.length));
  const random = randomNumbers();
  const sizes: [name: string, message: (length: number) => string][] = [
    [
      'of ordinary words',
      (length) => Array.from({ length: length / 6 }, () => `word${random() % 3000}`).join(' '),
    ],
    ['of one repeated word', fill('a ')],
    ['of punctuation', fill('.*+')],
    ['of one long word', fill('a')],
    [
      'of white space before an invisible character',
      (length) => `${' '.repeat(0.875 * length)}\u200b${' '.repeat(0.125 * length - 1)}`,
    ],
    [
      'of Chinese',
      (length) => Array.from({ length }, () => String.fromCharCode(0x4e00 + (random() % 3000))).join(''),
    ],
  ];
  for (const [name, message] of sizes)
    it(`the built-in predictor takes time linear in the length of a context ${name}`, async () => {
      const reading = (length: number) => {
        const messages = Array.from({ length: 14 }, () => messageOf(message(length).slice(0, length)));
        const draft = `${message(length).slice(0, length - 10)} a`;
        const more = { preferences: message(length).slice(0, length / 2) };
        return async () => {
          const since = performance.now();
          await predict(draft, messages, more);
          return performance.now() - since;
        };
      };
      const [part, whole] = [reading(2000), reading(8000)];
      const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as [number, number];
      for (let run = 0; run < 15; run++)
        for (const [n, read] of [part, whole].entries()) best[n] = Math.min(best[n] ?? 0, await read());
      // Linear time takes four times as long, quadratic time sixteen times.
      assert.ok(best[1] < 8 * best[0], `${best} ms`);
    });
});

/** Makes a generator of the same numbers in every run. */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 8;
  };
}
