import react from '@vitejs/plugin-react';
import { createRelay, nodeHandler } from 'forecue/connect';
import { defineConfig } from 'vite';

const { FORECUE_URL = 'http://localhost:8080', APP_KEY } = process.env;

/** Lets the page call Forecue without the key, while Vite serves it. In production your own server has the relay. */
const forecue = {
  name: 'forecue',
  apply: 'serve',
  configureServer({ middlewares }) {
    const relay = createRelay({ baseUrl: FORECUE_URL, appKey: APP_KEY, userOf: () => 'user-17' });
    middlewares.use('/forecue', nodeHandler(relay));
  },
};

export default defineConfig({ plugins: [react(), forecue] });
