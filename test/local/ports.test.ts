import assert from 'node:assert/strict';
import { portOf } from '../../bin/start/ports.ts';

it('npm start reads the port from the address of a process, even port 80, which `URL` leaves out', () => {
  assert.equal(portOf('http://127.0.0.1:8080'), '8080');
  assert.equal(portOf('http://127.0.0.1:80'), '80');
});
