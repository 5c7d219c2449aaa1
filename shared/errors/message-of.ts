/**
 * Returns an error's message. A connection to a host name with several addresses fails with an `AggregateError` without
 * a message, which has one error per address: then this returns the message of the first of these errors.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
