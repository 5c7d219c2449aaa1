import type { FeedbackRequest } from '../../schemas/replies.ts';
import { Faults } from '../faults.ts';
import { saysTheSame } from './text.ts';

/** What a decision is about. */
interface Decided {
  response: string;
  error?: string | null | undefined;
  features?: object | null | undefined;
}

interface Feedback {
  actualResponse: string | null;
  /** Whether the prediction was right; null where it teaches nothing. */
  label: boolean | null;
}

/**
 * What a person's decision on a prediction means. Who accepts replied what was predicted, unless they say otherwise; an edit
 * that changes next to nothing counts as right. Throws a `ValidationError` when the reply is missing: an edit needs it, and
 * so does accepting a prediction that failed.
 */
export function feedbackOf(
  { response, error, features }: Decided,
  { status, actual_response: given }: FeedbackRequest,
): Feedback {
  const isNeeded = status === 'edited' || (status === 'accepted' && error != null);
  if (isNeeded && !given?.trim()) refuse(given);
  const actualResponse = given ?? (status === 'accepted' ? response : null);
  const isRight = status === 'accepted' || (status === 'edited' && saysTheSame(response, given ?? ''));
  return { actualResponse, label: features == null ? null : isRight };
}

function refuse(given: string | null | undefined): void {
  const faults = new Faults();
  if (given === undefined) faults.add('actual_response', 'Field required', 'missing');
  else faults.add('actual_response', 'Input should say what the person replied');
  faults.refuse();
}
