import type { WorkerConfig } from '../../shared/config/config.ts';

interface Guide {
  address: string;
  /** Address of the operators' board. */
  board: string;
  key: string;
  config: WorkerConfig;
  logs: string;
}

/** The `curl` command generates new ids each time it is pasted. */
export function guide({ address, board, key, config, logs }: Guide): string {
  return `
  address    ${address}
  app key    ${key}
  provider   ${providerName(config)}
  logs       ${logs}
  board      ${board} (its token: ADMIN_TOKEN, or .data/admin-token)

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

Then:  ${nextStep('npm run -s admin -- usage')}what it cost
       ${nextStep(`${address}/console/`)}the same for a person: predict, remember, manage
       ${nextStep(`${address}/docs`)}every endpoint, with examples
       ${nextStep('README.md')}a reply, a person's memory, where to read on
`;
}

export function toolServerGuide(url: string): string {
  const code = `{"name":"forecue","type":"http","url":"${url}","headers":{"X-Service-API-Key":"'$FORECUE_KEY'"}}`;
  const cursor = `"forecue": { "url": "${url}", "headers": { "X-Service-API-Key": "service_…" } }`;
  return `Give an agent its tools, with a key of your account (docs/mcp.md):

claude mcp add --transport http forecue ${url} --header "X-Service-API-Key: $FORECUE_KEY"
code --add-mcp '${code}'
Cursor: ${cursor} in mcpServers of ~/.cursor/mcp.json
`;
}

/** `file` is the name of the packed client. */
export function clientGuide(address: string, file: string): string {
  return `Add the client to a project, or record your sessions with it (client/README.md):

npm install ${address}/client/${file}
FORECUE_URL=${address} npx -y ${address}/client/${file} record
`;
}

function nextStep(what: string): string {
  return `${what}   `.padEnd(31);
}

function providerName({ openai, defaultModel }: WorkerConfig): string {
  if (openai === undefined)
    return 'the built-in predictor (OPENAI_API_KEY and DEFAULT_MODEL set another one)';
  return `${defaultModel} at ${new URL(openai.baseUrl).host}`;
}
