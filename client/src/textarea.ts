import { attachTo, type FieldOptions } from './attach.ts';
import type { Completer, CompleterClient } from './completer.ts';
import { insertInto, isAtEnd, textOf } from './field.ts';

export type { FieldOptions } from './attach.ts';
export type { Completer, CompleterClient, Suggested } from './completer.ts';

/**
 * Shows suggestions in a `<textarea>`, an `<input>` or an element with `contenteditable`, while the caret is at the
 * end. Tab accepts the suggestion, Ctrl+→ or Alt+→ its next word, Escape hides it, Alt+] shows another, Alt+\ asks for
 * one. `close` detaches the completer. Throws a `TypeError` for null, which `querySelector` returns for no element.
 */
export function attachCompleter(
  field: HTMLElement | null,
  client: CompleterClient,
  options: FieldOptions,
): Completer {
  if (field === null) throw new TypeError('field: there is no such element');
  const surface = {
    element: field,
    read: () => ({ text: textOf(field), isOpen: field.isConnected && isAtEnd(field) }),
    insert: (text: string) => insertInto(field, text),
  };
  return attachTo(surface, client, options);
}
