import Type from 'typebox';
import { closedObject } from '../../../shared/schemas/build.ts';
import {
  FEEDBACK_STATES,
  FeedbackRequest,
  ReplyRequest,
  ReplyResponse,
} from '../../../shared/schemas/replies.ts';
import {
  ADDING_HINTS,
  DATA_WARNING,
  openObject,
  pick,
  project,
  SETTING_HINTS,
  tool,
  withDescription,
} from './tool.ts';

/** Without `threshold`: the agent that asks does not set the bar. The key and the account do. */
const { agent, agent_input, k, session_id } = ReplyRequest.properties;

export const predictReply = tool({
  name: 'predict_reply',
  description:
    'Call it before you ask the person anything. Predicts their reply. status "auto": act on predicted_response as if they had said it. "escalated": not certain enough, ask them. Then report with send_feedback what they said.',
  hints: ADDING_HINTS,
  input: closedObject({
    agent_input: withDescription(agent_input, 'Your question, word for word'),
    agent: Type.Optional(withDescription(agent, 'Your name')),
    k,
    session_id,
    project,
    detail: Type.Optional(Type.Boolean()),
  }),
  output: openObject(pick(ReplyResponse.properties, 'id', 'status', 'predicted_response', 'confidence')),
  async run({ detail, project, agent = undefined, ...asked }, { account, signal, agent: caller }) {
    const reply = await account.predictReply({ agent: agent ?? caller, ...asked }, { signal, project });
    const { id, status, predicted_response, confidence, candidates } = reply;
    if (detail) return { note: DATA_WARNING, ...reply };
    const others = candidates.slice(1).map((one) => ({ response: one.response, confidence: one.confidence }));
    const shortAnswer = { note: DATA_WARNING, id, status, predicted_response, confidence };
    return others.length === 0 ? shortAnswer : { ...shortAnswer, others };
  },
});

export const sendFeedback = tool({
  name: 'send_feedback',
  description: `Report what the person really said to a prediction, always: accepted as it was, edited, or rejected. It calibrates the next ones. "${FEEDBACK_STATES[1]}" needs actual_response.`,
  hints: SETTING_HINTS,
  input: closedObject({ id: ReplyResponse.properties.id, ...FeedbackRequest.properties }),
  output: openObject(pick(ReplyResponse.properties, 'id', 'status')),
  async run({ id, ...feedback }, { account, signal }) {
    await account.giveFeedback(id, feedback, { signal });
    return { id, status: feedback.status };
  },
});
