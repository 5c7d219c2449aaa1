/** Markup that may stand in a page as it is. Only `html` and `markup` make it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | readonly Part[];

/** Renders a piece of a page. Escapes everything put into it, unless it is `Html` itself; undefined adds nothing. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(render)));
}

/** Takes our own constant text as markup: for texts that are not HTML, such as a style sheet. */
export function markup(text: string): Html {
  return new Html(text);
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
