import type { ReplyDetail, ReplyResponse } from '../../shared/schemas/replies.ts';
import type { UserClient } from './account.ts';
import type { Options, Reply } from './client.ts';
import { type Step, structured } from './fake-provider.ts';

export const PREDICT = '/api/predictions/predict/';

/** What an agent asks, unless the test says otherwise. */
export function replyBody<Part extends object>(part?: Part) {
  return { agent: 'coder', agent_input: 'Which colour shall the button have?', ...part };
}

export function predictReply<Body = ReplyResponse>(
  person: UserClient,
  part: object = {},
  options: Options = {},
): Promise<Reply<Body>> {
  return person.request<Body>('POST', PREDICT, replyBody(part), options);
}

/** A prediction that must succeed. */
export async function predicted(person: UserClient, part: object = {}): Promise<ReplyResponse> {
  const { status, text, body } = await predictReply(person, part);
  if (status !== 200) throw new Error(`predicting was answered ${status} ${text}`);
  return body;
}

export function feedback(
  person: UserClient,
  { id }: { id: string },
  given: object,
): Promise<Reply<ReplyDetail>> {
  return person.request<ReplyDetail>('POST', `/api/predictions/${id}/feedback/`, given);
}

interface Proposal {
  response: string;
  likelihood?: string;
  reasoning?: string;
  needs_unknown_fact?: boolean;
}

/** The provider's step: these candidates, in the answer format that the prompt asks for. */
export function proposing(candidates: Proposal[], { none = 'guess', situation = 'approval' } = {}): Step {
  return structured({
    situation,
    candidates: candidates.map(
      ({ response, likelihood = 'almost_certain', reasoning = 'A habit.', ...rest }) => ({
        reasoning,
        response,
        needs_unknown_fact: rest.needs_unknown_fact ?? false,
        likelihood,
      }),
    ),
    none_of_these: none,
  });
}
