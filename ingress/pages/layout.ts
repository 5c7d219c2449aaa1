import { type Html, html, markup } from './html.ts';
import { MARK } from './mark.ts';
import { STYLE } from './style.ts';

interface Page {
  title: string;
  content: Html;
  /** The way to the site's first page, relative, so that a prefix in front of our paths does no harm. */
  root: '../' | './';
}

/** A whole page: all that the server renders looks like this. */
export function layoutPage({ title, content, root }: Page): Html {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title} – Forecue</title>
    <link rel="icon" href="${root}favicon.svg" type="image/svg+xml">
    <style>${markup(STYLE)}</style>
  </head>
  <body>
    <header>${markup(MARK)} Forecue</header>
    <main>${content}</main>
  </body>
</html>
`;
}
