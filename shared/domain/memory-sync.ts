import { MESSAGE_ORIGINS } from '../schemas/limits.ts';
import { CONTENT_MAX } from '../schemas/memory.ts';
import type { RawValues } from './memory-rows.ts';
import { shortened } from './shortened.ts';

/** A stored event, its JSON parsed. */
export type StoredEvent = Readonly<Record<string, unknown>> & {
  type: string;
  id: string;
  session_id: string;
  source: string;
  occurred_at: string;
};

type Said = Pick<RawValues, 'kind' | 'role' | 'content' | 'agent'>;

/**
 * The raw row that an event becomes; undefined for one that says nothing: a `session.*`, or a blank text. Text beyond
 * what a row holds loses its middle.
 */
export function rawOf(event: StoredEvent): RawValues | undefined {
  const said = saidIn(event);
  if (said === undefined || said.content.trim() === '') return undefined;
  const { in_reply_to: inReplyTo } = event;
  return {
    ...said,
    content: shortened(said.content, CONTENT_MAX),
    origin: originOf(said, event),
    sessionId: event.session_id,
    source: event.source,
    occurredAt: new Date(event.occurred_at),
    tags: [],
    metadata: typeof inReplyTo === 'string' ? { in_reply_to: inReplyTo } : {},
  };
}

function saidIn({ type, ...event }: StoredEvent): Said | undefined {
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
      return undefined;
    default:
      return { kind: 'other', role: null, agent: null, content: JSON.stringify(event['payload']) };
  }
}

/** A producer may say of a person's text that it was predicted: such text is no evidence of what the person thinks. */
function originOf({ role }: Said, { origin }: StoredEvent): RawValues['origin'] {
  if (role !== 'human') return role === 'agent' ? 'agent' : 'unknown';
  return MESSAGE_ORIGINS.find((known) => known === origin) ?? 'human';
}
