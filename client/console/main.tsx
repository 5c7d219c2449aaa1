import { render } from 'preact';
import { App } from './app.tsx';
import { AwayBar } from './parts/away.tsx';
import { keepFocus } from './parts/kept-focus.ts';
import { language } from './strings/index.ts';

document.documentElement.lang = language;
keepFocus();
render(
  <>
    <App />
    <AwayBar />
  </>,
  document.body,
);
