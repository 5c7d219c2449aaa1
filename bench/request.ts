const ID = '<id>';

/** A draft that ends in mid-sentence; the fake provider continues it. */
const DRAFT = 'Could you also add a slide that compares the revenue of both regions with ';

/** A request of about 1.3 kB, as an editor's side panel would send it. */
const REQUEST = {
  request_id: `r-${ID}`,
  user_id: 'u-1',
  session_id: `s-${ID}`,
  mode: 'complete_draft',
  draft: { text: DRAFT, revision: 12 },
  context_revision: 'c-7',
  artifact: {
    kind: 'slides',
    id: 'quarterly-review',
    revision: '41',
    selection: 'Revenue by region, third quarter: north 4.2 million, south 3.9 million, both before returns.',
    summary:
      'A deck of eleven slides for the board: results of the third quarter, the outlook for the fourth, open ' +
      'positions, and a page on the risks of the new warehouse that is to open in spring.',
  },
  language: 'en',
  messages: [
    {
      role: 'user',
      content:
        'Please make a deck about the third quarter. The figures are in the attached sheet; keep it short, no ' +
        'more than a dozen slides, and leave the returns out of the first page.',
      origin: 'human',
    },
    {
      role: 'assistant',
      content:
        'Done: eleven slides. The first one has the totals, the second the regions, and the last one asks for a ' +
        'decision about the warehouse. Returns are mentioned on page four only.',
      origin: 'agent',
    },
    {
      role: 'user',
      content: 'Good. The second page needs the same colours as last time, and larger type.',
      origin: 'human',
    },
  ],
  user_preferences: 'Short sentences, British spelling, no exclamation marks.',
};

const [HEAD = '', MIDDLE = '', TAIL = ''] = JSON.stringify(REQUEST).split(ID);

/** Returns the request's JSON text with `id` in its ids; ASCII only, so that its length is its size. */
export function requestText(id: string): string {
  return HEAD + id + MIDDLE + id + TAIL;
}
