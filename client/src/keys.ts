import type { Completer } from './completer.ts';
import { RIGHT_TO_LEFT } from './words.ts';

/**
 * Does what a key means for a suggestion: Tab accepts it, Ctrl+→ or Alt+→ its next word, Escape hides it, Alt+] and
 * Alt+[ show another, Alt+\ asks for one. Returns false for any other key. `insert` gets what was accepted.
 */
export function pressKey(
  event: KeyboardEvent,
  completer: Completer,
  insert: (text: string) => void,
): boolean {
  if (event.isComposing || event.shiftKey || event.metaKey) return false;
  const action = actionOf(event, completer.suggestion);
  if (action === undefined) return false;
  const text = action(completer);
  if (typeof text === 'string') insert(text);
  // Otherwise Escape would also close a dialog, and an editor would indent.
  event.preventDefault();
  event.stopImmediatePropagation();
  return true;
}

type Action = (completer: Completer) => unknown;

/** Brackets are told by their place on the keyboard: with Alt they are other characters on a Mac. */
function actionOf({ key, code, ctrlKey, altKey }: KeyboardEvent, suggestion: string): Action | undefined {
  const isAlt = altKey && !ctrlKey;
  if (isAlt && code === 'Backslash') return (completer) => completer.suggest();
  if (suggestion === '') return undefined;
  if (isAlt && code === 'BracketRight') return (completer) => completer.next();
  if (isAlt && code === 'BracketLeft') return (completer) => completer.next(-1);
  // There, the next word is to the left.
  const forward = RIGHT_TO_LEFT.test(suggestion) ? 'ArrowLeft' : 'ArrowRight';
  if (ctrlKey || altKey) return key === forward ? (completer) => completer.acceptWord() : undefined;
  if (key === 'Tab') return (completer) => completer.accept();
  if (key === 'Escape') return (completer) => completer.dismiss();
  return undefined;
}
