import { type Completer, type CompleterClient, type CompleterOptions, createCompleter } from './completer.ts';
import { isFocused } from './field.ts';
import { pressKey } from './keys.ts';
import { Overlay } from './overlay.ts';
import { speechAfter } from './speech.ts';
import { Chips, hasTouch } from './touch.ts';

/** A place to type in: a field of the page, or an editor. */
export interface Surface {
  /** Element that gets the keys, and over which suggestions are drawn. */
  element: HTMLElement;
  /** Returns the text before the caret, and whether something may be suggested after it. */
  read(): { text: string; isOpen: boolean };
  /** Inserts at the caret, as one step to undo. */
  insert(text: string): void;
  /** Calls back when the text or the caret may have changed, or a composition begins or ends, and no event tells. */
  watch?(onChange: () => void, onComposition: (isComposing: boolean) => void): () => void;
  /** Draws a suggestion, or nothing if it is empty, instead of an overlay. */
  draw?(suggestion: string): void;
}

export interface FieldOptions extends CompleterOptions {
  /** When to show a bar of chips above the keyboard: by default where people touch the screen. */
  chips?: 'touch' | 'always' | 'never';
}

/** Suggests while a person types into a surface. `close` detaches the completer. */
export function attachTo(surface: Surface, client: CompleterClient, options: FieldOptions): Completer {
  const { element } = surface;
  const speech = speechAfter(element);
  let isComposing = false;
  let isInserting = false;
  const completer = createCompleter(fitting(client, element), {
    ...options,
    onSuggestion(suggestion) {
      draw(suggestion);
      speech.say(suggestion);
      chips?.show(completer.choices);
      options.onSuggestion?.(suggestion);
    },
  });
  const read = () => {
    if (isInserting) return;
    // Passes the text on even if nothing should be suggested: `submit` compares it with the accepted suggestion.
    const { text, isOpen } = surface.read();
    completer.update(text);
    if (!isOpen || isComposing || !isFocused(element)) completer.update(null);
    draw(completer.suggestion);
  };
  const acceptWord = () => insert(completer.acceptWord());
  const overlay = surface.draw
    ? undefined
    : new Overlay(element, { onStale: read, onTap: () => insert(completer.accept()), onSwipe: acceptWord });
  const { chips: when = 'touch' } = options;
  const hasChips = when === 'always' || (when === 'touch' && hasTouch());
  const chips = hasChips
    ? new Chips(element.ownerDocument, (choice) => insert(completer.accept(choice)), acceptWord)
    : undefined;
  const draw = (suggestion: string) => (surface.draw ? surface.draw(suggestion) : overlay?.show(suggestion));
  const compose = (isBegun: boolean) => {
    isComposing = isBegun;
    if (isComposing) completer.update(null);
    else read();
  };
  // An editor that inserts reports the text and the caret one after the other.
  const insert = (text: string) => {
    isInserting = true;
    surface.insert(text);
    isInserting = false;
    read();
  };
  const stop = new AbortController();
  const { signal } = stop;
  const listen = (names: string, listener: (event: Event) => void, target: EventTarget = element) => {
    for (const name of names.split(' '))
      target.addEventListener(name, listener, { signal, capture: name === 'keydown' });
  };
  listen('input focusin', () => isComposing || read());
  listen('focusout', () => completer.update(null));
  listen('compositionstart', () => compose(true));
  listen('compositionend', () => compose(false));
  listen('keydown', (event) => pressKey(event as KeyboardEvent, completer, insert));
  const onCaretMove = () => isFocused(element) && !isComposing && read();
  listen('selectionchange', onCaretMove);
  listen('selectionchange', onCaretMove, element.ownerDocument);
  // Reads what somebody typed before. An editor that is being set up can be read only afterwards.
  queueMicrotask(() => !signal.aborted && isFocused(element) && !isComposing && read());
  const unwatch = surface.watch?.(() => isComposing || read(), compose);
  const close = completer.close.bind(completer);
  completer.close = () => {
    stop.abort();
    unwatch?.();
    close();
    draw('');
    overlay?.remove();
    chips?.remove();
    speech.remove();
  };
  return completer;
}

/** Leaves out the choices that do not fit into a field with a `maxlength`. */
function fitting(client: CompleterClient, field: Partial<HTMLTextAreaElement>): CompleterClient {
  return {
    async predict(request, options) {
      const prediction = await client.predict(request, options);
      const { maxLength = -1 } = field;
      if (maxLength < 0 || prediction.status !== 'suggested') return prediction;
      const room = maxLength - request.draft.text.length;
      const fits = (text: string) => text.length <= room;
      const [completion, ...alternatives] = [
        prediction.completion,
        ...(prediction.alternatives ?? []),
      ].filter(fits);
      return completion === undefined
        ? { ...prediction, status: 'abstained' }
        : { ...prediction, completion, alternatives };
    },
    recordPredictionEvent: (event, options) => client.recordPredictionEvent(event, options),
  };
}
