import { RIGHT_TO_LEFT } from './words.ts';

/** Reads and changes fields of either sort: those with a `value`, and elements with `contenteditable`. */

export function hasValue(field: HTMLElement): field is HTMLTextAreaElement | HTMLInputElement {
  return 'value' in field;
}

export function textOf(field: HTMLElement): string {
  // The text as it is shown has the breaks between paragraphs. A browser keeps a space at the end by making it wide.
  return hasValue(field) ? field.value : field.innerText.replaceAll('\u00a0', ' ');
}

/** Reports whether the caret is after all of the text, and nothing is selected. */
export function isAtEnd(field: HTMLElement): boolean {
  if (hasValue(field)) return isOpen(field) && field.selectionStart === field.value.length;
  const caret = field.isContentEditable ? caretIn(field) : undefined;
  if (caret === undefined) return false;
  const rest = field.ownerDocument.createRange();
  rest.selectNodeContents(field);
  rest.setStart(caret.startContainer, caret.startOffset);
  return rest.toString().trim() === '';
}

/** Reports whether more can be typed, and is then in sight. Ask again each time: pages change their fields. */
function isOpen(field: HTMLTextAreaElement | HTMLInputElement): boolean {
  const { readOnly, type, maxLength, value, scrollWidth, clientWidth } = field;
  const isFull = maxLength >= 0 && value.length >= maxLength;
  if (readOnly || type === 'password' || isFull) return false;
  if (field.tagName === 'INPUT' && scrollWidth > clientWidth + 1) return false;
  const { direction, textAlign } = getComputedStyle(field);
  const isRtl = direction === 'rtl';
  // At the far end there is no room after the caret, unless the text is written the other way.
  const isFarEnd = textAlign === 'end' || textAlign === (isRtl ? 'left' : 'right');
  return !isFarEnd || RIGHT_TO_LEFT.test(value) !== isRtl;
}

/** Returns the collapsed range of the caret; undefined if it is elsewhere, or something is selected. */
export function caretIn(field: HTMLElement): Range | undefined {
  // In a shadow root, Chromium gives the selection only to the root itself, as other browsers do not.
  const root = rootOf(field);
  const selection = ('getSelection' in root ? root : field.ownerDocument).getSelection();
  if (!selection?.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  return field.contains(range.startContainer) ? range : undefined;
}

export function isFocused(field: HTMLElement): boolean {
  return field.contains(rootOf(field).activeElement);
}

/** Uses `execCommand` if the browser supports it, so that the person can undo the insertion. */
export function insertInto(field: HTMLElement, text: string): void {
  const insertion = { bubbles: true, inputType: 'insertText', data: text };
  // A page that refuses what is typed refuses this too, of which `execCommand` asks nobody.
  const asked = new InputEvent('beforeinput', { ...insertion, cancelable: true, composed: true });
  if (text === '' || (hasValue(field) && (field.readOnly || !field.dispatchEvent(asked)))) return;
  if (field.ownerDocument.execCommand('insertText', false, text) || !hasValue(field)) return;
  field.setRangeText(text, field.value.length, field.value.length, 'end');
  field.dispatchEvent(new InputEvent('input', insertion));
}

function rootOf(field: HTMLElement): Document | ShadowRoot {
  const root = field.getRootNode();
  return 'activeElement' in root ? (root as Document | ShadowRoot) : field.ownerDocument;
}
