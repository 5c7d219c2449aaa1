import { asText, type JsonObject, objectOf, objectsOf } from '../json.ts';

/** Line in a message from an editor. It comes after the list of open files and before the person's words. */
const REQUEST_HEADING = '## My request for Codex:';
/** Types of a message's blocks, in lower case. */
const BLOCKS = /^((input_|output_)?text|(input_|local_?)?image|skill|mention)$/;

/** Forms of what was said. A rollout may repeat it in several of them. */
export type Form = 'event' | 'item' | 'response';

/** Returns the texts of a message's blocks; undefined if the message has blocks, but none of a known type. */
export function textsIn(content: unknown): string[] | undefined {
  const blocks = objectsOf(content).map(({ type, text }) => ({ type: asText(type).toLowerCase(), text }));
  if (blocks.length > 0 && !blocks.some(({ type }) => BLOCKS.test(type))) return undefined;
  return blocks.flatMap(({ type, text }) => (/text$/.test(type) && typeof text === 'string' ? [text] : []));
}

export function formOf({ type }: JsonObject, payload: JsonObject): Form | undefined {
  const kind = payload['type'];
  if (type === 'response_item')
    return kind === 'message' && ['user', 'assistant'].includes(asText(payload['role']))
      ? 'response'
      : undefined;
  if (type !== 'event_msg') return undefined;
  if (kind === 'user_message' || kind === 'agent_message') return 'event';
  const isSaid = ['UserMessage', 'AgentMessage'].includes(asText(objectOf(payload['item'])['type']));
  return kind === 'item_completed' && isSaid ? 'item' : undefined;
}

/** Leaves out the list of open files. */
export function requestIn(message: string): string {
  const at = message.indexOf(REQUEST_HEADING);
  return at < 0 ? message : message.slice(at + REQUEST_HEADING.length);
}
