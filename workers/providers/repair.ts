import { isDisplayable } from '../../shared/domain/model-text.ts';
import type { Fault } from '../../shared/schemas/errors.ts';
import type { Validator } from '../../shared/schemas/validator.ts';
import { jsonIn } from '../prompts/json-text.ts';
import type { ChatMessage } from './provider.ts';

const FAULTS_SHOWN = 3;
/** UTF-16 code units of a malformed answer that its repair quotes. */
const QUOTED_MAX = 20_000;

type Read<Answer> = { ok: true; value: Answer } | { ok: false; faults: string[] };

/** The answer in what a model wrote, or what is wrong with it, in words for the model. */
export function readStructured<Answer>(text: string, check: Validator<Answer>): Read<Answer> {
  const json = jsonIn(text);
  if (json === undefined) return { ok: false, faults: ['the answer is not JSON'] };
  const checked = check(json);
  if (!checked.ok) return { ok: false, faults: checked.faults.map(inWords) };
  return everyText(checked.value, isDisplayable)
    ? checked
    : { ok: false, faults: ['a text holds control characters or is not well-formed'] };
}

/** What asks for the answer once more. It comes after the question, so that the question stays in the provider's cache. */
export function repairTurn(text: string, faults: readonly string[]): ChatMessage[] {
  const list = faults.slice(0, FAULTS_SHOWN).map((fault) => `- ${fault}`);
  const content = `That answer cannot be used:\n${list.join('\n')}\nAnswer again, with the corrected JSON object only.`;
  const quoted = text.slice(0, QUOTED_MAX).toWellFormed().replaceAll('\0', '');
  const answer = quoted.trim() === '' ? [] : [{ role: 'assistant', content: quoted } as const];
  return [...answer, { role: 'user', content }];
}

function inWords({ loc, msg }: Fault): string {
  const place = loc.slice(1).join('.');
  return place === '' ? msg : `${place}: ${msg}`;
}

/** Whether all strings in a JSON value pass. */
function everyText(root: unknown, passes: (text: string) => boolean): boolean {
  const open = [root];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node === 'string' && !passes(node)) return false;
    if (typeof node === 'object' && node !== null) for (const child of Object.values(node)) open.push(child);
  }
  return true;
}
