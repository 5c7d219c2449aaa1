import Type from 'typebox';
import { closedObject } from '../../../shared/schemas/build.ts';
import { FactRequest, FactResponse } from '../../../shared/schemas/memory.ts';
import {
  ADDING_HINTS,
  openObject,
  pick,
  READING_HINTS,
  readTypedId,
  TYPED_ID_PATTERN,
  tool,
  typedId,
} from './tool.ts';

const { text, tags } = FactRequest.properties;

export const remember = tool({
  name: 'remember',
  description:
    'Keep one lasting fact about the person that they stated or confirmed, as a short sentence. No secrets, no guesses.',
  hints: ADDING_HINTS,
  input: closedObject({ text, tags }),
  output: openObject({ id: Type.String() }),
  async run(fact, { account, signal }) {
    const { id } = await account.addFacts({ ...fact, origin: 'agent' }, { signal });
    return { id: typedId('fact', id) };
  },
});

export const forget = tool({
  name: 'forget',
  description:
    'Erase a row of memory for good, with what was derived from it alone and the event it was made of. Only when the person asks for it.',
  hints: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: closedObject({ id: Type.String({ pattern: TYPED_ID_PATTERN }) }),
  output: openObject(pick(FactResponse.properties, 'id')),
  async run({ id: typed }, { account, signal }) {
    const { tier, id } = readTypedId(typed);
    if (tier === 'fact') return { ...(await account.deleteFact(id, { signal })), id: typed };
    if (tier === 'episode') return { ...(await account.deleteEpisode(id, { signal })), id: typed };
    return { ...(await account.deleteRawMemory(id, { purge_event: 'true' }, { signal })), id: typed };
  },
});

export const stats = tool({
  name: 'stats',
  description: 'How many predictions were right, and how much is remembered.',
  hints: READING_HINTS,
  input: closedObject({}),
  output: openObject({ predictions: Type.Object({}), memory: Type.Object({}) }),
  async run(_, { account, signal }) {
    const [predictions, memory] = await Promise.all([
      account.readReplyStats({}, { signal }),
      account.readMemoryStats({}, { signal }),
    ]);
    return { predictions, memory };
  },
});
