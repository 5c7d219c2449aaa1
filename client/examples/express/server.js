/** An Express app whose plain page completes what you type. The page calls this server, which holds the key. */
import { fileURLToPath } from 'node:url';
import express from 'express';
import { createRelay, nodeHandler } from 'forecue/connect';

const { FORECUE_URL = 'http://localhost:8080', APP_KEY, PORT = '3000' } = process.env;
const folderOf = (address) => fileURLToPath(new URL('.', address));

// A real app looks up the user in its own session, and returns undefined if nobody is logged in.
const relay = createRelay({ baseUrl: FORECUE_URL, appKey: APP_KEY, userOf: () => 'user-17' });

const app = express();
app.use('/forecue', nodeHandler(relay));
app.use('/modules', express.static(folderOf(import.meta.resolve('forecue/v1'))));
app.use(express.static(folderOf(import.meta.resolve('./public/index.html'))));
const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
