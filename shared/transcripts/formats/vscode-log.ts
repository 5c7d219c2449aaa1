import { asText, isObject, type JsonObject, listOf, objectOf, objectsOf, propertyOf } from '../json.ts';

/** Kinds of lines in a log of changes to a chat. */
const INITIAL = 0;
const SET = 1;
const PUSH = 2;
const DELETE = 3;

/** Members of a request that are kept: the rest, such as images and the outputs of tools, can be large. */
const REQUEST_KEYS = [
  'requestId',
  'timestamp',
  'message',
  'confirmation',
  'response',
  'modelState',
  'isHidden',
  'isSystemInitiated',
  'hiddenFromTranscript',
  'requestHiddenFromTranscript',
  'shouldBeRemovedOnSend',
];
const PART_KINDS: unknown[] = [
  undefined,
  'markdownContent',
  'markdownVuln',
  'inlineReference',
  'questionCarousel',
];

export interface Chat {
  sessionId?: unknown;
  customTitle?: unknown;
  responderUsername?: unknown;
  requests: JsonObject[];
}

export function chatOf(value: unknown): Chat {
  const { sessionId, customTitle, responderUsername, requests } = objectOf(value);
  return { sessionId, customTitle, responderUsername, requests: objectsOf(requests).map(withoutLargeValues) };
}

/**
 * Applies a line of the log: a whole chat; a value at a path, set or deleted; or new elements of an array at a path,
 * instead of those from place `i` on. Paths of which nothing is kept change nothing. Throws for a line of another form.
 */
export function changedChat(chat: Chat | undefined, { kind, k: path, v: value, i: place }: JsonObject): Chat {
  if (kind === INITIAL) return chatOf(value);
  if (chat === undefined || !Array.isArray(path) || ![SET, PUSH, DELETE].includes(Number(asText(kind))))
    throw new SyntaxError('not a change');
  const [name, ...rest]: unknown[] = path;
  if (name === 'customTitle') return { ...chat, customTitle: value };
  if (name !== 'requests') return chat;
  const change = (before: unknown) =>
    kind === PUSH ? spliced(before, place, value) : kind === SET ? value : undefined;
  return { ...chat, requests: objectsOf(changedAt(chat.requests, rest, change)).map(withoutLargeValues) };
}

function changedAt(
  value: unknown,
  [step, ...rest]: unknown[],
  change: (before: unknown) => unknown,
): unknown {
  if (step === undefined) return change(value);
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    const at = Number(asText(step));
    return at in items ? items.with(at, changedAt(items[at], rest, change)) : items;
  }
  if (!isObject(value) || step === '__proto__') return value;
  const name = asText(step);
  return { ...value, [name]: changedAt(propertyOf(value, name), rest, change) };
}

function spliced(before: unknown, place: unknown, added: unknown): unknown[] {
  const items = listOf(before);
  const kept = typeof place === 'number' ? items.slice(0, Math.max(0, place)) : items;
  return [...kept, ...listOf(added)];
}

function withoutLargeValues(request: JsonObject): JsonObject {
  const kept = REQUEST_KEYS.filter((key) => Object.hasOwn(request, key)).map((key) => [key, request[key]]);
  const { response, ...rest }: JsonObject = Object.fromEntries(kept);
  const parts = objectsOf(response).map((part) =>
    PART_KINDS.includes(part['kind']) ? part : { kind: part['kind'] },
  );
  return { ...rest, response: parts };
}
