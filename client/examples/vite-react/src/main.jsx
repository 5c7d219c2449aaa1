import { createAppClient } from 'forecue/v1';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat } from './chat.jsx';

const client = createAppClient({ baseUrl: '/forecue' });

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <Chat client={client} />
  </StrictMode>,
);
