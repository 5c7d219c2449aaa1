import { useCompleter } from 'forecue/react';
import { useState } from 'react';

/** A chat in which React controls the text. `useCompleter` attaches suggestions to the field that gets its ref. */
export function Chat({ client }) {
  const [text, setText] = useState('');
  const [messages, setMessages] = useState([]);
  const [field, completer] = useCompleter(client, {
    userId: 'me',
    context: () => ({ messages, context_revision: String(messages.length) }),
    onError: (error) => console.error(error),
  });

  function send(event) {
    event.preventDefault();
    completer.current?.submit();
    setMessages([...messages, { role: 'user', content: text, origin: 'human' }]);
    setText('');
  }

  return (
    <form onSubmit={send}>
      <label htmlFor="message">Message</label>
      <br />
      <textarea
        id="message"
        ref={field}
        rows={4}
        cols={60}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <br />
      <button type="submit">Send</button>
      <ul aria-live="polite">
        {messages.map(({ content }, at) => (
          <li key={at}>{content}</li>
        ))}
      </ul>
    </form>
  );
}
