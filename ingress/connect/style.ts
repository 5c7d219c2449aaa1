import { createHash } from 'node:crypto';

/**
 * The one style sheet of these pages. Lengths of text are in rem, so that they grow with the reader's own font size.
 * Every pair of colours has a contrast of 4.5:1 or more, edges of controls 3:1 (WCAG 2.2, 1.4.3 and 1.4.11).
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f3f2ee;
  --card: #ffffff;
  --line: #e2dfd7;
  --edge: #85807a;
  --text: #1c1b1a;
  --quiet: #5c5853;
  --accent: #2b46b8;
  --accent-hover: #1f3593;
  --on-accent: #ffffff;
  --tint: #eef1fc;
  --bad: #a8201a;
  --bad-tint: #fdf0ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #121316;
    --card: #1b1d21;
    --line: #30333a;
    --edge: #7f848e;
    --text: #ecebe8;
    --quiet: #abadb3;
    --accent: #aebcff;
    --accent-hover: #c9d3ff;
    --on-accent: #11183a;
    --tint: #232739;
    --bad: #ffb3aa;
    --bad-tint: #3a2220;
  }
}
*, ::before, ::after { box-sizing: border-box; }
body {
  margin: 0;
  min-height: 100vh;
  min-height: 100svh;
  display: grid;
  grid-template-columns: minmax(0, 30rem);
  justify-content: center;
  align-content: center;
  gap: 1rem;
  padding: 1.5rem 1rem;
  background: var(--page);
  color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
  -webkit-text-size-adjust: 100%;
}
header {
  display: flex;
  align-items: center;
  gap: .5rem;
  padding-inline: .25rem;
  font-weight: 650;
  letter-spacing: -.01em;
}
header svg { width: 1.5rem; height: 1.5rem; flex: none; fill: var(--accent); }
main {
  padding: 2rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 1rem;
}
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -.015em; text-wrap: balance; }
h2 { margin: 1.25rem 0 .625rem; font-size: 1rem; font-weight: 650; }
p { margin: 0 0 1rem; }
main > :last-child, form > :last-child, section > :last-child { margin-bottom: 0; }
strong { font-weight: 600; }
.quiet { color: var(--quiet); }
.quiet strong { color: var(--text); }
.small { font-size: .875rem; }
a, .link { color: var(--accent); text-decoration: underline; text-underline-offset: .2em; }
a:hover, .link:hover { color: var(--accent-hover); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
label { display: block; margin-bottom: .375rem; font-weight: 600; }
.field { margin-bottom: 1.125rem; }
.field p { margin: .375rem 0 0; font-size: .875rem; }
input {
  display: block;
  width: 100%;
  min-height: 2.875rem;
  padding: .5rem .75rem;
  font: inherit;
  color: inherit;
  background: var(--card);
  border: 1px solid var(--edge);
  border-radius: .5rem;
}
input:focus-visible { outline-offset: 0; border-color: var(--accent); border-radius: .5rem; }
input[aria-invalid] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
.fault { color: var(--bad); font-weight: 500; }
.alert { padding: .75rem 1rem; margin-bottom: 1.25rem; border-radius: .5rem; background: var(--bad-tint); }
button {
  min-height: 2.875rem;
  padding: .5rem 1.25rem;
  font: inherit;
  font-weight: 600;
  border: 1px solid transparent;
  border-radius: .5rem;
  cursor: pointer;
}
button:focus-visible { border-radius: .5rem; }
.primary { color: var(--on-accent); background: var(--accent); }
.primary:hover { background: var(--accent-hover); }
.secondary { color: inherit; background: none; border-color: var(--edge); }
.secondary:hover { background: var(--tint); }
.link { padding: .5rem .25rem; margin-inline: -.25rem; border: 0; background: none; font-weight: 500; }
.wide { width: 100%; }
.choice { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(8rem, 100%), 1fr)); gap: .75rem; margin-top: 1.25rem; }
.account {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: 0 1rem;
  margin: 1rem 0;
  padding: .375rem 1rem;
  border-radius: .75rem;
  background: var(--tint);
}
.account p { margin: .375rem 0; min-width: 0; line-height: 1.35; }
.account span { display: block; font-size: .875rem; }
ul { list-style: none; margin: 0; padding: 0; }
li { position: relative; margin-bottom: .625rem; padding-left: 1.75rem; }
li::before { position: absolute; left: .125rem; font-weight: 700; }
.may::before { content: "\\2713" / ""; color: var(--accent); }
.not::before { content: "\\2715" / ""; color: var(--quiet); }
li > strong { display: block; }
li > span { display: block; color: var(--quiet); font-size: .9375rem; line-height: 1.4; }
.foot { margin: 1.25rem 0 0; padding-top: .75rem; border-top: 1px solid var(--line); }
div.foot { margin-bottom: -.75rem; }
.foot p { margin: 0; }
.foot a { display: inline-block; padding-block: .625rem; }
.foot .link { text-align: start; }
@media (max-width: 30rem) {
  body { align-content: start; padding: 1rem .75rem 1.5rem; gap: .875rem; }
  main { padding: 1.5rem 1.25rem; }
}
@media (max-width: 22rem) {
  main { padding: 1.25rem 1rem; }
}
`;

/** What the Content-Security-Policy lets through of it. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
