import Type from 'typebox';
import type { AccountClient } from '../../../client/src/api.ts';
import { closedObject, oneOf } from '../../../shared/schemas/build.ts';
import { EVENTS, RecordingReceipt } from '../../../shared/schemas/recording.ts';
import { openObject, pick, SETTING_HINTS, tool, withDescription } from './tool.ts';

const EVENTS_MAX = 100;

const { id, session_id, occurred_at, source } = EVENTS.note.properties;
const { agent, prompt } = EVENTS['agent.prompt'].properties;
const { reply, in_reply_to } = EVENTS['user.reply'].properties;

/** Properties of events of all types but `custom`. `/api` checks which of them a type needs. */
const Event = Type.Object({
  // An agent must not report what the person allowed it.
  type: oneOf(Object.keys(EVENTS).filter((type) => type !== 'agent.permission')),
  id: withDescription(id, 'Yours; a repeated one changes nothing'),
  session_id,
  occurred_at: Type.Optional(withDescription(occurred_at, 'RFC 3339; now')),
  source: Type.Optional(source),
  agent: Type.Optional(agent),
  prompt: Type.Optional(prompt),
  reply: Type.Optional(reply),
  in_reply_to,
  text: Type.Optional(EVENTS.note.properties.text),
});

export const recordEvents = tool({
  name: 'record_events',
  description:
    'Record what was said, as it happens: agent.prompt {agent, prompt}, then user.reply {agent, reply, in_reply_to}; agent.message {agent, text}, user.message and note {text}. Memory and predictions are made of it. Not where a hook records the session.',
  hints: SETTING_HINTS,
  input: closedObject({ events: Type.Array(Event, { minItems: 1, maxItems: EVENTS_MAX }) }),
  output: openObject(pick(RecordingReceipt.properties, 'accepted', 'duplicates')),
  async run({ events }, { account, signal, agent }) {
    const now = new Date().toISOString();
    const completedEvents = events.map((event) => ({ occurred_at: now, source: agent, ...event }));
    return account.recordEvents(completedEvents as Parameters<AccountClient['recordEvents']>[0], { signal });
  },
});
