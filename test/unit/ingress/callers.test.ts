import assert from 'node:assert/strict';
import { CallersByRequest } from '../../../ingress/work/callers.ts';

describe('callers by request', () => {
  let callers: CallersByRequest;
  let detached: string[];
  const leave = (request: string, done = Promise.resolve()) =>
    callers.leave(request, (disconnected) => {
      detached.push(request + (disconnected ? ' disconnected' : ''));
      return done;
    });
  beforeEach(() => {
    callers = new CallersByRequest();
    detached = [];
  });

  it("the ingress detaches from a request's work when the request's last caller gives up", () => {
    void callers.enter('r');
    void callers.enter('r');
    callers.stopWaiting('r', 'answered');
    leave('r');
    assert.deepEqual(detached, []);
    callers.stopWaiting('r', 'answered');
    leave('r');
    assert.deepEqual(detached, ['r']);
  });

  it('after one caller has given up, the ingress detaches from the work when every other caller has left', () => {
    void callers.enter('r');
    void callers.enter('r');
    callers.stopWaiting('r', 'answered');
    leave('r');
    assert.deepEqual(detached, []);
    leave('r');
    assert.deepEqual(detached, ['r']);
  });

  it('a detach reports a disconnect if the last caller that gave up had disconnected, whoever leaves later', () => {
    void callers.enter('r');
    void callers.enter('r');
    callers.stopWaiting('r', 'disconnected');
    leave('r');
    leave('r');
    assert.deepEqual(detached, ['r disconnected']);
  });

  it("the ingress does not detach from a request's work if all callers were answered", () => {
    void callers.enter('r');
    leave('r');
    assert.deepEqual(detached, []);
  });

  it("a request's callers do not affect the work of another request", () => {
    void callers.enter('r');
    void callers.enter('s');
    callers.stopWaiting('r', 'answered');
    leave('s');
    assert.deepEqual(detached, []);
    leave('r');
    assert.deepEqual(detached, ['r']);
  });

  it('a caller that repeats a request waits until the detach for its earlier callers has ended', async () => {
    const detachment = Promise.withResolvers<void>();
    void callers.enter('r');
    callers.stopWaiting('r', 'answered');
    leave('r', detachment.promise);
    let entered = false;
    const back = callers.enter('r').then(() => {
      entered = true;
    });
    await Promise.resolve();
    assert.equal(entered, false);
    detachment.resolve();
    await back;
    // This caller was answered, so the ingress does not detach again.
    leave('r');
    assert.deepEqual(detached, ['r']);
  });
});
