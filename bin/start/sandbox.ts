import { readFile } from 'node:fs/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { StoreConfig, WorkerConfig } from '../../shared/config/config.ts';
import { openDatabase } from '../../shared/db/orm.ts';
import { createApp, findApp, findAppsByKey, updateApp } from '../../shared/db/stores/apps.ts';
import { createLog } from '../../shared/log.ts';
import { hashKey } from '../../shared/security/keys.ts';
import { writePrivateFile } from './files.ts';

/** Keeps the key in a file, because the database has only its hash. Creates an app if no active one has it. */
export async function sandboxKey(file: string, callback: string, config: StoreConfig): Promise<string> {
  const storedKey = (await readFile(file, 'utf8').catch(() => '')).trim();
  const database = await openDatabase(config, createLog('start', 'error'), 'forecue start');
  try {
    const em = database.orm.em.fork();
    const [app] = await findAppsByKey(database.pool, [hashKey(storedKey)]);
    if (app !== undefined) {
      await addRedirectUri(em, app.id, callback);
      return storedKey;
    }
    const redirectUris = [callback, 'http://localhost:3000/callback'];
    const { key } = await createApp(em, { name: 'Sandbox', redirectUris, plan: 'sandbox', capCents: null });
    await writePrivateFile(file, `${key}\n`);
    return key;
  } finally {
    await database.close();
  }
}

/** The port in the URI may differ from that of the last start. */
async function addRedirectUri(em: EntityManager, appId: string, uri: string): Promise<void> {
  const app = await findApp(em, appId);
  if (app !== undefined && !app.redirectUris.includes(uri))
    await updateApp(em, appId, { redirectUris: [uri, ...app.redirectUris] });
}

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

function nextStep(what: string): string {
  return `${what}   `.padEnd(31);
}

function providerName({ openai, defaultModel }: WorkerConfig): string {
  if (openai === undefined)
    return 'the built-in predictor (OPENAI_API_KEY and DEFAULT_MODEL set another one)';
  return `${defaultModel} at ${new URL(openai.baseUrl).host}`;
}
