import assert from 'node:assert/strict';
import { CallersByRequest } from '../../../ingress/work/callers.ts';

describe('callers by request', () => {
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

  it("a request's work is left when its last caller gives up", () => {
    void callers.enter('r');
    void callers.enter('r');
    callers.stopWaiting('r', 'w');
    leave('r');
    assert.deepEqual(detached, []);
    callers.stopWaiting('r', 'w');
    leave('r');
    assert.deepEqual(detached, ['w']);
  });

  it("a request's work is not left while another caller's admission is under way, but is when that is refused", () => {
    void callers.enter('r');
    void callers.enter('r');
    callers.stopWaiting('r', 'w');
    leave('r');
    assert.deepEqual(detached, []);
    leave('r');
    assert.deepEqual(detached, ['w']);
  });

  it("a request's work is not left when all callers were answered", () => {
    void callers.enter('r');
    leave('r');
    assert.deepEqual(detached, []);
  });

  it("a request's callers do not affect the work of another request", () => {
    void callers.enter('r');
    void callers.enter('s');
    callers.stopWaiting('r', 'w');
    leave('s');
    assert.deepEqual(detached, []);
    leave('r');
    assert.deepEqual(detached, ['w']);
  });

  it('a caller that comes back waits until the leaving of earlier callers is reported', async () => {
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
    // This caller was answered, so the work was not left again.
    leave('r');
    assert.deepEqual(detached, ['w']);
  });
});
