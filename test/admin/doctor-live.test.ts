import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { adminResult, runAdmin } from '../support/admin.ts';
import { createDatabase } from '../support/database.ts';
import { delay, ok, status } from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';
import { listen } from '../support/listening.ts';
import { useSystem } from '../support/system.ts';

interface LiveFinding {
  name: string;
  ok: boolean;
  found: string;
  to_do: string | null;
  status: number | null;
  code: string | null;
  stage: string | null;
}

describe('`doctor --live`', function () {
  this.timeout(60_000);
  const system = useSystem({ env: { PREDICTION_TIMEOUT_MS: '2000', PROVIDER_TIMEOUT_MS: '30000' } });
  beforeEach(() => system.provider.reset());

  const runLiveDoctor = async (env: Record<string, string> = {}, url = system.webs[0]?.url ?? '') => {
    const { code, stdout, stderr } = await runAdmin(['doctor', '--live', '--url', url, '--json'], {
      ...system.env,
      ...env,
    });
    assert.equal(stderr, '');
    const found = JSON.parse(stdout).checks.find(({ name }: LiveFinding) => name === 'live') as LiveFinding;
    return { exit: code, ...found };
  };
  const stageOf = ({ exit, ok, status, code, stage }: Awaited<ReturnType<typeof runLiveDoctor>>) => {
    assert.deepEqual([exit, ok], [1, false]);
    return [stage, status, code];
  };

  it("`doctor --live` sends one prediction through ingress, queue and provider, and charges the doctor's own app", async () => {
    const app = await system.app();
    const first = await runLiveDoctor();
    // Ignores the exit code: the fake provider has no list of models, which another check reports.
    assert.deepEqual([first.ok, first.status, first.stage, first.to_do], [true, 200, null, null]);
    assert.match(first.found, /^a prediction was answered 200 \(suggested\) in \d+ ms$/);
    assert.equal(system.provider.calls.length, 1);
    await Promise.all([runLiveDoctor(), runLiveDoctor()]);
    assert.equal(system.provider.calls.length, 3);

    const used = await adminResult(['usage'], system.env);
    const units = used.map((one: { app_id: string; plan: string; prediction_units: number }) => [
      one.app_id === app.id,
      one.plan,
      one.prediction_units,
    ]);
    assert.deepEqual(units.sort(), [
      [false, 'sandbox', 3],
      [true, 'sandbox', 0],
    ]);
    const { rows } = await system.database.pool.query(
      `select count(*)::int from app_keys k join apps a on a.id = k.app_id where a.name = 'Doctor'`,
    );
    assert.deepEqual(rows, [{ count: 0 }]);
  });

  it('`doctor --live` does not send its prediction through HTTPS_PROXY, which is for the provider', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer().on('connect', ({ url }, socket) => {
      asked.push(url);
      setTimeout(() => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'), 1000);
    });
    await using listening = await listen(proxy);
    const env = { HTTPS_PROXY: listening.url, OPENAI_BASE_URL: 'https://provider.invalid/v1' };
    await runLiveDoctor(env, 'https://forecue.invalid');
    assert.deepEqual(asked, ['provider.invalid:443']);
  });

  it('`doctor --live` reports the stage `provider` if the provider is too slow or refuses the API key', async () => {
    system.provider.respond(status(401));
    const refused = await runLiveDoctor();
    assert.deepEqual(stageOf(refused), ['provider', 503, 'provider_not_configured']);
    assert.match(refused.to_do ?? '', /OPENAI_API_KEY/);

    system.provider.respond(delay(60_000, ok()));
    const slow = await runLiveDoctor();
    assert.deepEqual(stageOf(slow), ['provider', 504, 'prediction_timeout']);
  });

  it('`doctor --live` reports the stage `queue` if no worker starts the prediction', async () => {
    await adminResult(['queue', 'pause', 'predict'], system.env);
    try {
      const found = await runLiveDoctor();
      assert.deepEqual(stageOf(found), ['queue', 504, 'prediction_timeout']);
      assert.match(found.to_do ?? '', /queue resume/);
    } finally {
      await adminResult(['queue', 'resume'], system.env);
    }
  });

  it('`doctor --live` reports the stage `connection` if no server, or a server other than an ingress, answers', async () => {
    const nothing = await runLiveDoctor({}, `http://127.0.0.1:${await freePort()}`);
    assert.deepEqual(stageOf(nothing), ['connection', null, null]);
    assert.match(nothing.found, /ECONNREFUSED/);
    const other = await runLiveDoctor({}, system.provider.url);
    assert.deepEqual(stageOf(other), ['connection', 404, null]);
  });

  it('`doctor --live` reports the stage `ingress` and mentions DATABASE_URL if the ingress uses another database', async () => {
    const database = await createDatabase();
    try {
      const found = await runLiveDoctor({ DATABASE_URL: database.url, DATABASE_DIRECT_URL: database.url });
      assert.deepEqual(stageOf(found), ['ingress', 401, 'invalid_app_key']);
      assert.match(found.to_do ?? '', /DATABASE_URL/);
    } finally {
      await database.drop();
    }
  });

  it('`doctor --live` says what is wrong with PUBLIC_URL if the address of the ingress is unknown or invalid', async () => {
    const { code, stderr } = await runAdmin(['doctor', '--live'], system.env);
    assert.equal(code, 1);
    assert.equal(stderr, 'the address of the ingress is not known: set PUBLIC_URL\n');
    const wrong = await runAdmin(['doctor', '--live'], { ...system.env, PUBLIC_URL: 'forecue.example' });
    assert.equal(wrong.stderr, 'PUBLIC_URL must be the http:// or https:// address of an ingress\n');
  });
});
