import { attachTo, type Surface } from '../src/attach.ts';
import type { Completer } from '../src/completer.ts';
import { insertInto } from '../src/field.ts';
import { readCaret } from './caret-text.ts';
import { Link } from './link.ts';
import { monacoSurface } from './monaco-page.ts';
import { isOpenField } from './secrets.ts';

/** Suggests in the field that has the focus. Nothing is put into a page before somebody types where it is on. */
let isOn = false;
let attached: { field: HTMLElement; completer: Completer } | undefined;
const stop = new AbortController();
const watched = new WeakSet<Node>();

const link = new Link({
  onSwitch(nowOn) {
    isOn = nowOn;
    if (isOn) enter();
    else leave();
  },
  onGone() {
    stop.abort();
    leave();
  },
});

function enter(): void {
  const field = fieldAt(focusedElement());
  if (field === attached?.field && (field === undefined || field.isConnected)) return;
  leave();
  if (field === undefined || !isOpenField(field)) return;
  // The worker says whether suggestions are on, also if it has just been started again.
  link.open();
  if (!isOn) return;
  const completer = attachTo(surfaceOf(field), link, { userId: 'me', sessionId: 'extension' });
  attached = { field, completer };
}

function leave(): void {
  attached?.completer.close();
  attached = undefined;
}

function surfaceOf(field: HTMLElement): Surface {
  return (
    monacoSurface(field) ?? {
      element: field,
      read() {
        if (!field.isConnected || !isOpenField(field)) return { text: '', isOpen: false };
        const { text, isOpen } = readCaret(field);
        // An open list of mentions takes Tab for itself.
        return { text, isOpen: isOpen && !field.hasAttribute('aria-activedescendant') };
      },
      insert: (text) => insertInto(field, text),
    }
  );
}

/** Looks into shadow roots, and listens there: a focus that moves inside of one is not seen outside. */
function focusedElement(): Element | null {
  let { activeElement: focused } = document;
  while (focused instanceof HTMLElement) {
    const root = chrome.dom.openOrClosedShadowRoot(focused);
    if (root === null) break;
    listen(root);
    if (root.activeElement === null) break;
    focused = root.activeElement;
  }
  return focused;
}

/** Returns the field that has the focus: the whole of an editor, if that is in one. */
function fieldAt(focused: Element | null): HTMLElement | undefined {
  if (focused instanceof HTMLTextAreaElement || focused instanceof HTMLInputElement) return focused;
  if (!(focused instanceof HTMLElement)) return undefined;
  if (!focused.isContentEditable) return focused.closest('.monaco-editor') === null ? undefined : focused;
  let host = focused;
  while (host.parentElement?.isContentEditable) host = host.parentElement;
  return host;
}

function listen(root: Document | ShadowRoot): void {
  if (watched.has(root)) return;
  watched.add(root);
  root.addEventListener('focusin', enter, { capture: true, signal: stop.signal });
}

listen(document);
// A page that writes its document anew, as editors in frames do, takes all listeners off it.
const rewriting = new MutationObserver(() => {
  watched.delete(document);
  listen(document);
});
rewriting.observe(document, { childList: true });
stop.signal.addEventListener('abort', () => rewriting.disconnect());
