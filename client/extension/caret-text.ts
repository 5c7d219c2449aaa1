import { blockOf } from '../src/caret-box.ts';
import { caretIn, hasValue, isAtEnd, textOf } from '../src/field.ts';

/** Returns the text before the caret, and whether the caret is at the end of a field's text, or of a paragraph. */
export function readCaret(field: HTMLElement): { text: string; isOpen: boolean } {
  if (hasValue(field)) return { text: field.value, isOpen: isAtEnd(field) };
  const caret = caretIn(field);
  if (caret === undefined) return { text: '', isOpen: false };
  const { startContainer: node, startOffset } = caret;
  const element = node instanceof HTMLElement ? node : node.parentElement;
  const block = blockOf(element ?? field, field);
  if (block === field) return { text: textOf(field), isOpen: isAtEnd(field) };
  const range = (begin: 'start' | 'caret', end: 'caret' | 'end') => {
    const part = caret.cloneRange();
    part.selectNodeContents(block);
    if (begin === 'caret') part.setStart(node, startOffset);
    if (end === 'caret') part.setEnd(node, startOffset);
    return part;
  };
  const rest = caret.cloneRange();
  rest.selectNodeContents(field);
  rest.setStartBefore(block);
  const above = withoutEnd(textOf(field), charsIn(rest.toString())).trimEnd();
  const line = range('start', 'caret').toString().replaceAll('\u00a0', ' ');
  return {
    text: above === '' ? line : `${above}\n${line}`,
    isOpen: range('caret', 'end').toString().trim() === '',
  };
}

/** Counts the characters that are there however a text is laid out. */
function charsIn(text: string): number {
  return text.replaceAll(/\s/g, '').length;
}

function withoutEnd(text: string, chars: number): string {
  let end = text.length;
  for (let left = chars; left > 0 && end > 0; end -= 1) if (/\S/.test(text[end - 1] ?? '')) left -= 1;
  return text.slice(0, end);
}
