import assert from 'node:assert/strict';
import fc from 'fast-check';
import { checkBatch } from '../../../shared/domain/recording.ts';
import { asText } from '../../../shared/transcripts/json.ts';
import { SAMPLES, vscodeLog } from '../../support/more-transcripts.ts';
import { NOW, readTranscript } from '../../support/read-transcript.ts';
import {
  claudeCodeFile,
  clineMessages,
  codexFile,
  geminiDocument,
  geminiFile,
  specStoryFile,
} from '../../support/transcripts.ts';

const FILES = [
  claudeCodeFile('s'),
  codexFile('c'),
  specStoryFile('p'),
  geminiFile('g'),
  geminiDocument('g'),
  JSON.stringify(clineMessages()),
  vscodeLog('v'),
  ...Object.values(SAMPLES).map(([text]) => compact(text)),
];

/** Puts a document of JSON on one line. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

const oddValues = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    '',
    '\0',
    '\uD800',
    '__proto__',
    'x'.repeat(70_000),
    '0000-00-00T00:00:00Z',
    1e308,
    { toString: 1 },
    [],
  ),
);

function withReplaced(value: unknown, path: number[], other: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return other;
  const keys = Object.keys(value);
  const key = keys[step % keys.length];
  if (key === undefined) return other;
  const changed = withReplaced(Object.getOwnPropertyDescriptor(value, key)?.value, rest, other);
  return Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed };
}

/** Generates transcripts in which one line has a replaced value or inserted characters. */
const transcripts = fc
  .record({
    file: fc.constantFrom(...FILES),
    line: fc.nat(),
    path: fc.array(fc.nat(7), { maxLength: 6 }),
    other: oddValues,
    at: fc.nat(),
    characters: fc.string({ maxLength: 5 }),
  })
  .map(({ file, line, path, other, at, characters }) => {
    const lines = file.split('\n');
    const place = line % lines.length;
    const text = lines[place] ?? '';
    let changed = text.slice(0, at % (text.length + 1)) + characters + text.slice(at % (text.length + 1));
    try {
      changed = JSON.stringify(withReplaced(JSON.parse(text), path, other));
    } catch {
      // The line is Markdown or a part of a document.
    }
    return lines.with(place, changed).join('\n').split('\n');
  });

describe('hostile transcripts', () => {
  it('an object of a file that has a toString of its own has a text', () => {
    assert.deepEqual([{ toString: 1 }, null, 7, 'a'].map(asText), ['{"toString":1}', 'null', '7', 'a']);
  });

  it('reading a tampered transcript never throws, and gives valid events or invalid ones with a reason', async () => {
    await fc.assert(
      fc.asyncProperty(transcripts, async (lines) => {
        const { events } = readTranscript(lines.join('\n'), { chunkBytes: 1 + (lines.length % 50) });
        const { invalid } = await checkBatch(events, NOW);
        assert.ok(invalid.every(({ errors }) => errors.length > 0));
        // Only ids may have NUL or lone surrogates.
        const texts = events.flatMap(({ prompt, reply, text }) => prompt ?? reply ?? text ?? []);
        assert.ok(texts.every((text) => text.isWellFormed() && !text.includes('\0')));
      }),
      { numRuns: 2000 },
    );
  });
});
