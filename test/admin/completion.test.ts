import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { COMMANDS } from '../../bin/admin/commands/index.ts';
import { adminResult, runAdmin } from '../support/admin.ts';

const scriptFor = async (shell: string): Promise<string> =>
  (await adminResult(['completion', shell], {})).script;

/** Completes the last of these words as bash does. */
async function complete(...words: string[]): Promise<string[]> {
  const run = `COMP_WORDS=(forecue-admin "$@"); COMP_CWORD=$#; _forecue_admin; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const script = `${await scriptFor('bash')}\n${run}`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...words], {
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  return stdout.trim().split('\n');
}

describe('shell completion', () => {
  it('shell completion completes commands, subcommands and options in bash, without a database', async () => {
    const firstWords = [...new Set([...COMMANDS.keys()].map((name) => name.split(' ')[0]))];
    assert.deepEqual(await complete(''), firstWords);
    assert.deepEqual(await complete('app', ''), ['create', 'list', 'show', 'update', 'deactivate']);
    assert.deepEqual(await complete('queue', 're'), ['resume', 'retry-failed']);
    assert.deepEqual(await complete('doctor', '--l'), ['--live']);
    assert.deepEqual(await complete('app', 'create', '--name', 'x', '--p'), ['--plan']);
    assert.deepEqual(await complete('app', 'create', '--'), [
      ...['--name', '--redirect-uri', '--plan', '--cap-cents', '--json', '--help'],
    ]);
  });

  it('shell completion leaves unknown words to the shell, which completes file names', async () => {
    assert.deepEqual(await complete('backup', 'x'), ['']);
    assert.deepEqual(await complete('no', 'such', ''), ['']);
    assert.match(await scriptFor('bash'), /complete -o default /);
  });

  it('the bash completion script defines a function forecue-admin that runs the admin command', async () => {
    const script = `${await scriptFor('bash')}\nforecue-admin --version`;
    const { status, stdout } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
    assert.deepEqual([status, stdout], [0, (await runAdmin(['--version'], {})).stdout]);
  });

  for (const shell of ['bash', 'zsh', 'fish'])
    it(`the ${shell} completion script contains every command`, async () => {
      const script = await scriptFor(shell);
      for (const name of COMMANDS.keys()) assert.ok(script.includes(`'${name}'`), name);
    });

  it('shell completion lists the supported shells when asked for an unsupported one', async () => {
    const { code, stderr } = await runAdmin(['completion', 'tcsh'], {});
    assert.deepEqual([code, stderr], [1, 'the shell must be one of bash, zsh, fish, not "tcsh"\n']);
  });
});
