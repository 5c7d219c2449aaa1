/** Lets a screen reader say a suggestion, which is only drawn where it would be typed. */
export interface Speech {
  say(suggestion: string): void;
  remove(): void;
}

/** Puts what is said after `element`, so that it is within reach where a dialog hides the rest of the page. */
export function speechAfter(element: Element): Speech {
  const status = element.ownerDocument.createElement('span');
  status.role = 'status';
  Object.assign(status.style, {
    all: 'initial',
    position: 'absolute',
    width: '1px',
    height: '1px',
    overflow: 'hidden',
    clipPath: 'inset(50%)',
    whiteSpace: 'nowrap',
  });
  element.after(status);
  return {
    say(suggestion) {
      if (!status.isConnected) element.after(status);
      status.textContent = suggestion && `${suggestion} (Tab)`;
    },
    remove: () => status.remove(),
  };
}
