import { caretIn } from './field.ts';

export interface Box {
  /** Corner in the window. */
  x: number;
  y: number;
  /** Size in the field's own pixels, which transforms and zoom enlarge. */
  width: number;
  height: number;
}

/** The line of the caret and what is below it in the field, as wide as the caret's paragraph. */
interface RestOfField {
  box: Box;
  /** Style of the text at the caret. */
  style: CSSStyleDeclaration;
  /** Direction of the paragraph. */
  direction: string;
  lineHeight: number;
  /** Distance from the beginning of the line to the caret. */
  indent: number;
  /** True if there is room for no other line: the field ends, or has text below the paragraph. */
  isAlone: boolean;
}

/** Returns undefined if the caret is not in the field, is out of its sight, or goes from top to bottom. */
export function restOfLine(field: HTMLElement): RestOfField | undefined {
  const caret = caretIn(field);
  if (caret === undefined) return undefined;
  const node = caret.startContainer;
  const element = (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement) as HTMLElement;
  const block = blockOf(element, field);
  const blockStyle = getComputedStyle(block);
  const style = getComputedStyle(element);
  const outer = field.getBoundingClientRect();
  const scale = outer.width / field.offsetWidth || 1;
  const [paddingLeft, paddingRight] = [pixels(blockStyle.paddingLeft), pixels(blockStyle.paddingRight)];
  const left = block.getBoundingClientRect().left + (block.clientLeft + paddingLeft) * scale;
  const right = left + (block.clientWidth - paddingLeft - paddingRight) * scale;
  const isRtl = blockStyle.direction === 'rtl';
  const rect = caret.getClientRects()[0] ?? emptyLine(block, blockStyle, isRtl ? right : left, scale);
  const lineHeight = pixels(style.lineHeight) || rect.height / scale;
  const y = rect.top + rect.height / 2 - (lineHeight * scale) / 2;
  const isVertical = !blockStyle.writingMode.startsWith('horizontal');
  if (right <= left || outer.bottom <= y || isVertical) return undefined;
  const below = caret.cloneRange();
  below.selectNodeContents(field);
  below.setStart(node, caret.startOffset);
  const lines = Math.max(1, Math.floor((outer.bottom - y) / scale / lineHeight));
  const isAlone = lines === 1 || below.toString().trim() !== '';
  return {
    // A line that is cut in half would be in the way.
    box: { x: left, y, width: (right - left) / scale, height: (isAlone ? 1 : lines) * lineHeight },
    style,
    direction: blockStyle.direction,
    lineHeight,
    isAlone,
    indent: (isRtl ? right - rect.right : rect.left - left) / scale,
  };
}

export function pixels(length: string): number {
  return Number.parseFloat(length) || 0;
}

/** Returns the element in which the lines of an element are, which a field that is part of a line does not contain. */
export function blockOf(element: HTMLElement, field: HTMLElement): HTMLElement {
  const { display } = getComputedStyle(element);
  const isInLine = display === 'inline' || (element !== field && display.startsWith('inline'));
  return isInLine && element.parentElement ? blockOf(element.parentElement, field) : element;
}

/** Returns where the caret stands in a line without text, of which no range has a rectangle. */
function emptyLine(block: HTMLElement, style: CSSStyleDeclaration, x: number, scale: number): DOMRect {
  const lineHeight = pixels(style.lineHeight) || pixels(style.fontSize) * 1.2;
  const lines = block.getElementsByTagName('br');
  const last = lines[lines.length - 1]?.getBoundingClientRect();
  const top = block.getBoundingClientRect().top + (block.clientTop + pixels(style.paddingTop)) * scale;
  return new DOMRect(x, last?.top ?? top, 0, last?.height || lineHeight * scale);
}
