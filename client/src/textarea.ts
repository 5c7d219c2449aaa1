import { type Completer, type CompleterClient, type CompleterOptions, createCompleter } from './completer.ts';

export type { Completer, CompleterOptions } from './completer.ts';

/** Styles that the ghost text copies from its field, so that it appears where it would be typed. */
const COPIED_STYLES = [
  'boxSizing',
  'padding',
  'borderStyle',
  'borderWidth',
  'font',
  'letterSpacing',
  'lineHeight',
  'tabSize',
  'textAlign',
  'textIndent',
  'textTransform',
  'wordSpacing',
  'direction',
] as const;

/**
 * Shows suggestions in a `<textarea>`, or an element with `contenteditable="plaintext-only"`, while the caret is at the
 * end. Tab accepts the suggestion, Ctrl+→ or Alt+→ its next word, Escape hides it. `close` detaches the completer.
 */
export function attachCompleter(
  field: HTMLElement,
  client: CompleterClient,
  options: CompleterOptions,
): Completer {
  const ghost = ghostOf(field);
  const completer = createCompleter(client, {
    ...options,
    onSuggestion(suggestion) {
      ghost.show(textOf(field), suggestion);
      options.onSuggestion?.(suggestion);
    },
  });
  const read = () => {
    // Passes the text on even if nothing should be suggested: `submit` compares it with the accepted suggestion.
    completer.update(textOf(field));
    if (!isAtEnd(field)) completer.update(null);
    ghost.show(textOf(field), completer.suggestion);
  };
  const press = (event: KeyboardEvent) => {
    if (completer.suggestion === '' || event.isComposing || event.shiftKey || event.metaKey) return;
    const isModified = event.ctrlKey || event.altKey;
    if (event.key === 'Tab' && !isModified) insert(field, completer.accept());
    else if (event.key === 'ArrowRight' && isModified) insert(field, completer.acceptWord());
    else if (event.key === 'Escape' && !isModified) completer.dismiss();
    else return;
    event.preventDefault();
  };
  const leave = () => completer.update(null);
  const stop = new AbortController();
  const { signal } = stop;
  field.addEventListener('input', (event) => (event as InputEvent).isComposing || read(), { signal });
  field.addEventListener('compositionstart', leave, { signal });
  field.addEventListener('compositionend', read, { signal });
  field.addEventListener('keydown', press, { signal });
  field.addEventListener('focus', read, { signal });
  field.addEventListener('blur', leave, { signal });
  field.addEventListener('scroll', ghost.scroll, { signal });
  const onCaretMove = () => field.ownerDocument.activeElement === field && read();
  field.ownerDocument.addEventListener('selectionchange', onCaretMove, { signal });
  const close = completer.close.bind(completer);
  completer.close = () => {
    stop.abort();
    close();
    ghost.remove();
  };
  return completer;
}

function isText(field: HTMLElement): field is HTMLTextAreaElement {
  return 'value' in field;
}

function textOf(field: HTMLElement): string {
  return isText(field) ? field.value : (field.textContent ?? '');
}

/** Reports whether the caret is after all of the text, and nothing is selected. */
function isAtEnd(field: HTMLElement): boolean {
  if (isText(field)) return field.selectionStart === field.value.length;
  const selection = field.ownerDocument.getSelection();
  if (!selection?.isCollapsed || !field.contains(selection.anchorNode)) return false;
  const rest = field.ownerDocument.createRange();
  rest.selectNodeContents(field);
  rest.setStart(selection.getRangeAt(0).endContainer, selection.getRangeAt(0).endOffset);
  return rest.toString() === '';
}

/** Uses `execCommand` if the browser supports it, so that the person can undo the insertion. */
function insert(field: HTMLElement, text: string): void {
  if (field.ownerDocument.execCommand('insertText', false, text) || !isText(field)) return;
  field.setRangeText(text, field.value.length, field.value.length, 'end');
  field.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText', data: text }));
}

/** Covers the field with a copy in which only the suggestion is visible. A screen reader reads the suggestion. */
function ghostOf(field: HTMLElement) {
  const { ownerDocument } = field;
  const mirror = ownerDocument.createElement('div');
  const typedSpan = ownerDocument.createElement('span');
  const suggestionSpan = ownerDocument.createElement('span');
  const spokenSpan = ownerDocument.createElement('span');
  mirror.append(typedSpan, suggestionSpan);
  mirror.ariaHidden = 'true';
  spokenSpan.role = 'status';
  Object.assign(mirror.style, {
    position: 'absolute',
    overflow: 'hidden',
    pointerEvents: 'none',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'break-word',
    borderColor: 'transparent',
    margin: '0',
    color: 'transparent',
  });
  Object.assign(spokenSpan.style, {
    position: 'absolute',
    width: '1px',
    height: '1px',
    overflow: 'hidden',
    clipPath: 'inset(50%)',
  });
  suggestionSpan.dataset['forecue'] = 'ghost';
  field.after(mirror, spokenSpan);

  const scroll = () => {
    mirror.scrollTop = field.scrollTop;
  };
  return {
    scroll,
    show(text: string, suggestion: string) {
      typedSpan.textContent = text;
      suggestionSpan.textContent = suggestion;
      spokenSpan.textContent = suggestion && `${suggestion} (Tab)`;
      mirror.hidden = suggestion === '';
      if (suggestion === '') return;
      const style = getComputedStyle(field);
      for (const name of COPIED_STYLES) mirror.style[name] = style[name];
      const scrollbarWidth =
        field.offsetWidth -
        field.clientWidth -
        Number.parseFloat(style.borderLeftWidth) -
        Number.parseFloat(style.borderRightWidth);
      Object.assign(mirror.style, {
        boxSizing: 'border-box',
        left: `${field.offsetLeft}px`,
        top: `${field.offsetTop}px`,
        width: `${field.offsetWidth - scrollbarWidth}px`,
        height: `${field.offsetHeight}px`,
      });
      Object.assign(suggestionSpan.style, { color: style.color, opacity: '0.65' });
      scroll();
    },
    remove() {
      mirror.remove();
      spokenSpan.remove();
    },
  };
}
