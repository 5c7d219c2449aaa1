import {
  type ComponentPropsWithoutRef,
  createElement,
  forwardRef,
  type RefCallback,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';
import type { FieldOptions } from './attach.ts';
import type { Completer, CompleterClient } from './completer.ts';
import { attachCompleter } from './textarea.ts';

export type { FieldOptions } from './attach.ts';
export type { Completer } from './completer.ts';

/**
 * Attaches a completer to the field that gets the `ref`, whether React controls its text or not. The completer is there
 * while the field is, for example for `completer.current?.submit()`. A change of client, user, session, trigger, delay or
 * number of alternatives makes a new one; functions and `enabled` may change at any time.
 */
export function useCompleter(
  client: CompleterClient,
  options: FieldOptions,
): [ref: RefCallback<HTMLElement>, completer: RefObject<Completer | null>] {
  const { userId, sessionId, trigger, minDelayMs, maxDelayMs, alternatives, enabled = true } = options;
  const [field, setField] = useState<HTMLElement | null>(null);
  const completer = useRef<Completer | null>(null);
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    if (field === null) return;
    const attached = attachCompleter(field, client, {
      userId,
      ...(sessionId !== undefined && { sessionId }),
      ...(trigger !== undefined && { trigger }),
      ...(minDelayMs !== undefined && { minDelayMs }),
      ...(maxDelayMs !== undefined && { maxDelayMs }),
      ...(alternatives !== undefined && { alternatives }),
      context: () => latest.current.context?.() ?? {},
      onSuggestion: (suggestion) => latest.current.onSuggestion?.(suggestion),
      onError: (error) => latest.current.onError?.(error),
      onShown: (suggested) => latest.current.onShown?.(suggested),
      onAccepted: (suggested) => latest.current.onAccepted?.(suggested),
      onDismissed: (suggested) => latest.current.onDismissed?.(suggested),
    });
    completer.current = attached;
    return () => {
      attached.close();
      completer.current = null;
    };
  }, [field, client, userId, sessionId, trigger, minDelayMs, maxDelayMs, alternatives]);
  useEffect(() => {
    if (completer.current) completer.current.enabled = enabled;
  });
  return [setField, completer];
}

export interface ForecueTextareaProps extends ComponentPropsWithoutRef<'textarea'> {
  client: CompleterClient;
  /** What the completer is told: `{ userId: 'me' }`. */
  completer: FieldOptions;
}

/** A `<textarea>` with suggestions. It takes the properties of one; its `ref` is the element. */
export const ForecueTextarea = forwardRef<HTMLTextAreaElement, ForecueTextareaProps>(function ForecueTextarea(
  { client, completer, ...properties },
  ref,
) {
  const [attach] = useCompleter(client, completer);
  const attachBoth = useCallback(
    (field: HTMLTextAreaElement | null) => {
      attach(field);
      if (typeof ref === 'function') ref(field);
      else if (ref !== null) ref.current = field;
    },
    [attach, ref],
  );
  return createElement('textarea', { ...properties, ref: attachBoth });
});
