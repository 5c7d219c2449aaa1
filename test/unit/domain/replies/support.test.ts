import assert from 'node:assert/strict';
import { deedIn } from '../../../../shared/domain/replies/question.ts';
import { type PersonDecision, Precedents } from '../../../../shared/domain/replies/support.ts';
import { IRREVERSIBLE, ROUTINE } from '../../../support/questions.ts';

const RUN_TESTS = 'Shall I run the tests for the parser?';
const repliesTo = (reply: string, ...prompts: string[]) =>
  prompts.map((prompt, place) => ({
    id: `reply ${place}`,
    promptId: `${prompt} ${place}`,
    prompt,
    reply,
    at: place,
  }));
const decisionOn = (reply: string, prompt: string, isRejected = false): PersonDecision => ({
  id: 'prediction',
  prompt,
  reply,
  isRejected,
  at: 0,
  objectsTo: null,
});
const times = <One>(count: number, one: One): One[] => Array.from({ length: count }, () => one);

describe('support of a reply', () => {
  it('a reply is supported by two earlier replies of the same meaning to nearly the same question, or three to similar ones', () => {
    const ofRouter = 'Shall I run the tests for the router?';
    const three = repliesTo('yes', RUN_TESTS, ofRouter, 'Shall I run the tests for the importer?');
    const ofDocs = 'Shall I run the tests for the docs now?';
    assert.ok(!new Precedents(three.slice(1), []).supportFor(ofDocs)('yes').supported);
    assert.ok(new Precedents(three, []).supportFor(ofDocs)('yes').supported);
    const dissent = repliesTo('no', ofRouter);
    assert.ok(!new Precedents([...three, ...dissent], []).supportFor(ofDocs)('yes').supported);
    assert.ok(
      !new Precedents(three, []).supportFor('Shall I burn the tests for the parser?')('yes').supported,
    );
    const twice = repliesTo('yes', RUN_TESTS, RUN_TESTS);
    assert.ok(!new Precedents(twice.slice(1), []).supportFor(RUN_TESTS)('Yes, please!').supported);
    const supportOf = new Precedents(twice, []).supportFor(RUN_TESTS);
    for (const reply of ['Yes', 'ok, go ahead', 'Sure.', 'да', '好的'])
      assert.ok(supportOf(reply).supported, reply);
    for (const reply of ['no', 'yes, and the linter', 'later', ''])
      assert.ok(!supportOf(reply).supported, reply);
  });

  it('a reply is not supported by a reply that differs from it in the punctuation of a number or a name', () => {
    const prompt = 'Which of the lists shall I sort?';
    for (const [one, other] of [
      ['1,2', '12'],
      ['-5', '5'],
      ['C#', 'C'],
    ] as const) {
      assert.ok(
        !new Precedents(repliesTo(one, prompt).concat(repliesTo(other, prompt)), []).supportFor(prompt)(one)
          .supported,
      );
      assert.ok(new Precedents(repliesTo(one, prompt, prompt), []).supportFor(prompt)(one).supported);
    }
  });

  it('a yes to one deed supports no other, however alike the questions are, in four languages', () => {
    const pairs = [
      ['Is it ok to skip the slow tests?', 'Is it ok to fix the slow tests?'],
      ['Ready to open the pull request?', 'Ready to close the pull request?'],
      ['Enable caching for the API?', 'Disable caching for the API?'],
      ['Run the unit tests?', 'Skip the unit tests?'],
      ['Shall I run the tests with coverage?', 'Shall I run the tests without coverage?'],
      ['Möchtest du die Tests behalten?', 'Möchtest du die Tests verwerfen?'],
      ['Dois-je activer le cache ?', 'Dois-je désactiver le cache ?'],
      ['Je garde la branche de test ?', 'Je ferme la branche de test ?'],
      ['Est-ce que je dois garder les tests ?', 'Est-ce que je dois ignorer les tests ?'],
      ['¿Activo la caché de la API?', '¿Desactivo la caché de la API?'],
      ['¿Quieres que abra el puerto?', '¿Quieres que cierre el puerto?'],
    ] as const;
    const others = pairs.flatMap(([prompt]) => repliesTo('yes', prompt));
    for (const [prompt, other] of pairs) {
      const precedents = new Precedents([...others, ...repliesTo('yes', ...times(8, prompt))], []);
      assert.ok(precedents.supportFor(prompt)('yes').supported, prompt);
      assert.ok(!precedents.supportFor(other)('yes').supported, other);
    }
  });

  it('a deed is the same in another form of the question and of its verb', () => {
    for (const [prompt, other] of [
      ['Shall I run the tests?', 'Run the tests?'],
      ['Soll ich die Tests ausführen?', 'Möchtest du, dass ich die Tests ausführe?'],
      ['Je lance les tests ?', 'Dois-je lancer les tests ?'],
      ['¿Ejecuto las pruebas?', '¿Quieres que ejecute las pruebas?'],
    ] as const)
      assert.equal(deedIn(prompt), deedIn(other), other);
    assert.equal(deedIn('Which port?'), undefined);
  });

  it('replies to routine prompts do not support replies about irreversible actions', () => {
    const routine = ROUTINE.flatMap((prompt) => repliesTo('yes', ...times(10, prompt)));
    const precedents = new Precedents(
      routine,
      routine.map(({ prompt }) => decisionOn('yes', prompt)),
    );
    for (const prompt of ROUTINE) assert.ok(precedents.supportFor(prompt)('yes').supported, prompt);
    for (const prompt of IRREVERSIBLE) assert.ok(!precedents.supportFor(prompt)('yes').supported, prompt);
  });

  it('a reply is supported in scripts without spaces, but not by prompts that share only common characters', () => {
    const precedents = new Precedents(repliesTo('好的', ...times(2, '要运行全部测试吗？')), []);
    assert.ok(precedents.supportFor('要运行全部测试吗？')('是').supported);
    assert.ok(!precedents.supportFor('要清空全部文件吗？')('是').supported);
    const thai = 'ให้ฉันรันการทดสอบไหม';
    assert.ok(new Precedents(repliesTo('ใช่', thai, thai), []).supportFor(thai)('ใช่').supported);
  });

  it('a report before a question that stands alone is not compared; one to which the question refers takes five replies if it is long', () => {
    const report = 'The old log is deleted. I sent the token to production. '.repeat(20);
    const twice = repliesTo('yes', RUN_TESTS, `I changed the parser. ${RUN_TESTS}`);
    assert.ok(new Precedents(twice, []).supportFor(report + RUN_TESTS)('yes').supported);
    for (const referring of [
      'Shall I proceed?',
      'Soll ich die jetzt ausführen?',
      'Je les lance ?',
      'Uruchomić to?',
    ]) {
      const end = (report + referring).slice(-600);
      assert.ok(
        !new Precedents(repliesTo('yes', referring, referring), []).supportFor(end)('yes').supported,
        referring,
      );
      const long = report + referring;
      assert.ok(!new Precedents(repliesTo('yes', end, end), []).supportFor(long)('yes').supported, referring);
      assert.ok(new Precedents(repliesTo('yes', ...times(5, end)), []).supportFor(long)('yes').supported);
    }
  });

  it('a question is irreversible by what follows it, by another question, and by what the prompt announces', () => {
    const twice = repliesTo('yes', ...times(4, RUN_TESTS));
    for (const prompt of [
      `${RUN_TESTS} Then I deploy it.`,
      `Shall I delete the branch? ${RUN_TESTS}`,
      `I will wipe the disk first. ${RUN_TESTS}`,
      `Danach werde ich die Datenbank löschen. ${RUN_TESTS}`,
    ])
      assert.ok(!new Precedents(twice, []).supportFor(prompt)('yes').supported, prompt);
  });
});

describe('supplied reply', () => {
  const isSupportedByItself = (prompt: string, reply: string) =>
    new Precedents(repliesTo(reply, ...times(9, prompt)), []).supportFor(prompt)(reply).supported;

  it('a reply does not count as support if it is the only text quoted in its prompt, or a yes that stands there outside a question', () => {
    for (const [prompt, reply] of [
      ['Odpowiedz „tak”.', 'tak'],
      ['اكتب «نعم»', 'نعم'],
      ['Gõ `có` để tiếp tục', 'có'],
      ["Digita 'sì, cancella tutto'", 'sì, cancella tutto'],
      ['Shall I merge? A simple yes is enough.', 'Yes'],
      ['Odpowiedz tak.', 'tak'],
    ] as const)
      assert.ok(!isSupportedByItself(prompt, reply), prompt);
  });

  it('a reply counts as support if it is one of several options in its prompt, or answers a question there', () => {
    for (const [prompt, reply] of [
      ['Shall I use `pnpm` or `npm`?', 'pnpm'],
      ['Tabs or spaces?', 'spaces'],
      ['Is that ok?', 'ok'],
      ["I've changed the parser, it's done. Shall I go on?", 'yes'],
    ] as const)
      assert.ok(isSupportedByItself(prompt, reply), prompt);
  });
});
