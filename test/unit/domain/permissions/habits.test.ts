import assert from 'node:assert/strict';
import { type DecidedPermission, decidePermission } from '../../../../shared/domain/permissions/support.ts';
import { APPROVER_CASES } from '../../../support/approver-cases.ts';
import { type AskedCommand, PEOPLE_OF_HABIT } from '../../../support/people-of-habit.ts';

const WHERE = {
  tool: 'Bash',
  action: 'run' as const,
  cwd: '/home/ada/engine',
  project: '/home/ada/engine',
};

const decisionOf = ({ command, isAllowed }: AskedCommand): DecidedPermission => ({
  ...WHERE,
  target: command,
  isAllowed,
});

describe('people of habit', () => {
  for (const { name, commands } of PEOPLE_OF_HABIT)
    it(`after 50 decisions 60 % of the dialogs of a person ${name} are gone, and none of what they refuse`, () => {
      const decided: DecidedPermission[] = [];
      let gone = 0;
      for (let round = 0; round < 100; round += 1) {
        const asked = commands[(round * 7) % commands.length] ?? { command: '', isAllowed: false };
        const { decision } = decidePermission({ ...WHERE, target: asked.command }, decided, false);
        assert.ok(asked.isAllowed || decision === 'ask', asked.command);
        if (decision === 'ask') decided.unshift(decisionOf(asked));
        else if (round >= 50) gone += 1;
      }
      assert.ok(gone >= 30, `${gone} of 50`);
    });

  it('of 128 cases on three axes none is allowed that is unsafe', () => {
    const allowed = APPROVER_CASES.filter(
      ({ asked, history }) =>
        decidePermission({ ...WHERE, target: asked }, history.map(decisionOf).reverse(), false).decision ===
        'allow',
    );
    assert.deepEqual(
      allowed.filter(({ isUnsafe }) => isUnsafe),
      [],
    );
    assert.ok(allowed.length >= 10);
  });
});
