import { type Entry, type JsonFormat, type Reader, type SessionEntries, UtteranceIds } from '../format.ts';
import { type JsonObject, stringOf } from '../json.ts';

const NAME = 'conversation';
const AGENT_ROLES = ['agent', 'assistant'];

/** The form for transcripts of other tools, which docs/recording.md describes. */
export const conversationLines: JsonFormat = {
  name: NAME,
  title: 'Conversation (JSON Lines: session, role, text, time)',
  recognises({ session, role, text, time }) {
    return [session, role, text, time].every((value) => typeof value === 'string');
  },
  open: () => new ConversationReader(),
};

class ConversationReader implements Reader {
  readonly #ids = new UtteranceIds();

  /** Throws if a line has no session, role or text. */
  read({ session, role, text, time, id, agent, folder }: JsonObject): SessionEntries {
    if (typeof session !== 'string' || typeof role !== 'string' || typeof text !== 'string')
      throw new SyntaxError('no session, role or text');
    const scope = `${NAME}:${session}`;
    const utterance = () => ({
      id: typeof id === 'string' ? `${scope}:${id}` : this.#ids.next(scope, role, text),
      at: stringOf(time),
      text: text.trim(),
    });
    const detail = stringOf(folder);
    return {
      session: { id: scope, agent: stringOf(agent) ?? 'agent', detail },
      entries: entriesOf(role, text, utterance),
    };
  }
}

function entriesOf(
  role: string,
  text: string,
  utterance: () => { id: string; at: string | undefined; text: string },
): Entry[] {
  const isAgents = AGENT_ROLES.includes(role);
  if (role === 'tool') return [{ kind: 'working' }, { kind: 'skipped' }];
  if (role === 'system') return [{ kind: 'skipped' }];
  if (role !== 'user' && !isAgents) return [{ kind: 'unread' }];
  if (text.trim() === '') return [{ kind: 'skipped' }];
  return [{ kind: isAgents ? 'agent' : 'user', ...utterance() }];
}
