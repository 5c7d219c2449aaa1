import { firstWordOf } from './words.ts';

/** Distance from which a touch is a swipe. */
const SWIPE_PX = 24;

/** Reports whether people touch the screen here. */
export function hasTouch(): boolean {
  return matchMedia('(any-pointer: coarse)').matches;
}

/** Calls `tap` or `swipe` when the target is touched so. The field keeps the focus, and the keyboard stays. */
export function onTouch(target: HTMLElement, tap: () => void, swipe: () => void): void {
  let startX = 0;
  target.style.touchAction = 'pan-y';
  keepFocus(target);
  target.addEventListener('click', tap);
  target.addEventListener('touchstart', ({ touches }) => {
    startX = touches[0]?.clientX ?? 0;
  });
  target.addEventListener('touchend', (event) => {
    if (Math.abs((event.changedTouches[0]?.clientX ?? startX) - startX) < SWIPE_PX) return;
    // No click is to follow.
    event.preventDefault();
    swipe();
  });
}

/** A bar above the keyboard: a chip for the next word, and one for each choice. */
export class Chips {
  readonly #bar: HTMLElement;
  readonly #accept: (choice: string) => void;
  readonly #acceptWord: () => void;

  constructor(document: Document, accept: (choice: string) => void, acceptWord: () => void) {
    this.#accept = accept;
    this.#acceptWord = acceptWord;
    this.#bar = document.createElement('div');
    this.#bar.role = 'toolbar';
    this.#bar.dataset['forecue'] = 'chips';
    // Above whatever the page has, an open dialog too.
    this.#bar.popover = 'manual';
    keepFocus(this.#bar);
  }

  show(choices: readonly string[]): void {
    if (choices.length === 0) {
      this.remove();
      return;
    }
    const word = firstWordOf(choices[0] ?? '');
    const chips = choices.map((choice) => this.#chip(choice, () => this.#accept(choice)));
    if (word !== choices[0]) chips.unshift(this.#chip(`${word.trim()} …`, this.#acceptWord));
    this.#bar.replaceChildren(...chips);
    const { body } = this.#bar.ownerDocument;
    if (!this.#bar.isConnected) body.append(this.#bar);
    this.#place();
    if (!this.#bar.matches(':popover-open')) this.#bar.showPopover();
  }

  remove(): void {
    this.#bar.remove();
  }

  #chip(text: string, act: () => void): HTMLElement {
    const chip = this.#bar.ownerDocument.createElement('button');
    chip.type = 'button';
    chip.textContent = text.trim();
    chip.addEventListener('click', act);
    Object.assign(chip.style, {
      flex: 'none',
      maxWidth: '80%',
      overflow: 'hidden',
      textOverflow: 'ellipsis',
      whiteSpace: 'nowrap',
      minHeight: '44px',
      padding: '0 14px',
      border: '1px solid GrayText',
      borderRadius: '22px',
      background: 'Canvas',
      color: 'CanvasText',
      font: '16px system-ui',
    });
    return chip;
  }

  /** The keyboard covers a part of the window that only the visual viewport leaves out. */
  #place(): void {
    const { innerHeight, visualViewport } = this.#bar.ownerDocument.defaultView ?? window;
    const { offsetTop = 0, height = innerHeight } = visualViewport ?? {};
    Object.assign(this.#bar.style, {
      display: 'flex',
      position: 'fixed',
      inset: `auto 0 ${Math.max(0, innerHeight - offsetTop - height)}px 0`,
      boxSizing: 'border-box',
      width: 'auto',
      height: 'auto',
      margin: '0',
      padding: '6px',
      border: '0',
      gap: '6px',
      overflowX: 'auto',
      background: 'transparent',
    });
  }
}

function keepFocus(target: HTMLElement): void {
  target.addEventListener('mousedown', (event) => event.preventDefault());
}
