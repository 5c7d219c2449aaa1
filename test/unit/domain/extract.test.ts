import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ClusterRow } from '../../../shared/domain/clusters.ts';
import { extractedFrom } from '../../../shared/domain/episodes.ts';
import { isDisplayable } from '../../../shared/domain/model-text.ts';
import { shortened } from '../../../shared/text/cut.ts';

const person = (content: string): ClusterRow => ({
  id: content,
  sessionId: null,
  occurredAt: new Date(0),
  content,
  isHuman: true,
});
const agent = (content: string): ClusterRow => ({ ...person(content), isHuman: false });

describe('extract', () => {
  it('an extract is titled with the line that is most like all that the person said', () => {
    const rows = [
      person('hi'),
      person('The invoice for March is wrong\nThe invoice shows the wrong tax'),
      agent('Shall I pay the hotel, the flight and the taxi?'),
      person('Correct the tax of the March invoice, please'),
      person('ok'),
    ];
    const { title, summary } = extractedFrom(rows) ?? assert.fail();
    assert.match(title, /invoice/);
    assert.equal(summary, '5 messages, 4 by the person.\nFirst: “hi”\nLast: “ok”');
  });

  it('an extract of rows that no person wrote is made of their lines, and says so', () => {
    assert.deepEqual(extractedFrom([agent('Build 7 passed')]), {
      title: 'Build 7 passed',
      summary: '1 message, 0 by the person.\n“Build 7 passed”',
    });
  });

  it('an extract is not made where there is nothing to show', () => {
    assert.equal(extractedFrom([person(' \n\t '), agent('\u001b\u0007')]), undefined);
    assert.equal(extractedFrom([]), undefined);
  });

  it('an extract can be shown and stored, whatever was said', () => {
    const content = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3000 });
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 5 }), (contents) => {
        const extract = extractedFrom(contents.map(person));
        if (extract === undefined) return;
        assert.ok(extract.title !== '' && [...extract.title].length <= 200);
        assert.ok([...extract.summary].length <= 8000);
        assert.ok(isDisplayable(extract.title) && isDisplayable(extract.summary));
      }),
    );
  });
});

describe('shortened text', () => {
  it('a shortened text is whole, or its beginning with an ellipsis, in code points', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (text, max) => {
        const short = shortened(text, max);
        if ([...text].length <= max) assert.equal(short, text);
        else {
          assert.ok([...short].length <= max && short.endsWith('…'));
          assert.ok(text.startsWith(short.slice(0, -1)));
        }
      }),
    );
  });
});
