import { type Box, pixels, restOfLine } from './caret-box.ts';
import { hasValue } from './field.ts';
import { hasTouch, onTouch } from './touch.ts';

/** Styles that the ghost text copies from what is typed. */
const TEXT_STYLES = [
  'direction',
  'fontFamily',
  'fontFeatureSettings',
  'fontKerning',
  'fontSize',
  'fontStretch',
  'fontStyle',
  'fontVariant',
  'fontVariationSettings',
  'fontWeight',
  'letterSpacing',
  'lineHeight',
  'tabSize',
  'textAlign',
  'textTransform',
  'unicodeBidi',
  'wordSpacing',
] as const;
/** Styles of a field that decide where its lines break and how it is turned. */
const FIELD_STYLES = [
  'borderWidth',
  'lineBreak',
  'overflowWrap',
  'padding',
  'rotate',
  'scale',
  'textIndent',
  'transform',
  'transformOrigin',
  'translate',
  'whiteSpace',
  'wordBreak',
  'writingMode',
  'zoom',
] as const;
const PROBE_PX = 100;

interface OverlayHooks {
  /** The field no longer has the text that the suggestion is for. */
  onStale(): void;
  /** The suggestion was touched, or swiped over. */
  onTap(): void;
  onSwipe(): void;
}

/** Draws a suggestion over its field, where it would be typed, as long as it is shown. */
export class Overlay {
  readonly #field: HTMLElement;
  readonly #hooks: OverlayHooks;
  readonly #mirror: HTMLElement;
  readonly #typed: HTMLElement;
  readonly #suggestion: HTMLElement;
  #frame = 0;
  /** What the field looked like when the suggestion was placed. */
  #placedFor = '';
  #left = 0;
  #top = 0;

  constructor(field: HTMLElement, hooks: OverlayHooks) {
    const { ownerDocument } = field;
    this.#field = field;
    this.#hooks = hooks;
    this.#mirror = ownerDocument.createElement('div');
    this.#typed = ownerDocument.createElement('span');
    this.#suggestion = ownerDocument.createElement('span');
    this.#mirror.append(this.#typed, this.#suggestion);
    this.#mirror.ariaHidden = 'true';
    this.#suggestion.dataset['forecue'] = 'ghost';
    for (const part of [this.#mirror, this.#typed, this.#suggestion]) part.style.all = 'unset';
    if (hasTouch()) this.#suggestion.style.pointerEvents = 'auto';
    onTouch(this.#suggestion, hooks.onTap, hooks.onSwipe);
  }

  show(suggestion: string): void {
    cancelAnimationFrame(this.#frame);
    if (suggestion === '' || !this.#field.isConnected) {
      // Stays in the page: this may run while the page takes the field out, next to which a new one is to come.
      this.#suggestion.textContent = '';
      this.#mirror.style.display = 'none';
      return;
    }
    this.#typed.textContent = hasValue(this.#field) ? this.#field.value : '';
    this.#suggestion.textContent = suggestion;
    // A page may have moved the field since.
    if (this.#mirror.previousSibling !== this.#field) this.#field.after(this.#mirror);
    this.#place();
    this.#follow(stateOf(this.#field));
  }

  remove(): void {
    cancelAnimationFrame(this.#frame);
    this.#mirror.remove();
  }

  /** Looks at the field in each frame: no event tells of a text that a script has set, or of a changed layout. */
  #follow(state: string): void {
    this.#frame = requestAnimationFrame(() => {
      const field = this.#field;
      if (!field.isConnected) this.#mirror.remove();
      const isInPlace = this.#mirror.parentNode === field.parentNode;
      if (!field.isConnected || !isInPlace || stateOf(field) !== state) {
        this.#hooks.onStale();
        return;
      }
      if (this.#look() !== this.#placedFor) this.#place();
      this.#follow(state);
    });
  }

  #look(): string {
    const { x, y, width, height } = this.#field.getBoundingClientRect();
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.#field;
    return [x, y, width, height, scrollLeft, scrollTop, clientWidth, clientHeight].join();
  }

  #place(): void {
    this.#placedFor = this.#look();
    const style = getComputedStyle(this.#field);
    Object.assign(this.#mirror.style, {
      display: 'block',
      position: 'absolute',
      boxSizing: 'border-box',
      overflow: 'hidden',
      pointerEvents: 'none',
      border: '0 solid transparent',
      zIndex: style.zIndex,
    });
    const box = hasValue(this.#field) ? this.#coverField(style) : this.#beginAtCaret();
    if (box === undefined) {
      this.#mirror.style.display = 'none';
      return;
    }
    Object.assign(this.#mirror.style, { width: `${box.width}px`, height: `${box.height}px` });
    this.#moveTo(box);
    this.#clip();
    this.#mirror.scrollTop = this.#field.scrollTop;
    this.#mirror.scrollLeft = this.#field.scrollLeft;
  }

  /** Covers the field with a copy in which only the suggestion is visible. */
  #coverField(style: CSSStyleDeclaration): Box | undefined {
    const { offsetWidth, offsetHeight, clientWidth, clientLeft, clientHeight } = this.#field;
    const { x, y, width, height } = this.#field.getBoundingClientRect();
    if (width === 0) return undefined;
    for (const name of [...TEXT_STYLES, ...FIELD_STYLES]) this.#mirror.style[name] = style[name];
    this.#colour(style);
    // In a centred line the text that is typed would move.
    const isCentred = style.textAlign === 'center';
    Object.assign(
      this.#suggestion.style,
      isCentred
        ? { display: 'inline-block', width: '0', whiteSpace: 'pre' }
        : { display: '', whiteSpace: '' },
    );
    if (this.#field.tagName === 'INPUT') {
      // A browser centres the line.
      const inner = clientHeight - pixels(style.paddingTop) - pixels(style.paddingBottom);
      Object.assign(this.#mirror.style, { whiteSpace: 'pre', lineHeight: `${inner}px` });
    }
    const [borderLeft, borderRight] = [pixels(style.borderLeftWidth), pixels(style.borderRightWidth)];
    const scrollbar = Math.round(offsetWidth - clientWidth - borderLeft - borderRight);
    // Unless it is enlarged or turned, the rectangle has the fractions that `offsetWidth` leaves out.
    const isPlain = Math.abs(width - offsetWidth) < 1 && Math.abs(height - offsetHeight) < 1;
    const scrollbarLeft = (clientLeft - borderLeft) * (width / offsetWidth);
    return {
      x: x + scrollbarLeft,
      y,
      width: (isPlain ? width : offsetWidth) - scrollbar,
      height: isPlain ? height : offsetHeight,
    };
  }

  /** Begins at the caret, in a box as wide as its paragraph. */
  #beginAtCaret(): Box | undefined {
    const line = restOfLine(this.#field);
    if (line === undefined) return undefined;
    for (const name of TEXT_STYLES) this.#mirror.style[name] = line.style[name];
    this.#colour(line.style);
    const { direction, lineHeight, indent, isAlone, box } = line;
    Object.assign(this.#mirror.style, {
      direction,
      textAlign: 'start',
      lineHeight: `${lineHeight}px`,
      textIndent: `${indent}px`,
      whiteSpace: isAlone ? 'pre' : 'pre-wrap',
      textOverflow: 'ellipsis',
      overflowWrap: 'break-word',
    });
    return box;
  }

  #colour({ color }: CSSStyleDeclaration): void {
    this.#mirror.style.color = 'transparent';
    Object.assign(this.#suggestion.style, {
      color: `var(--forecue-color, ${color})`,
      opacity: 'var(--forecue-opacity, 0.65)',
    });
  }

  /** Moves the mirror's corner in the window. Scrolled, enlarged and turned ancestors make no difference. */
  #moveTo({ x, y }: Box): void {
    const cornerAt = (left: number, top: number): [x: number, y: number] => {
      Object.assign(this.#mirror.style, { left: `${left}px`, top: `${top}px` });
      const rect = this.#mirror.getBoundingClientRect();
      return [rect.x, rect.y];
    };
    const [x0, y0] = cornerAt(this.#left, this.#top);
    if (Math.hypot(x - x0, y - y0) < 0.1) return;
    // Finds out how far a pixel of its own moves it in the window.
    const [xl, yl] = cornerAt(this.#left + PROBE_PX, this.#top);
    const [xt, yt] = cornerAt(this.#left, this.#top + PROBE_PX);
    const [a, b, c, d] = [xl - x0, xt - x0, yl - y0, yt - y0];
    const determinant = a * d - b * c;
    if (determinant === 0) return;
    this.#left += (((x - x0) * d - (y - y0) * b) / determinant) * PROBE_PX;
    this.#top += (((y - y0) * a - (x - x0) * c) / determinant) * PROBE_PX;
    cornerAt(this.#left, this.#top);
  }

  /** Hides what is outside the boxes in which the field scrolls, and the mirror does not. */
  #clip(): void {
    const mirror = this.#mirror;
    mirror.style.clipPath = 'none';
    const { offsetParent } = mirror;
    const rect = mirror.getBoundingClientRect();
    const scale = rect.width / mirror.offsetWidth || 1;
    const insets = [0, 0, 0, 0];
    const first = hasValue(this.#field) ? parentOf(this.#field) : this.#field;
    for (
      let box = first;
      box && box !== offsetParent && box !== box.ownerDocument.body;
      box = parentOf(box)
    ) {
      if (getComputedStyle(box).overflow === 'visible') continue;
      const outer = box.getBoundingClientRect();
      const cut = [
        outer.top - rect.top,
        rect.right - outer.right,
        rect.bottom - outer.bottom,
        outer.left - rect.left,
      ];
      for (const [side, px] of cut.entries()) insets[side] = Math.max(insets[side] ?? 0, px / scale);
    }
    if (insets.some((inset) => inset > 0))
      mirror.style.clipPath = `inset(${insets.map((inset) => `${inset}px`).join(' ')})`;
  }
}

/** Returns a text that changes when that of the field does, or what may be typed; cheaper than the text as it is shown. */
function stateOf(field: HTMLElement): string {
  return hasValue(field)
    ? [field.type, field.readOnly, field.value].join()
    : [field.isContentEditable, field.textContent].join();
}

function parentOf(element: Element): HTMLElement | undefined {
  const parent = element.parentElement ?? (element.getRootNode() as ShadowRoot).host;
  return parent as HTMLElement | undefined;
}
