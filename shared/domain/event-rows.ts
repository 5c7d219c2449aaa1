import { MESSAGE_ORIGINS } from '../schemas/limits.ts';
import { CONTENT_MAX } from '../schemas/memory.ts';
import { truncateMiddle } from '../text/cut.ts';
import type { RawValues } from './memory-rows.ts';

export type StoredEvent = Readonly<Record<string, unknown>> & {
  type: string;
  id: string;
  session_id: string;
  source: string;
  occurred_at: string;
};

type RawText = Pick<RawValues, 'kind' | 'role' | 'content' | 'agent'>;

/** Returns undefined for an event without text. A text that is too long for a row loses its middle. */
export function rawRowOf(event: StoredEvent): RawValues | undefined {
  const rawText = rawTextOf(event);
  if (rawText === undefined || rawText.content.trim() === '') return undefined;
  const { in_reply_to: inReplyTo } = event;
  return {
    ...rawText,
    content: truncateMiddle(rawText.content, CONTENT_MAX),
    origin: originOf(rawText, event),
    sessionId: event.session_id,
    source: event.source,
    occurredAt: new Date(event.occurred_at),
    tags: [],
    metadata: typeof inReplyTo === 'string' ? { in_reply_to: inReplyTo } : {},
  };
}

function rawTextOf({ type, ...event }: StoredEvent): RawText | undefined {
  const agent = String(event['agent']);
  switch (type) {
    case 'agent.prompt':
      return { kind: 'prompt', role: 'agent', agent, content: String(event['prompt']) };
    case 'user.reply':
      return { kind: 'reply', role: 'human', agent, content: String(event['reply']) };
    case 'agent.message':
      return { kind: 'message', role: 'agent', agent, content: String(event['text']) };
    case 'user.message':
      return { kind: 'message', role: 'human', agent: null, content: String(event['text']) };
    case 'note':
      return { kind: 'note', role: 'human', agent: null, content: String(event['text']) };
    case 'session.started':
    case 'session.stopped':
    case 'agent.permission':
      return undefined;
    default:
      return { kind: 'other', role: null, agent: null, content: JSON.stringify(event['payload']) };
  }
}

/** A client may mark a person's text as predicted. Such a text is no evidence of what the person thinks. */
function originOf({ role }: RawText, { origin }: StoredEvent): RawValues['origin'] {
  if (role !== 'human') return role === 'agent' ? 'agent' : 'unknown';
  return MESSAGE_ORIGINS.find((known) => known === origin) ?? 'human';
}
