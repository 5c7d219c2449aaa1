import assert from 'node:assert/strict';
import { portOf } from '../../bin/start/ports.ts';

it('npm start reads the port from a URL, even if it is the default port 80', () => {
  assert.equal(portOf('http://127.0.0.1:8080'), '8080');
  assert.equal(portOf('http://127.0.0.1:80'), '80');
});
