/** Markup that is safe in a page as it is. Only `html` and `markup` create it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | readonly Part[];

/**
 * Renders a piece of a page. Escapes each interpolated part, unless the part is `Html` itself; undefined adds nothing.
 */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(render)));
}

/** Marks text as safe, without escaping: only for our own markup, such as a style sheet or a rendered section. */
export function markup(text: string): Html {
  return new Html(text);
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
