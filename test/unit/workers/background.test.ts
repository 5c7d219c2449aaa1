import assert from 'node:assert/strict';
import {
  backgroundsFor,
  type CommonWord,
  commonestWord,
  commonWords,
} from '../../../workers/providers/local/background.ts';

describe('lists of what many people write', () => {
  it('the commonest word is the likeliest of the common words, after one word and after two', () => {
    const drafts = {
      en: 'please make sure that the tests pass and then let me know when you are done ',
      de: 'ich wollte fragen ob du morgen zeit hast und mit uns in die stadt gehen willst ',
      fr: 'je voudrais savoir si vous pouvez me dire quand le train part de la gare ',
      es: 'me gustaría saber si puedes decirme cuando va a estar listo el informe ',
    };
    for (const [language, draft] of Object.entries(drafts)) {
      const task = { mode: 'complete_draft', draftHead: '', draft, messages: [], language } as const;
      const [list] = backgroundsFor({ ...task, artifact: null, preferences: '', memory: null });
      assert.equal(list?.language, language);
      const words = draft.trim().split(' ');
      for (const end of words.keys())
        for (const length of [1, 2]) {
          const context = words.slice(Math.max(0, end + 1 - length), end + 1);
          const line = { words: context, begun: '', needsSpace: true, form: null };
          const all: [string, CommonWord][] = [...commonWords([list], line)].sort(
            ([, a], [, b]) => b.probability - a.probability,
          );
          const found = commonestWord(list, context);
          const [following, likeliest] = all[0] ?? [];
          assert.equal(found && ` ${found.written}`, following, context.join(' '));
          assert.deepEqual([found?.depth, found?.share], [likeliest?.depth, likeliest?.share]);
          assert.ok(Math.abs((found?.probability ?? 0) - (likeliest?.probability ?? 0)) < 1e-9);
        }
    }
  });
});
