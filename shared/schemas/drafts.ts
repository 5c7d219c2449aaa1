import Type, { type Static } from 'typebox';
import { closedObject, oneOf, text, withDefault } from './build.ts';
import { Count, Id, withProject } from './common.ts';
import { ALTERNATIVES_MAX, MESSAGES_MAX, PREDICTION_MODES, TEXT_MAX } from './limits.ts';
import { Message } from './predictions.ts';

const Ids = Type.Array(Id);

/** A request to complete a person's draft outside any app. */
export const DraftRequest = closedObject({
  draft: text(TEXT_MAX),
  mode: withDefault(oneOf(PREDICTION_MODES), 'complete_draft'),
  language: withDefault(text(40, 2), 'auto'),
  messages: withDefault(Type.Array(Message, { maxItems: MESSAGES_MAX }), []),
});
export type DraftRequest = Static<typeof DraftRequest>;

export const DraftInput = withProject(DraftRequest);
export type DraftInput = Static<typeof DraftInput>;

/** The memory used, without its texts. */
export const DraftContext = closedObject({
  profile: Type.Boolean(),
  fact_ids: Ids,
  episode_ids: Ids,
  raw_ids: Ids,
  /** True if some of the request's own text was left out. */
  truncated: Type.Boolean(),
});
export type DraftContext = Static<typeof DraftContext>;

export const DraftResponse = closedObject({
  status: oneOf(['suggested', 'abstained']),
  /** Empty if the prediction abstained. */
  completion: Type.String(),
  /** Other completions, the likeliest first. */
  alternatives: Type.Array(Type.String(), { maxItems: ALTERNATIVES_MAX }),
  /** The model's confidence in the completion, even if it is too low to show the completion. */
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  /** The model that answered or, for a blank draft, the model that would have been asked. */
  model: Type.String(),
  /**
   * Messages sent to the model. Absent if the caller may not read memory. Empty if no language model was asked, or if
   * memory in the messages has been deleted meanwhile.
   */
  sent: Type.Optional(Type.Array(closedObject({ role: Type.String(), content: Type.String() }))),
  /** Absent if the caller may not read memory. */
  context: Type.Optional(DraftContext),
  usage: closedObject({ input_tokens: Count, output_tokens: Count }),
  /** Milliseconds in the queue, for reading memory, for the model, and in total from the request to the answer. */
  timing: closedObject({ queue_ms: Count, memory_ms: Count, model_ms: Count, total_ms: Count }),
});
export type DraftResponse = Static<typeof DraftResponse>;
