/**
 * Turns recorded events into raw rows, rows into episodes, and episodes into facts. Run it from cron if the server's
 * scheduler is off. Fails if a step fails, so that cron tells you.
 * `FORECUE_URL=http://localhost:8080 FORECUE_KEY=service_… node promote.ts`
 */
import { createAccountClient } from 'forecue/api';

const { FORECUE_URL: baseUrl = 'http://localhost:8080', FORECUE_KEY: credential = '' } = process.env;
const account = createAccountClient({ baseUrl, credential });

for (const step of ['syncMemory', 'promoteEpisodes', 'promoteFacts'] as const)
  for await (const event of account.stream(step))
    if (event.type === 'done') process.stdout.write(`${step}: ${event.result.created} created\n`);
