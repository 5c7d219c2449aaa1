'use client';

import { ForecueTextarea } from 'forecue/react';
import { createAppClient } from 'forecue/v1';
import { useState } from 'react';

// While Next renders on the server, there is no page whose address `/forecue` could belong to, and nobody types.
const baseUrl = typeof location === 'undefined' ? 'http://localhost' : '/forecue';
const client = createAppClient({ baseUrl });
const OPTIONS = { userId: 'me', onError: (error) => console.error(error) };

export function Composer() {
  const [text, setText] = useState('');
  return (
    <>
      <label htmlFor="message">Message</label>
      <br />
      <ForecueTextarea
        id="message"
        client={client}
        completer={OPTIONS}
        rows={4}
        cols={60}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </>
  );
}
