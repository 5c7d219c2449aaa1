import type { Life } from './life.ts';
import { type Counts, rate, sum } from './scoring.ts';

/** A figure of the benchmark. If it has `must` and that is not `kept`, the run fails. */
export interface Figure {
  name: string;
  value: string;
  must?: { kept: boolean; is: string };
}

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;

export function figuresOf(lives: readonly Life[]): Figure[] {
  const remembered = sum(lives.map((life) => life.remembered));
  const again = sum(lives.map((life) => life.again));
  const after = sum(lives.map((life) => life.afterDeletion));
  const erased = sum(lives.map((life) => life.erased));
  return [
    ...quality('', remembered),
    count('facts that state what the person never said', remembered['neverSaid'], 0),
    completeShare('grounded quotes', remembered, 'groundedQuotes', 'quotes'),
    completeShare('facts that a row of the person attests', remembered, 'attestedFacts', 'facts'),
    {
      name: 'facts for 5 statements in 3 wordings',
      value: (5 * rate(remembered, 'copies', 'repeated')).toFixed(2),
    },
    count('rows that a second sync and promotion create', again['created'], 0),
    count('rows that they change', again['updated'], 0),
    count('tokens that they cost', again['input_tokens'], 0),
    count('five words in a row that a deletion left somewhere', after['leaks'], 0),
    ...quality(', after the deletion', after),
    count('rows that an erasure left', erased['rowsLeft'], 0),
    {
      name: 'tokens in, out',
      value: `${remembered['input_tokens'] ?? 0}, ${remembered['output_tokens'] ?? 0}`,
    },
    { name: 'seconds of promotion for each persona', value: rate(remembered, 'seconds', 'lives').toFixed(1) },
    { name: 'promotions that failed and were repeated', value: `${remembered['failures'] ?? 0}` },
  ];
}

function quality(when: string, counts: Counts): Figure[] {
  return [
    { name: `precision of active facts${when}`, value: percent(rate(counts, 'right', 'facts')) },
    { name: `recall of active facts${when}`, value: percent(rate(counts, 'recalled', 'truths')) },
    { name: `stale facts in bundles${when}`, value: percent(rate(counts, 'bundledStale', 'bundled', 0)) },
  ];
}

function count(name: string, value: number | undefined, must: number): Figure {
  return { name, value: `${value ?? 0}`, must: { kept: (value ?? 0) === must, is: `${must}` } };
}

function completeShare(name: string, counts: Counts, n: string, of: string): Figure {
  const value = rate(counts, n, of);
  return { name, value: percent(value), must: { kept: value === 1, is: percent(1) } };
}
