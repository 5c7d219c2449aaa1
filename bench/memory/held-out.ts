import type { Topic } from './topic.ts';

/**
 * Topics in looser words, for which no rule of the product was written, so that the results show what to expect with
 * the words of other people. Rules must not be tuned on these topics.
 */
export const HELD_OUT: readonly Topic[] = [
  {
    slot: 'tool.terminal',
    kind: 'preference',
    goal: 'terminal',
    values: ['Alacritty', 'WezTerm', 'Ghostty', 'Konsole'],
    told: [
      '{} is the terminal I stick with.',
      'By the way, all of this happens in {}, which is my terminal of choice.',
      'For a terminal I wouldn’t want anything but {}.',
    ],
    changed: [
      'I have gone over to {} from {old} as a terminal.',
      'It’s {} instead of {old} in my terminal window these days.',
    ],
    fact: 'Uses the terminal {}',
  },
  {
    slot: 'tool.font',
    kind: 'preference',
    goal: 'font',
    values: ['Iosevka', 'Hack', 'Inconsolata', 'Monaspace'],
    told: [
      'Honestly, {} is the only font that I can read all day.',
      'The font in my screenshots is {}, I have had it for years.',
      'Set code samples in the font {} when it is for me.',
    ],
    changed: ['My font is {} now, no longer {old}.', 'I changed my font from {old} to {}.'],
    fact: 'Reads code in the font {}',
  },
  {
    slot: 'habit.lunch',
    kind: 'habit',
    goal: 'lunch',
    values: ['at eleven', 'at noon', 'at one', 'at two'],
    told: [
      'I have lunch {}, so nothing around that.',
      'Lunch for me is {} every day.',
      'Don’t expect me {}, that is when I have lunch.',
    ],
    changed: ['Lunch has moved from {old} to {} for me.', 'I have lunch {} now, not {old}.'],
    fact: 'Has lunch {}',
  },
  {
    slot: 'tool.linter',
    kind: 'preference',
    goal: 'linter',
    values: ['ESLint', 'Biome', 'oxlint', 'Standard'],
    told: [
      'Everything I write goes through the linter {}.',
      'We settled on {} as the linter, all repositories have it.',
      'A linter other than {} is not worth the trouble to me.',
    ],
    changed: [
      'The linter of ours is {}, we stopped using {old}.',
      'The linter is {} from here on, instead of {old}.',
    ],
    fact: 'Uses the linter {}',
  },
  {
    slot: 'decision.licence',
    kind: 'decision',
    goal: 'licence',
    values: ['MIT', 'Apache', 'AGPL', 'MPL'],
    told: [
      'What I publish has the {} licence.',
      'Put the {} licence on anything new of mine.',
      'I decided on the {} licence for all of my libraries.',
    ],
    changed: [
      'I publish under the {} licence now rather than {old}.',
      'The licence of my work goes from {old} to {}.',
    ],
    fact: 'Publishes under the {} licence',
  },
  {
    slot: 'tool.cloud',
    kind: 'environment',
    goal: 'cloud',
    values: ['Hetzner', 'Fly', 'Scaleway', 'Azure'],
    told: [
      'Our servers are at {}, no other cloud.',
      'The cloud that we pay for is {}.',
      'We rent everything at {} and are happy with that cloud.',
    ],
    changed: [
      'Our cloud is {} since the move away from {old}.',
      'We have moved to {} from {old}, cloud and all.',
    ],
    fact: 'Hosts in the cloud of {}',
  },
  {
    slot: 'style.naming',
    kind: 'style',
    goal: 'names',
    values: ['snake case', 'camel case', 'kebab case', 'Pascal case'],
    told: [
      'File names in {}, please, that is how I name them.',
      'I name files in {} wherever I may choose.',
      'Names of files look right to me in {} only.',
    ],
    changed: [
      'File names go from {old} to {}, I decided.',
      'I name files in {} these days instead of {old}.',
    ],
    fact: 'Names files in {}',
  },
  {
    slot: 'tool.tickets',
    kind: 'environment',
    goal: 'tickets',
    values: ['Jira', 'Linear', 'Trello', 'Redmine'],
    told: [
      'Our tickets live in {}.',
      'We track tickets with {}, for better or worse.',
      'Look into {} for the tickets, that is where ours are.',
    ],
    changed: ['The tickets have moved from {old} to {}.', 'We keep tickets in {} now instead of {old}.'],
    fact: 'Keeps tickets in {}',
  },
  {
    slot: 'tool.keyboard',
    kind: 'preference',
    goal: 'keyboard',
    values: ['Dvorak', 'Colemak', 'Neo', 'Bépo'],
    told: [
      'I type on a {} keyboard.',
      'My fingers only know the keyboard layout {}.',
      'Shortcuts must work on {}, which is my keyboard layout.',
    ],
    changed: [
      'I retrained my fingers from {old} to {} on the keyboard.',
      'My keyboard is {} these days, no longer {old}.',
    ],
    fact: 'Types on a {} keyboard',
  },
  {
    slot: 'habit.sport',
    kind: 'habit',
    goal: 'sport',
    values: ['bouldering', 'rowing', 'fencing', 'judo'],
    told: [
      'After work I go {}, the one sport I do.',
      'My evenings belong to {}, as a sport it is all I need.',
      'I do {} three times a week, best sport there is.',
    ],
    changed: ['My sport went from {old} to {}.', 'My sport is {} these days instead of {old}.'],
    fact: 'Does {} as a sport',
  },
  {
    slot: 'identity.role',
    kind: 'identity',
    goal: 'job',
    values: ['data engineer', 'site engineer', 'staff engineer', 'release engineer'],
    told: [
      'As a {} I see that every day, it is my job.',
      'I earn my living as a {}, that is the job.',
      'They hired me as a {}, a job I like.',
    ],
    changed: [
      'They promoted me from {old} to {}, a new job.',
      'My job is that of a {} now, no longer {old}.',
    ],
    fact: 'Works as a {}, by job',
  },
  {
    slot: 'tool.notes',
    kind: 'preference',
    goal: 'notes',
    values: ['Obsidian', 'Joplin', 'Logseq', 'Notion'],
    told: [
      'My notes are all in {}.',
      'I keep notes with {} and link to them from tickets of ours.',
      'If it is not in {} I have no notes of it.',
    ],
    changed: ['All my notes went from {old} to {}.', 'I keep my notes in {} rather than {old} these days.'],
    fact: 'Keeps notes in {}',
  },
  {
    slot: 'style.spelling',
    kind: 'style',
    goal: 'spelling',
    values: ['British', 'American', 'Canadian', 'Australian'],
    told: [
      'Use {} spelling in anything with my name on it.',
      '{} spelling is what I grew up with, so keep it.',
      'I write documents in {} spelling.',
    ],
    changed: ['Spelling: {} now instead of {old}, I was asked to.', 'I changed from {old} to {} spelling.'],
    fact: 'Writes in {} spelling',
  },
  {
    slot: 'tool.messenger',
    kind: 'environment',
    goal: 'chat',
    values: ['Slack', 'Zulip', 'Mattermost', 'Signal'],
    told: [
      'You reach me on {}, it is the chat I read.',
      'Our team’s chat is {}.',
      'I answer on {} within the hour, no other chat.',
    ],
    changed: ['Our chat went from {old} to {}.', 'The team’s chat is {} now, no longer {old}.'],
    fact: 'Reads the chat on {}',
  },
  {
    slot: 'habit.music',
    kind: 'habit',
    goal: 'music',
    values: ['techno', 'baroque', 'bebop', 'ambient'],
    told: [
      'With {} on I concentrate best, no other music.',
      'I code to {}, that is my music.',
      'The music in my headphones is {}.',
    ],
    changed: ['The music I code to is {} now instead of {old}.', 'My music went from {old} to {}.'],
    fact: 'Codes to {} music',
  },
  {
    slot: 'tool.framework',
    kind: 'preference',
    goal: 'web framework',
    values: ['Koa', 'Fastify', 'Hono', 'Express'],
    told: [
      'I build services on the web framework {}.',
      'For a web framework I reach for {} first.',
      '{} has been my web framework since the beginning.',
    ],
    changed: [
      'I moved my services from {old} to {} as their web framework.',
      'My web framework is {} these days instead of {old}.',
    ],
    fact: 'Builds on the web framework {}',
  },
];
