import { render } from 'preact';
import { App } from './app.tsx';
import { AwayBar } from './parts/away.tsx';
import { language } from './strings/index.ts';

document.documentElement.lang = language;
render(
  <>
    <App />
    <AwayBar />
  </>,
  document.body,
);
