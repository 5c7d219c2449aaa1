import { parseArgs } from 'node:util';
import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import type { Message } from '../../shared/schemas/predictions.ts';
import { saysTheSame } from '../../shared/text/meaning.ts';
import { LocalProvider } from '../../workers/providers/local.ts';
import { seedOf } from '../memory/random.ts';
import { PERSONAS } from '../replies/personas.ts';
import { randomOf } from '../replies/random.ts';

/**
 * Measures whole prompts that the built-in predictor suggests, with no draft, in sessions of invented people and an agent: what share
 * of the turns is shown one, and what share of these is what the person then writes.
 */
const { values } = parseArgs({
  allowPositionals: true,
  options: { lives: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } },
});

const TURNS = 40;
/** The default of an app's threshold. */
const SHOWN_FROM = 0.3;

const TASK: Omit<PredictionTask, 'messages'> = {
  mode: 'next_prompt',
  draft: '',
  draftHead: '',
  artifact: null,
  language: 'auto',
  preferences: '',
  memory: null,
};

const provider = new LocalProvider();
const call = {
  model: 'local',
  signal: new AbortController().signal,
  timeoutMs: 1000,
  charge: { accountId: null, appId: null, workId: 'bench', attempt: 1, kind: 'predict' },
};

console.log('| person | turns | shown | right of shown |');
console.log('|---|--:|--:|--:|');
for (const { name, next } of PERSONAS) {
  let [shown, right] = [0, 0];
  for (let life = 0; life < Number(values.lives); life += 1) {
    const random = randomOf(seedOf(`${name}, session ${Number(values.seed) + life}`));
    const messages: Message[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const { prompt, reply } = next(random);
      messages.push({ role: 'assistant', origin: 'agent', content: prompt });
      const { completion, confidence = 0 } = await provider.predict({ ...TASK, messages }, call);
      if (completion !== '' && confidence >= SHOWN_FROM) {
        shown += 1;
        right += Number(saysTheSame(completion, reply));
      }
      messages.push({ role: 'user', origin: 'human', content: reply });
    }
  }
  const share = (part: number, of: number) => (of === 0 ? '-' : `${((100 * part) / of).toFixed(1)} %`);
  const turns = TURNS * Number(values.lives);
  console.log(`| ${name} | ${turns} | ${share(shown, turns)} | ${share(right, shown)} |`);
}
