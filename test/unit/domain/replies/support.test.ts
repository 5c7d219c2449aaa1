import assert from 'node:assert/strict';
import { type PersonDecision, Precedents } from '../../../../shared/domain/replies/support.ts';
import { INJECTIONS } from '../../../support/injections.ts';
import { IRREVERSIBLE, ROUTINE } from '../../../support/questions.ts';

const RUN_TESTS = 'Shall I run the tests for the parser?';
const repliesTo = (reply: string, ...prompts: string[]) =>
  prompts.map((prompt, place) => ({ promptId: `${prompt} ${place}`, prompt, reply }));
const decisionOn = (reply: string, prompt: string, isRejected = false): PersonDecision => ({
  prompt,
  reply,
  isRejected,
});
const times = <One>(count: number, one: One): One[] => Array.from({ length: count }, () => one);

describe('support of a reply', () => {
  it('a reply is supported by two earlier replies of the same meaning to similar prompts', () => {
    const twice = repliesTo('yes', RUN_TESTS, 'Shall I run the tests for the router?');
    assert.ok(!new Precedents(twice.slice(1), []).supportFor(RUN_TESTS)('Yes, please!'));
    const isSupported = new Precedents(twice, []).supportFor(RUN_TESTS);
    for (const reply of ['Yes', 'ok, go ahead', 'Sure.', 'да', '好的']) assert.ok(isSupported(reply), reply);
    for (const reply of ['no', 'yes, and the linter', 'later', '']) assert.ok(!isSupported(reply), reply);
  });

  it('a reply is not supported by a reply that differs from it in the punctuation of a number or a name', () => {
    const prompt = 'Which of the lists shall I sort?';
    for (const [one, other] of [
      ['1,2', '12'],
      ['-5', '5'],
      ['C#', 'C'],
    ] as const) {
      assert.ok(
        !new Precedents(repliesTo(one, prompt).concat(repliesTo(other, prompt)), []).supportFor(prompt)(one),
      );
      assert.ok(new Precedents(repliesTo(one, prompt, prompt), []).supportFor(prompt)(one));
    }
  });

  it('a reply is supported by two accepting decisions, but neither by rejections nor by one decision and its raw row', () => {
    const approved = times(2, decisionOn('yes', RUN_TESTS));
    assert.ok(new Precedents([], approved).supportFor(RUN_TESTS)('yes'));
    assert.ok(!new Precedents(repliesTo('yes', RUN_TESTS), approved.slice(1)).supportFor(RUN_TESTS)('yes'));
    assert.ok(!new Precedents([], times(9, decisionOn('yes', RUN_TESTS, true))).supportFor(RUN_TESTS)('yes'));
  });

  it('replies to routine prompts do not support replies about irreversible actions', () => {
    const routine = ROUTINE.flatMap((prompt) => repliesTo('yes', ...times(10, prompt)));
    const precedents = new Precedents(
      routine,
      routine.map(({ prompt }) => decisionOn('yes', prompt)),
    );
    for (const prompt of ROUTINE) assert.ok(precedents.supportFor(prompt)('yes'), prompt);
    for (const prompt of IRREVERSIBLE) assert.ok(!precedents.supportFor(prompt)('yes'), prompt);
  });

  it('a reply is supported in scripts without spaces, but not by prompts that share only common characters', () => {
    const precedents = new Precedents(repliesTo('好的', ...times(2, '要运行全部测试吗？')), []);
    assert.ok(precedents.supportFor('要运行全部测试吗？')('是'));
    assert.ok(!precedents.supportFor('要清空全部文件吗？')('是'));
    const thai = 'ให้ฉันรันการทดสอบไหม';
    assert.ok(new Precedents(repliesTo('ใช่', thai, thai), []).supportFor(thai)('ใช่'));
  });

  it('a reply on an irreversible action is supported by five equal replies to nearly equal prompts, if none differs', () => {
    const prompt = 'Shall I delete the old snapshots?';
    assert.ok(!new Precedents(repliesTo('yes', ...times(4, prompt)), []).supportFor(prompt)('yes'));
    const five = repliesTo('yes', ...times(5, prompt));
    assert.ok(new Precedents(five, []).supportFor(prompt)('yes'));
    assert.ok(!new Precedents(five, []).supportFor('Shall I delete the new snapshots?')('yes'));
    assert.ok(!new Precedents([...five, ...repliesTo('not yet', prompt)], []).supportFor(prompt)('yes'));
    assert.ok(!new Precedents(five, [decisionOn('yes', prompt, true)]).supportFor(prompt)('yes'));
  });

  it('a reply to a prompt that is too long to compare is supported only by five earlier replies', () => {
    const long = `${'The log of the run follows. '.repeat(30)}${RUN_TESTS}`;
    const end = long.slice(-600);
    assert.ok(!new Precedents(repliesTo('yes', end, end), []).supportFor(long)('yes'));
    assert.ok(new Precedents(repliesTo('yes', ...times(5, end)), []).supportFor(long)('yes'));
  });

  it('a reply that its prompt dictated or supplied does not count as support', () => {
    for (const prompt of Object.values(INJECTIONS).flat())
      assert.ok(!new Precedents(repliesTo('yes', ...times(9, prompt)), []).supportFor(prompt)('yes'), prompt);
    const polish = 'Czy mam uruchomić testy? Odpowiedz „tak”.';
    assert.ok(!new Precedents(repliesTo('tak', ...times(9, polish)), []).supportFor(polish)('yes'));
  });
});

describe('supplied reply', () => {
  const isSupportedByItself = (prompt: string, reply: string) =>
    new Precedents(repliesTo(reply, ...times(9, prompt)), []).supportFor(prompt)(reply);

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
