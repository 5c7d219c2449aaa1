import assert from 'node:assert/strict';
import { haveSameMeaning, meaningOf } from '../../../shared/text/meaning.ts';

const REPLY =
  'Please restart the staging server on port 8080 and tell me when the checks of the new release have passed';
const keepsMeaning = (from: string, to: string) => haveSameMeaning(REPLY, REPLY.replace(from, to));

describe('meaning of replies', () => {
  it('replies in nearly the same words have the same meaning, whether they are long or short', () => {
    assert.ok(keepsMeaning('tell me', 'tell me then'));
    assert.ok(haveSameMeaning('Yes, go ahead!', 'yes, go ahead'));
    assert.ok(!haveSameMeaning('Yes, go ahead!', 'Yes, wait'));
  });

  it('long replies that differ in a number or a negation do not have the same meaning', () => {
    for (const [from, to] of [
      ['8080', '8081'],
      ['port 8080', 'port'],
      ['Please', 'Please do not'],
      ['have passed', "haven't passed"],
    ] as const)
      assert.ok(!keepsMeaning(from, to), to);
    const move = (from: number, to: number) =>
      `Move the requests of all of the customers in Europe from port ${from} to port ${to} during this night, please`;
    assert.ok(!haveSameMeaning(move(8080, 8081), move(8081, 8080)));
  });

  it('replies that differ in the punctuation of a number, name, path or option do not have the same meaning', () => {
    for (const [one, ...others] of [
      ['12', '1,2', '1-2', '1.2', '1/2', '1:2', '1–2'],
      ['15', '1.5', '-15', '–15', '15%', '15‰', '#15', '$15', '-$15', '.15', '-.15', '+15', '15+'],
      ['v12', 'v1.2', 'v-12', 'v1-2'],
      [
        'c',
        'C#',
        'C++',
        'C*',
        '&c',
        '@c',
        '-c',
        '--c',
        '.c',
        '!c',
        '/c',
        './c',
        '../c',
        '~/c',
        'c/',
        '*.c',
        '\\c',
      ],
      ['50 50', '50/50', '5050', '50%/50%', '50-50'],
      ['NET', '.NET'],
      ['force', '--force'],
      ['my var', 'my_var', 'myvar', 'my/var', 'my\\var', 'my@var'],
      ['src main.ts', 'src/main.ts', '/src/main.ts', '../src/main.ts', 'src\\main.ts'],
      ['use port 80', 'use port -80', 'use port 8.0', 'use port 80%'],
      ['a b', 'ab', 'a*b', 'a&b', 'a/b'],
    ] as const) {
      const all = [one, ...others];
      const meanings = all.map((reply) => meaningOf(reply));
      assert.equal(new Set(meanings).size, all.length, meanings.join(' | '));
      for (const other of others) assert.ok(!haveSameMeaning(one, other), `${one} and ${other}`);
    }
    for (const port of ['-8080', '80.80', '8080%', '$8080', '#8080'])
      assert.ok(!keepsMeaning('8080', port), port);
  });

  it('replies that differ only in punctuation, or in how they agree to the question, have the same meaning', () => {
    for (const [one, ...others] of [
      [
        'yes',
        'Yes!',
        'yes.',
        '"yes"',
        '“yes”',
        '«yes»',
        '(yes)',
        "'yes'",
        'yes…',
        '…yes',
        '- yes',
        '– yes',
        '• yes',
      ],
      ['don’t', "don't", 'dont', 'Don’t!'],
      ['15', '15.', '15)', '(15)', '"15"', '- 15', '15!', '15,'],
      ['-15', '(-15)', '-15.'],
      ['C#', 'c#.', '"C#"', '(C#)'],
      ['--force', '"--force"', '(--force).'],
      ['.NET', '“.NET”', '.net,'],
      [
        'pnpm, then vitest',
        'pnpm then vitest.',
        'pnpm - then: vitest',
        'pnpm—then vitest',
        'pnpm,then vitest',
      ],
      ['well known', 'well-known'],
      ['用 pnpm', '用 pnpm。', '「用 pnpm」'],
    ] as const)
      for (const other of others) {
        assert.equal(meaningOf(other), meaningOf(one));
        assert.ok(haveSameMeaning(one, other), `${one} and ${other}`);
      }
    for (const yes of [
      'OK.',
      'O.K.',
      'yes, please!',
      'Yes—go ahead…',
      'ok,go ahead',
      "d'accord",
      'да!',
      'जी!हाँ',
      '好的，谢谢。',
      'نعم،',
    ])
      assert.equal(meaningOf(yes), 'yes', yes);
    for (const [question, one, other] of [
      ['Shall I run the unit tests?', 'yes', 'run them please'],
      ['Shall I run the unit tests?', 'ok', 'yes, run the unit tests'],
      ['Soll ich die Tests ausführen?', 'ja', 'führ sie aus'],
      ['Dois-je lancer les tests ?', 'oui', 'vas-y, lance-les'],
      ['¿Ejecuto las pruebas?', 'sí', 'ejecútalas'],
      ['Which one?', 'the second', 'option 2'],
      ['Shall I?', '👍🏽', 'carry on'],
      ['Shall I?', 'no need', 'not now'],
      ['Should I skip the slow tests?', 'yes', 'skip them'],
      ['Should I skip the slow tests?', 'no', "don't"],
      ['Shall I stop?', 'yes', 'stop'],
      ['Shall I?', 'no', 'not yet'],
      ['Soll ich?', 'nein', 'noch nicht'],
      ['Je continue ?', 'oui', 'ouais'],
      ['¿Sigo?', 'sí', 'claro que sí'],
    ] as const)
      assert.equal(meaningOf(one, question), meaningOf(other, question), other);
    for (const [question, reply] of [
      ['Shall I run the unit tests?', 'yes, but only the unit ones'],
      ['Shall I run the unit tests?', 'run them twice'],
      ['Shall I run the unit tests?', 'run them when the build is green'],
      ['Shall I run the unit and the browser tests?', 'yes, the unit tests'],
      ['Which tests shall I run?', 'run the tests'],
      ['Shall I not run the tests?', 'run the tests'],
    ] as const)
      assert.notEqual(meaningOf(reply, question), 'yes', reply);
    for (const asked of ['yes?', 'ok?', 'right?', 'klar ?', 'oui ?', 'go ahead？'])
      assert.ok(!haveSameMeaning(asked, asked.replace(/ ?[?？]/u, ''), 'Shall I?'), asked);
    for (const reply of ['yes 👎', 'ok ❌', '👍👎', 'yes, run them 🛑'])
      assert.notEqual(meaningOf(reply, 'Shall I run the unit tests?'), 'yes', reply);
    // A verdict by the words alone would be the opposite of what is meant.
    for (const [question, reply, opposite] of [
      ['Should I skip the tests?', 'skip it', 'no'],
      ['Should I leave it?', 'leave it', 'no'],
      ['Soll ich das weglassen?', 'lass das', 'no'],
      ['¿Lo dejo?', 'déjalo', 'no'],
      ['Do it now or skip it?', 'skip it', 'no'],
      ['Shall I stop the server?', 'carry on', 'yes'],
      ['Shall I abort?', 'go on', 'yes'],
      ['Soll ich abbrechen?', 'mach weiter', 'yes'],
      ['Dois-je arrêter ?', 'vas-y, continue', 'yes'],
      ['¿Paro?', 'sigue', 'yes'],
      ['Do you mind if I push?', 'go ahead', 'yes'],
      ['Should I wait or continue?', 'continue', 'yes'],
      ['Shall I continue or refactor first?', 'continue', 'yes'],
    ] as const)
      assert.notEqual(meaningOf(reply, question), opposite, `${question} ${reply}`);
    for (const nothing of ['', '?', '…', '- ', '"()"']) assert.equal(meaningOf(nothing), '');
  });
});
