import { setTimeout as sleep } from 'node:timers/promises';
import { createCompleter } from '../client/src/completer.ts';
import { createAppClient } from '../client/src/v1.ts';
import type { ReadyMessage } from '../shared/process/lifecycle.ts';
import { SENTENCES } from './typed-sentences.ts';

/** Many people who type at once, each with the client's own completer: words at a usual speed, and pauses to think. */
const [baseUrl = '', appKey = '', people = ''] = process.argv.slice(2);
const KEY_MS = { least: 60, more: 120 };
const PAUSE_MS = { least: 300, more: 900 };
const WORDS_BEFORE_PAUSE = 3;
const REPORT_EVERY_MS = 1000;

const client = createAppClient({ baseUrl, appKey });
let calls = 0;
const counted: Parameters<typeof createCompleter>[0] = {
  predict(...given) {
    calls += 1;
    return client.predict(...given);
  },
  recordPredictionEvent: (...given) => client.recordPredictionEvent(...given),
};

const wait = ({ least, more }: typeof KEY_MS) => sleep(least + Math.random() * more);

async function typeFor(userId: string): Promise<never> {
  const completer = createCompleter(counted, { userId });
  await sleep(Math.random() * 5000);
  for (;;) {
    const sentence = SENTENCES[Math.floor(Math.random() * SENTENCES.length)] ?? '';
    let text = '';
    for (const [at, word] of sentence.split(' ').entries()) {
      for (const letter of `${word} `) {
        text += letter;
        completer.update(text);
        await wait(KEY_MS);
      }
      if (at % WORDS_BEFORE_PAUSE === WORDS_BEFORE_PAUSE - 1) await wait(PAUSE_MS);
    }
    completer.submit();
    await wait(PAUSE_MS);
  }
}

for (let n = 0; n < Number(people); n += 1) void typeFor(`person-${n}`);
setInterval(() => {
  process.send?.({ calls });
  calls = 0;
}, REPORT_EVERY_MS);
process.send?.({ url: '' } satisfies Partial<ReadyMessage>);
