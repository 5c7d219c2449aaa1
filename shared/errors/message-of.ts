/**
 * Returns an error's message. A host name with several addresses fails with one error per address and no message of its
 * own; this returns that of the first address.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
