/**
 * A chat in the terminal that completes what you type: Tab accepts the suggestion, → its next word, Enter sends.
 * `FORECUE_URL=http://localhost:8080 APP_KEY=fc_… node chat.ts`
 */
import { emitKeypressEvents } from 'node:readline';
import { createCompleter } from 'forecue/completer';
import { createAppClient, type Message } from 'forecue/v1';

const { FORECUE_URL: baseUrl = 'http://localhost:8080', APP_KEY: appKey = '' } = process.env;
const messages: Message[] = [];
let text = '';

const completer = createCompleter(createAppClient({ baseUrl, appKey }), {
  userId: 'terminal',
  context: () => ({ messages, context_revision: String(messages.length) }),
  onSuggestion: draw,
  onError: (error) => print(`(${error})`),
});

emitKeypressEvents(process.stdin);
process.stdin.setRawMode(true);
process.stdin.on('keypress', (_, key: { name?: string; sequence: string; ctrl: boolean }) => {
  if (key.ctrl && (key.name === 'c' || key.name === 'd')) leave();
  else if (key.name === 'return') send();
  else if (key.name === 'tab') text += completer.accept();
  else if (key.name === 'right') text += completer.acceptWord();
  else if (key.name === 'escape') completer.dismiss();
  else if (key.name === 'backspace') text = [...text].slice(0, -1).join('');
  else if (!key.ctrl && key.sequence >= ' ') text += key.sequence;
  completer.update(text);
  draw();
});
print('Say something. Ctrl+C leaves.');

function send(): void {
  if (text.trim() === '') return;
  completer.submit();
  print(`> ${text}`);
  messages.push({ role: 'user', content: text, origin: 'human' });
  messages.push({
    role: 'assistant',
    content: `You said ${text.length} characters. What next?`,
    origin: 'agent',
  });
  print(messages.at(-1)?.content ?? '');
  messages.splice(0, messages.length - 30);
  text = '';
}

/** Draws the line, the dimmed suggestion after it, and the cursor between them. */
function draw(): void {
  process.stdout.write(`\r\x1b[K> ${text}\x1b7\x1b[2m${completer.suggestion}\x1b[22m\x1b8`);
}

function print(line: string): void {
  process.stdout.write(`\r\x1b[K${line}\r\n`);
  draw();
}

function leave(): never {
  completer.close();
  process.stdout.write('\r\x1b[K');
  process.exit();
}
