import assert from 'node:assert/strict';
import { CallersByRequest } from '../../../ingress/callers.ts';

describe('the callers of a request', () => {
  it('leave a prediction when the last one gives up', () => {
    const callers = new CallersByRequest();
    callers.enter('r');
    callers.enter('r');
    callers.giveUp('r', 'p');
    assert.equal(callers.leave('r'), undefined);
    callers.giveUp('r', 'p');
    assert.equal(callers.leave('r'), 'p');
  });

  it('do not leave it while another one’s admission is on its way, and do when that one is refused', () => {
    const callers = new CallersByRequest();
    callers.enter('r');
    callers.enter('r');
    callers.giveUp('r', 'p');
    assert.equal(callers.leave('r'), undefined);
    assert.equal(callers.leave('r'), 'p');
  });

  it('leave nothing when all were answered', () => {
    const callers = new CallersByRequest();
    callers.enter('r');
    assert.equal(callers.leave('r'), undefined);
  });

  it('of one request know nothing of another’s', () => {
    const callers = new CallersByRequest();
    callers.enter('r');
    callers.enter('s');
    callers.giveUp('r', 'p');
    assert.equal(callers.leave('s'), undefined);
    assert.equal(callers.leave('r'), 'p');
  });
});
