import { render } from 'preact';
import { App } from './app.tsx';
import { language } from './strings/index.ts';

document.documentElement.lang = language;
render(<App />, document.body);
