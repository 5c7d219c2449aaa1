import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ClusterRow } from '../../../shared/domain/clusters.ts';
import { extractTitleAndSummary } from '../../../shared/domain/episodes.ts';
import { isDisplayable } from '../../../shared/domain/model-text.ts';
import { truncateWithEllipsis } from '../../../shared/text/cut.ts';

const person = (content: string): ClusterRow => ({
  id: content,
  sessionId: null,
  occurredAt: new Date(0),
  content,
  isHuman: true,
});
const agent = (content: string): ClusterRow => ({ ...person(content), isHuman: false });

describe('extracted episode', () => {
  it("an extracted episode's title has the person's main topic, and its summary quotes the first and last message", () => {
    const rows = [
      person('hi'),
      person('The invoice for March is wrong\nThe invoice shows the wrong tax'),
      agent('Shall I pay the hotel, the flight and the taxi?'),
      person('Correct the tax of the March invoice, please'),
      person('ok'),
    ];
    const { title, summary } = extractTitleAndSummary(rows) ?? assert.fail();
    assert.match(title, /invoice/);
    assert.equal(summary, '5 messages, 4 by the person.\nFirst: “hi”\nLast: “ok”');
  });

  it('an extracted episode of agent rows quotes their lines, and counts 0 messages by the person', () => {
    assert.deepEqual(extractTitleAndSummary([agent('Build 7 passed')]), {
      title: 'Build 7 passed',
      summary: '1 message, 0 by the person.\n“Build 7 passed”',
    });
  });

  it('no episode is extracted from rows without visible text', () => {
    assert.equal(extractTitleAndSummary([person(' \n\t '), agent('\u001b\u0007')]), undefined);
    assert.equal(extractTitleAndSummary([]), undefined);
  });

  it('the title and summary of an extracted episode are displayable and within their length limits', () => {
    const content = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3000 });
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 5 }), (contents) => {
        const extract = extractTitleAndSummary(contents.map(person));
        if (extract === undefined) return;
        assert.ok(extract.title !== '' && [...extract.title].length <= 200);
        assert.ok([...extract.summary].length <= 8000);
        assert.ok(isDisplayable(extract.title) && isDisplayable(extract.summary));
      }),
    );
  });
});

describe('truncateWithEllipsis', () => {
  it('truncateWithEllipsis leaves a text of at most `max` code points unchanged, and ends a cut one with an ellipsis', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (text, max) => {
        const short = truncateWithEllipsis(text, max);
        if ([...text].length <= max) assert.equal(short, text);
        else {
          assert.ok([...short].length <= max && short.endsWith('…'));
          assert.ok(text.startsWith(short.slice(0, -1)));
        }
      }),
    );
  });
});
