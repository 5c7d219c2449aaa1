import assert from 'node:assert/strict';
import { CallersByRequest } from '../../../ingress/work/callers.ts';

describe('callers of a request', () => {
  let callers: CallersByRequest;
  let detached: string[];
  const leave = (request: string, done = Promise.resolve()) =>
    callers.leave(request, (id) => {
      detached.push(id);
      return done;
    });
  beforeEach(() => {
    callers = new CallersByRequest();
    detached = [];
  });

  it('the callers of a request leave the work when the last one gives up', () => {
    void callers.enter('r');
    void callers.enter('r');
    callers.stopWaiting('r', 'w');
    leave('r');
    assert.deepEqual(detached, []);
    callers.stopWaiting('r', 'w');
    leave('r');
    assert.deepEqual(detached, ['w']);
  });

  it('the callers of a request do not leave it while another one’s admission is under way, and do when that one is refused', () => {
    void callers.enter('r');
    void callers.enter('r');
    callers.stopWaiting('r', 'w');
    leave('r');
    assert.deepEqual(detached, []);
    leave('r');
    assert.deepEqual(detached, ['w']);
  });

  it('the callers of a request leave nothing when all were answered', () => {
    void callers.enter('r');
    leave('r');
    assert.deepEqual(detached, []);
  });

  it('the callers of one request know nothing of another’s', () => {
    void callers.enter('r');
    void callers.enter('s');
    callers.stopWaiting('r', 'w');
    leave('s');
    assert.deepEqual(detached, []);
    leave('r');
    assert.deepEqual(detached, ['w']);
  });

  it('callers who come back wait until those before are reported gone', async () => {
    const said = Promise.withResolvers<void>();
    void callers.enter('r');
    callers.stopWaiting('r', 'w');
    leave('r', said.promise);
    let entered = false;
    const back = callers.enter('r').then(() => {
      entered = true;
    });
    await Promise.resolve();
    assert.equal(entered, false);
    said.resolve();
    await back;
    // This one was answered: nobody left the work again.
    leave('r');
    assert.deepEqual(detached, ['w']);
  });
});
