/** Markup that may stand in a page as it is. Made by `html` and `markup` only. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | readonly Part[];

/** A piece of a page. Everything put into it is escaped, unless it is `Html` itself; undefined leaves nothing. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(render)));
}

/** Our own constant text as markup: for what is no HTML, such as a style sheet. */
export function markup(text: string): Html {
  return new Html(text);
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
