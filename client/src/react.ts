import { useEffect, useMemo, useRef, useState } from 'react';
import { type Completer, type CompleterClient, type CompleterOptions, createCompleter } from './completer.ts';

export type { Completer, CompleterOptions } from './completer.ts';

/**
 * Returns the text to show after the caret, and the completer to call as the person types. A change of client, user,
 * session or delay creates a new completer; `context` and `onError` may change at any time.
 */
export function useCompleter(
  client: CompleterClient,
  options: Omit<CompleterOptions, 'onSuggestion'>,
): [suggestion: string, completer: Completer] {
  const { userId, sessionId, minDelayMs, maxDelayMs } = options;
  const [suggestion, setSuggestion] = useState('');
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const completer = useMemo(
    () =>
      createCompleter(client, {
        userId,
        sessionId,
        minDelayMs,
        maxDelayMs,
        context: () => latest.current.context?.() ?? {},
        onError: (error) => latest.current.onError?.(error),
        onSuggestion: setSuggestion,
      }),
    [client, userId, sessionId, minDelayMs, maxDelayMs],
  );
  useEffect(() => () => completer.close(), [completer]);
  return [suggestion, completer];
}
