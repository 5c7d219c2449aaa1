import type { ReplyContext } from '../../schemas/replies.ts';
import type { Decided } from './decide.ts';

/** What the work of a prediction reports when it succeeds: columns of `replies`, which the trigger `reply_ended` fills. */
export interface ReplyReport extends Decided {
  model: string;
  latency_ms: number;
  input_tokens: number;
  output_tokens: number;
  context: ReplyContext;
}
