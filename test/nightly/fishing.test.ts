import assert from 'node:assert/strict';
import { fish, inventPeople } from '../../bench/quality/fishing.ts';
import { SCALE } from '../support/scale.ts';

/** Each person's memory is asked as often as a rate limit of 50 a second allows in 12 minutes. */
const LIMITS = { beginnings: 2000 * SCALE, requests: 36_000 * SCALE };

describe('fishing', function () {
  this.timeout(300_000 * SCALE);

  it("an app that fishes in people's memories by made-up drafts reads no planted secret, and at most one in 100 of their sentences", async () => {
    const people = inventPeople();
    let [read, sentences] = [0, 0];
    for (const [place, own] of people.entries()) {
      const others = people.filter((_, other) => other !== place).flat();
      const found = await fish(own, others, LIMITS);
      assert.deepEqual(found.secrets, []);
      read += found.read;
      sentences += found.sentences;
    }
    assert.ok(sentences > 0 && read <= sentences / 100, `${read} of ${sentences}`);
  });
});
