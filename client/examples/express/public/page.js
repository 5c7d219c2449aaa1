import { attachCompleter } from 'forecue/textarea';
import { createAppClient } from 'forecue/v1';

const field = document.querySelector('textarea');
const messages = [];
const completer = attachCompleter(field, createAppClient({ baseUrl: '/forecue' }), {
  userId: 'me',
  context: () => ({ messages, context_revision: String(messages.length) }),
  onError: (error) => console.error(error),
});

document.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault();
  // Says what was sent, so that what becomes of accepted suggestions is known.
  completer.submit();
  messages.push({ role: 'user', content: field.value, origin: 'human' });
  const item = document.createElement('li');
  item.textContent = field.value;
  document.querySelector('ul').append(item);
  field.value = '';
});
