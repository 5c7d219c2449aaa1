import type { WorkerConfig } from '../../shared/config/config.ts';

/** How to make a first prediction. The `curl` command generates new ids each time it is pasted. */
export function guide(address: string, key: string, config: WorkerConfig, logs: string): string {
  return `
  address    ${address}
  app key    ${key}
  provider   ${provider(config)}
  logs       ${logs}

Ask for a prediction (paste it):

curl -sS ${address}/v1/predictions \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{
    "request_id": "try-'$(date +%s)'",
    "user_id": "you",
    "session_id": "try-'$(date +%s)'",
    "mode": "complete_draft",
    "draft": { "text": "Please summarise the quart", "revision": 1 },
    "context_revision": "1",
    "messages": [{ "role": "user", "content": "Please summarise the quarterly sales report for the board" }]
  }'

Then:  ${next('npm run -s admin -- usage')}what it cost
       ${next(`${address}/docs`)}every endpoint, with examples
       ${next('README.md')}connections, accounts, the settings
`;
}

/** Pads to the width of the column. */
function next(what: string): string {
  return `${what}   `.padEnd(31);
}

function provider({ openai, defaultModel }: WorkerConfig): string {
  if (openai === undefined)
    return 'the built-in predictor (OPENAI_API_KEY and DEFAULT_MODEL set another one)';
  return `${defaultModel} at ${new URL(openai.baseUrl).host}`;
}
