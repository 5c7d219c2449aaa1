import assert from 'node:assert/strict';
import { portOf } from '../../bin/start/ports.ts';

it('npm start reads the port of an address of its processes, also port 80, which the address leaves out', () => {
  assert.equal(portOf('http://127.0.0.1:8080'), '8080');
  assert.equal(portOf('http://127.0.0.1:80'), '80');
});
