import assert from 'node:assert/strict';
import { permissionOf } from '../../../shared/transcripts/permission.ts';
import { claudePermission, codexPermission, codexSession } from '../../support/permissions.ts';
import { NOW, readTranscript } from '../../support/read-transcript.ts';

const decisionsIn = (records: object[]) =>
  readTranscript(records.map((record) => JSON.stringify(record)).join('\n'), { now: NOW, isOver: true })
    .events.filter(({ type }) => type === 'agent.permission')
    .map(({ outcome, target }) => `${outcome}: ${target}`);

describe('permissions in transcripts', () => {
  const NO = { toolUseResult: 'User rejected tool use', toolDenialKind: 'user-rejected' };
  const decided = (decision: string, source: string, more = {}) => ({
    permissionDecision: { decision, source },
    ...more,
  });
  /** What a record of Claude Code says of a call, after how many milliseconds, and what the person decided. */
  const CLAUDE: [string, object, number, string?][] = [
    ['Yes', decided('accept', 'user_temporary'), 90, 'allowed'],
    ["Yes, don't ask again", decided('accept', 'user_permanent'), 1500, 'allowed'],
    ['allowed by a rule or a mode', decided('accept', 'config'), 100],
    ['allowed by a hook', decided('accept', 'hook'), 5000],
    ['denied by a hook', decided('reject', 'hook', { toolUseResult: 'Error: no' }), 60],
    ['No with words', decided('reject', 'user_reject', NO), 2000, 'refused'],
    ['nobody there', decided('reject', 'config', NO), 2000],
    ['No', { ...NO, toolDenialBeforeRun: true }, 1500, 'refused'],
    ['a hook that interrupts', { ...NO, toolDenialBeforeRun: true }, 84],
    [
      'No with words, before 2.1.332',
      { toolUseResult: "Error: The user doesn't want to proceed with this tool use." },
      2000,
      'refused',
    ],
    ['allowed before 2.1.332', { toolUseResult: { stdout: '' } }, 9000],
    [
      'Yes, in a session that a program drives',
      decided('accept', 'user_temporary', { entrypoint: 'sdk-cli' }),
      900,
    ],
    ['Yes, in a subagent', decided('accept', 'user_temporary', { isSidechain: true }), 900],
  ];
  for (const [what, result, waitMs, outcome] of CLAUDE)
    it(`in Claude Code's transcripts "${what}" is ${outcome ?? 'not the person’s decision'}`, () => {
      const records = claudePermission('s', 'npm test', result, waitMs);
      assert.deepEqual(decisionsIn(records), outcome === undefined ? [] : [`${outcome}: npm test`]);
    });

  /** What became of a command of Codex that leaves the sandbox: how long it waited, or what its output is. */
  const CODEX: [string, { waitMs?: number; output?: string; escalated?: boolean }, string?][] = [
    ['Yes', { waitMs: 1315 }, 'allowed'],
    ['allowed by a rule or a hook', { waitMs: 0 }],
    ['No', { output: 'Wall time: 1.3 seconds\naborted by user' }, 'refused'],
    ['denied by a hook', { output: 'exec_command failed: Rejected("no")' }],
    ['in the sandbox', { waitMs: 1315, escalated: false }],
  ];
  for (const [what, call, outcome] of CODEX)
    it(`in Codex's rollouts "${what}" is ${outcome ?? 'not the person’s decision'}`, () => {
      const records = [codexSession('s'), ...codexPermission('npm test', call)];
      assert.deepEqual(decisionsIn(records), outcome === undefined ? [] : [`${outcome}: npm test`]);
    });

  it('a recorded permission has its tool, folders and no secret', () => {
    const yes = { permissionDecision: { decision: 'accept', source: 'user_temporary' } };
    const { events } = readTranscript(
      claudePermission('s', 'login --password hunter2hunter2', yes, 900)
        .map((record) => JSON.stringify(record))
        .join('\n'),
    );
    const event = events.find(({ type }) => type === 'agent.permission');
    assert.ok(event?.['target'] && !event['target'].includes('hunter2'));
    const { id, occurred_at, ...rest } = event;
    assert.deepEqual(
      { ...rest, target: '' },
      {
        session_id: 'claude-code:s',
        type: 'agent.permission',
        source: 'claude-code',
        agent: 'claude-code',
        tool: 'Bash',
        action: 'run',
        target: '',
        cwd: '/home/ada/engine',
        project: '/home/ada/engine',
        outcome: 'allowed',
      },
    );
  });

  it('a patch of Codex names each of its files, also where spaces precede the header', () => {
    const lines = [
      '*** Begin Patch',
      '*** Add File: src/a.ts',
      '+a',
      '  *** Add File: /srv/b',
      '+b',
      '*** End Patch',
    ];
    assert.deepEqual(permissionOf('apply_patch', { command: lines.join('\n') }), {
      tool: 'apply_patch',
      action: 'write',
      target: 'src/a.ts\n/srv/b',
    });
    const odd = permissionOf('apply_patch', { command: '*** Add File: a\r/../../b\n+b' });
    assert.equal(odd?.target, 'a\r/../../b');
  });
});
