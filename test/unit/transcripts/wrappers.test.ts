import assert from 'node:assert/strict';
import { stripToolWrappers } from '../../../shared/transcripts/wrappers.ts';

describe("person's words in a message", () => {
  it("a person's words in a message do not include what a tool added", () => {
    const messages: [string, string][] = [
      ['fix it', 'fix it'],
      ['<system-reminder>x</system-reminder>\nfix it', 'fix it'],
      ['fix it\n<system-reminder>x</system-reminder>', 'fix it'],
      ['<ide_opened_file>a.ts</ide_opened_file><ide_selection line="1">x</ide_selection> fix it', 'fix it'],
      ['<my-button>ok</my-button> is wrong', '<my-button>ok</my-button> is wrong'],
      ['<shop-basket class="wide"></shop-basket> yes', '<shop-basket class="wide"></shop-basket> yes'],
      ['<environment_context>\n<cwd>/x</cwd>\n</environment_context>\nfix it', 'fix it'],
      ['<permissions instructions>x</permissions instructions> fix it', 'fix it'],
      ['<user_input mode="act">fix it</user_input>', 'fix it'],
      ['<task>\nfix it\n</task>\n<environment_details>x</environment_details>', 'fix it'],
      ['<task>a</task> and <task>b</task>', '<task>a</task> and <task>b</task>'],
      ['in <my-button>ok</my-button>', 'in <my-button>ok</my-button>'],
      ['<div>ok</div> is wrong', '<div>ok</div> is wrong'],
      ['[Image #1] what is this?', 'what is this?'],
      ['a < b && c > d', 'a < b && c > d'],
    ];
    for (const [message, words] of messages) assert.equal(stripToolWrappers(message), words);
  });

  it('a message that a tool wrote contains no words of the person', () => {
    for (const message of [
      '',
      '<command-name>/clear</command-name>\n<command-args></command-args>',
      '<local-command-stdout>done</local-command-stdout>',
      '<bash-input>ls</bash-input>',
      '<task-notification>done</task-notification>\nRead the output file to retrieve the result: /tmp/x',
      '<task-notification>done</task-notification>\nFull transcript available at: /tmp/x.output',
      '<environment_context>cut off',
      '[Request interrupted by user for tool use]',
      'This session is being continued from a previous conversation that ran out of context.',
      '# AGENTS.md instructions for /home/ada',
      'TaskCompleted hook feedback:\nrun the linter',
      '[Image: source: /tmp/x.png]',
    ])
      assert.equal(stripToolWrappers(message), '');
  });

  it('text that tools added is stripped from a message of a million characters in less than two seconds', () => {
    for (const part of ['<skill>', '<system-reminder>', '<skill>x</skill>', '<task>', '[Image #']) {
      const began = performance.now();
      stripToolWrappers(part.repeat(1_000_000 / part.length));
      assert.ok(performance.now() - began < 2000, part);
    }
  });
});
