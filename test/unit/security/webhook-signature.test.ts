import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Webhook as Verifier } from 'standardwebhooks';
import {
  newWebhookSecret,
  presentSecret,
  webhookHeaders,
} from '../../../shared/security/webhook-signature.ts';
import { hasPython } from '../../support/python-client.ts';
import { scratchFolder } from '../../support/scratch.ts';

const BODY = '{"type":"job.finished","data":{"text":"ü"}}';
const guide = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');
const exampleIn = (language: string) =>
  guide.match(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's'))?.[1] ?? '';

describe('webhook signature', () => {
  const secret = newWebhookSecret();
  const now = Math.floor(Date.now() / 1000);
  const headersAt = (timestamp: number, secrets = [newWebhookSecret(), secret]) => {
    const headers = webhookHeaders({ id: 'msg_1', timestamp, body: BODY }, secrets);
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  };
  /** Headers and body, and whether they are genuine. */
  const cases: [headers: Record<string, string>, body: string, isGenuine: boolean][] = [
    [headersAt(now), BODY, true],
    [headersAt(now, [secret]), BODY, true],
    [headersAt(now), `${BODY} `, false],
    [headersAt(now, [newWebhookSecret()]), BODY, false],
    [headersAt(now - 3600), BODY, false],
    [{ ...headersAt(now), 'webhook-id': 'msg_2' }, BODY, false],
  ];
  let folder: string;
  before(async () => {
    folder = await scratchFolder('forecue-webhooks-');
  });

  after(() => rmSync(folder, { recursive: true }));

  it('a signature is as the reference library makes it', () => {
    const [, signature] = headersAt(now)['webhook-signature']?.split(' ') ?? [];
    assert.equal(signature, new Verifier(presentSecret(secret)).sign('msg_1', new Date(now * 1000), BODY));
  });

  it("the guide's TypeScript accepts what is genuine, and nothing else", async () => {
    const file = join(folder, 'example.ts');
    writeFileSync(file, exampleIn('ts'));
    const { isGenuine } = await import(pathToFileURL(file).href);
    for (const [headers, body, expected] of cases)
      assert.equal(isGenuine(headers, body, presentSecret(secret)), expected);
  });

  (hasPython ? it : it.skip)("the guide's Python accepts what is genuine, and nothing else", () => {
    const script = `${exampleIn('python')}
import json, sys
for headers, body, secret in json.load(sys.stdin):
    print(is_genuine(headers, body.encode(), secret))`;
    const input = JSON.stringify(cases.map(([headers, body]) => [headers, body, presentSecret(secret)]));
    const { stdout, stderr } = spawnSync('python3', ['-c', script], { input, encoding: 'utf8' });
    const expected = cases.map(([, , isGenuine]) => (isGenuine ? 'True' : 'False'));
    assert.deepEqual([stdout.trim().split('\n'), stderr], [expected, '']);
  });
});
