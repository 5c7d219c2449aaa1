import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { describeWhere } from '../support/describe-where.ts';
import { useServer } from '../support/listening.ts';
import { hasPython, PYTHON_PATH } from '../support/python-client.ts';
import { until } from '../support/until.ts';

describeWhere(hasPython, 'client in Python', 'there is no python3 from 3.9 on', () => {
  let requested: string[];
  beforeEach(() => {
    requested = [];
  });
  /** Never answers a prediction. */
  const server = useServer(
    createServer((request, response) => {
      requested.push(`${request.method} ${request.url}`);
      request.resume();
      if (request.url !== '/v1/predictions') response.end('{"month": "2026-11"}');
    }),
  );

  const run = (script: string, ...flags: string[]): ChildProcess & { printed: Promise<string> } => {
    const args = [...flags, '-B', '-c', script];
    const env = { ...process.env, PYTHONPATH: PYTHON_PATH, FORECUE_URL: server.url };
    const child = spawn('python3', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const printed = Promise.all([text(child.stdout), text(child.stderr)]).then((all) => all.join(''));
    return Object.assign(child, { printed });
  };

  it('the client in Python serves many threads at once, and the child of a fork', async () => {
    const printed = await run(`
import os
from concurrent.futures import ThreadPoolExecutor
from forecue import Forecue

with Forecue(os.environ["FORECUE_URL"]) as forecue:
    with ThreadPoolExecutor(20) as pool:
        print({month["month"] for month in pool.map(lambda _: forecue.read_usage(), range(100))})
    child = os.fork()
    if child == 0:
        os._exit(0 if forecue.read_usage() else 1)
    print(os.waitpid(child, 0)[1], forecue.read_usage()["month"])
`).printed;
    assert.equal(printed, "{'2026-11'}\n0 2026-11\n");
    assert.equal(requested.length, 102);
  });

  it('Ctrl-C ends a call of the client in Python at once, and cancels the prediction on the server', async () => {
    const child = run(
      `
import os
from forecue import Forecue

with Forecue(os.environ["FORECUE_URL"]) as forecue:
    try:
        forecue.predict(
            request_id="r-1", user_id="u-1", session_id="s-1", mode="next_prompt",
            draft={"text": "", "revision": 1}, context_revision="1",
        )
    except KeyboardInterrupt:
        print("interrupted")
`,
      '-X',
      'dev',
      '-W',
      'error',
    );
    await until(() => requested.length === 1);
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    assert.deepEqual([await child.printed, code], ['interrupted\n', 0]);
    assert.deepEqual(requested, ['POST /v1/predictions', 'POST /v1/predictions/r-1/cancel']);
  });

  it('the connector in Python refuses a return from another attempt or issuer, and reports that the person denied', async () => {
    const printed = await run(`
import json
from forecue import Connector, Forecue, ForecueError

secret = json.dumps({"id": "r", "state": "s", "verifier": "v", "issuer": "https://forecue.example"})
own = {"state": "s", "iss": "https://forecue.example"}
connector = Connector(Forecue("http://127.0.0.1:1"), "https://app.example/back")
for kept, query in [
    (secret, {**own, "state": "t", "code": "c"}),
    (secret, {**own, "iss": "https://evil.example", "code": "c"}),
    (secret, {}),
    ("{}", {"code": "c"}),
    ("", {**own, "code": "c"}),
    (secret, {**own, "error": "access_denied"}),
]:
    try:
        connector.finish("ada", kept, query)
    except ForecueError as error:
        print(error.code)
`).printed;
    assert.deepEqual(printed.split('\n'), [...Array(5).fill('invalid_state'), 'access_denied', '']);
  });
});
