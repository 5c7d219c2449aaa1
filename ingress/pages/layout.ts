import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Html, html, markup } from './html.ts';

/** Shapes of the logo: a caret, and the text that may come after it. */
const LOGO_SHAPES =
  '<rect x="3" y="3" width="3" height="18" rx="1.5"/><rect x="9" y="6" width="12" height="3" rx="1.5" opacity=".85"/>' +
  '<rect x="9" y="11" width="9" height="3" rx="1.5" opacity=".55"/><rect x="9" y="16" width="5" height="3" rx="1.5" opacity=".3"/>';

/** The logo inside a page, whose style sheet colours it. */
export const LOGO = `<svg viewBox="0 0 24 24" aria-hidden="true">${LOGO_SHAPES}</svg>`;

/** The logo as a file of its own, for tabs and bookmarks. */
export const FAVICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><style>svg{fill:#2b46b8}' +
  `@media(prefers-color-scheme:dark){svg{fill:#aebcff}}</style>${LOGO_SHAPES}</svg>`;

const fileOf = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

const STYLE = `\n${fileOf('base.css')}${fileOf('card.css')}`;

/** Hash by which the Content-Security-Policy allows the style sheet. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/** Returns a Content-Security-Policy that allows these sources and no others, and no other site to frame the page. */
export function contentPolicy(sources: Record<string, string>): string {
  const directives = {
    'default-src': "'none'",
    ...sources,
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
  };
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
}

/** Returns the Content-Security-Policy of a page that `layoutPage` renders. */
export function pagePolicy(formAction: string): string {
  return contentPolicy({ 'style-src': STYLE_SOURCE, 'img-src': "'self'", 'form-action': formAction });
}

interface Document {
  title: string;
  lang?: string | undefined;
  /** Path to the folder with `favicon.svg`, relative, so that it works under a path prefix. */
  root: string;
  head: Html;
  body: Html;
}

export function htmlDocument({ title, lang = 'en', root, head, body }: Document): Html {
  return html`<!doctype html>
<html lang="${lang}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="${root}favicon.svg" type="image/svg+xml">
    ${head}
  </head>
  <body>
    ${body}
  </body>
</html>
`;
}

/** Keeps a page out of search engines. */
export const NO_INDEX = html`<meta name="robots" content="noindex">`;

interface Page {
  title: string;
  lang?: string;
  content: Html;
  root: '../' | './';
}

export function layoutPage({ title, lang, content, root }: Page): Html {
  return htmlDocument({
    title: `${title} – Forecue`,
    lang,
    root,
    head: html`${NO_INDEX}<style>${markup(STYLE)}</style>`,
    body: html`<header>${markup(LOGO)} Forecue</header>
    <main>${content}</main>`,
  });
}
