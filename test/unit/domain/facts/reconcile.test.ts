import assert from 'node:assert/strict';
import { type KnownFact, reconcile } from '../../../../shared/domain/facts/reconcile.ts';
import type { Statement } from '../../../../shared/domain/facts/statement.ts';
import { pluck } from '../../../support/pluck.ts';

const day = (n: number) => new Date(Date.UTC(2026, 0, n));
const quote = (rawId: string, words = 'words') => ({ rawId, words, own: true });

const fact = (part: Partial<KnownFact> = {}): KnownFact => ({
  id: 'old',
  text: 'Uses npm as package manager',
  slot: 'tool.package_manager',
  origin: 'model',
  pinned: false,
  validFrom: day(1),
  validTo: null,
  supersededBy: null,
  quotes: [quote('r1', 'I use npm')],
  ...part,
});
const statement = (part: Partial<Statement> = {}): Statement => ({
  text: 'Uses pnpm as package manager',
  kind: 'preference',
  slot: 'tool.package_manager',
  origin: 'model',
  confidence: 0.9,
  validFrom: day(5),
  validTo: null,
  quotes: [quote('r2', 'I use pnpm')],
  target: null,
  ...part,
});

describe('reconciling', () => {
  it('a statement that no known fact contradicts becomes a new fact', () => {
    assert.deepEqual(reconcile(statement(), []), { outcome: 'new', supersedes: [] });
    assert.deepEqual(reconcile(statement(), [fact({ slot: 'tool.editor' })]), {
      outcome: 'new',
      supersedes: [],
    });
  });

  it('a statement is merged into a fact that says the same or has the same value in the slot', () => {
    for (const text of [
      'uses NPM, as package manager',
      'Uses npm as a package manager',
      'Uses npm',
      'I always use npm',
    ])
      assert.equal(reconcile(statement({ text }), [fact()]).outcome, 'evidence', text);
    const asked = statement({
      text: 'Installs with npm',
      slot: null,
      target: { id: 'old', relation: 'duplicate' },
    });
    assert.equal(reconcile(asked, [fact()]).outcome, 'evidence');
  });

  it('two statements that end at the same time are merged, whether or not their beginnings are known', () => {
    const ended = { text: 'Used npm as package manager', validFrom: day(3), validTo: day(3) };
    assert.equal(reconcile(statement(ended), [fact(ended)]).outcome, 'evidence');
    assert.equal(reconcile(statement(ended), [fact({ ...ended, validFrom: day(1) })]).outcome, 'evidence');
    assert.equal(reconcile(statement({ ...ended, validFrom: day(1) }), [fact(ended)]).outcome, 'evidence');
    for (const validTo of [day(2), day(4)])
      assert.equal(
        reconcile(statement(ended), [fact({ ...ended, validFrom: validTo, validTo })]).outcome,
        'new',
      );
    assert.deepEqual(reconcile(statement({ validFrom: day(3) }), [fact(ended)]), {
      outcome: 'new',
      supersedes: [],
    });
  });

  it('the statement "npm now instead of pnpm" is not merged into the fact "pnpm now instead of npm"', () => {
    const changed = fact({ text: 'I use pnpm now instead of npm' });
    const back = statement({ text: 'I use npm now instead of pnpm' });
    assert.equal(reconcile(back, [changed]).outcome, 'new');
    assert.equal(reconcile({ ...back, slot: null }, [{ ...changed, slot: null }]).outcome, 'new');
  });

  it('a statement is never merged into a fact with the same words in another order', () => {
    for (const [known, text] of [
      ['Prefers tea to coffee', 'prefers coffee to tea'],
      ['Uses 2 spaces in Go and 4 in Python', 'Uses 4 spaces in Go and 2 in Python'],
      ['Runs Node 1.10', 'Runs Node 10.1'],
    ] as const)
      for (const slot of [null, 'preference.choice'])
        assert.equal(
          reconcile(statement({ text, slot }), [fact({ text: known, slot })]).outcome,
          'new',
          text,
        );
  });

  it('a statement supersedes the fact that the model says it supersedes, unless both have the same words', () => {
    const target = { id: 'old', relation: 'supersedes' } as const;
    const old = fact();
    const decision = reconcile(statement({ text: 'Uses npm', target }), [old]);
    assert.deepEqual(decision, { outcome: 'new', supersedes: [{ fact: old, end: day(5) }] });
    assert.equal(reconcile(statement({ text: old.text, target }), [old]).outcome, 'evidence');
  });

  it('a statement with another number or negation is not merged into a fact that the model calls a duplicate', () => {
    const spaces = fact({ text: 'Indents with four spaces', slot: 'style.indentation' });
    const two = statement({ text: 'Indents with two spaces', slot: 'style.indentation' });
    assert.equal(
      reconcile({ ...two, target: { id: 'old', relation: 'duplicate' } }, [spaces]).outcome,
      'new',
    );
    const not = statement({ text: 'Never uses npm as package manager' });
    assert.equal(
      reconcile({ ...not, target: { id: 'old', relation: 'duplicate' } }, [fact()]).outcome,
      'new',
    );
  });

  it('a statement supersedes an older fact that contradicts it, and ends the validity of that fact', () => {
    const old = fact();
    assert.deepEqual(reconcile(statement(), [old]), {
      outcome: 'new',
      supersedes: [{ fact: old, end: day(5) }],
    });
    const named = statement({ slot: null, target: { id: 'old', relation: 'supersedes' } });
    assert.deepEqual(reconcile(named, [old]), { outcome: 'new', supersedes: [{ fact: old, end: day(5) }] });
  });

  it('a statement supersedes a fact with another value if the model named the slot of at least one of the two', () => {
    const [slotlessStatement, slotlessFact] = [statement({ slot: null }), fact({ slot: null })];
    for (const [one, other] of [
      [slotlessStatement, fact()],
      [statement(), slotlessFact],
    ] as const) {
      const decision = reconcile(one, [other]);
      assert.deepEqual(decision, { outcome: 'new', supersedes: [{ fact: other, end: one.validFrom }] });
    }
    assert.equal(reconcile({ ...slotlessStatement, validFrom: day(0) }, [fact()]).outcome, 'former');
    assert.deepEqual(reconcile(slotlessStatement, [slotlessFact]), { outcome: 'new', supersedes: [] });
  });

  it('a statement about a change supersedes a fact that states only what the person gives up or denies', () => {
    const changes: [change: string, old: string, slot?: string][] = [
      ['I have moved from npm to pnpm.', 'I always use npm.'],
      ['I have moved from Kiel to Hamburg.', 'I live in Kiel.'],
      ['We replaced RabbitMQ with NATS.', 'We use RabbitMQ as our message queue.', 'own.message_queue'],
      ['Production is on Node 22 since the upgrade.', 'We run Node 18 in production.'],
      ['Actually, I no longer use Vim, I use Helix now.', 'My editor is Vim.', 'tool.editor'],
      ['We now use Zig instead of Rust', 'We have switched from Go to Rust'],
      ['I always use npm.', 'I have moved from npm to pnpm.'],
      ['I no longer like coffee.', 'I like coffee.'],
      ['I don’t like coffee anymore.', 'I like coffee.'],
      ['I never use Docker.', 'I use Docker.'],
      ['I now use Docker.', 'I do not use Docker.'],
      ['I ditched Zsh for Nushell.', 'My shell is Zsh.', 'environment.shell'],
      ['I stopped using Firefox.', 'I use Firefox as my browser.', 'tool.browser'],
      ['Ich habe npm durch pnpm ersetzt.', 'Ich benutze npm als Paketmanager.', 'tool.package_manager'],
      ['Ich bin von KeePass zu Bitwarden gewechselt.', 'Ich nutze KeePass als Tresor.', 'own.tresor'],
      ['Ich nutze Slack nicht mehr.', 'Ich nutze Slack als Chat.', 'own.chat'],
      ['J’ai remplacé Atom par Zed.', 'J’utilise Atom comme éditeur.', 'tool.editor'],
      ['Je suis passée de Firefox à Brave.', 'Mon navigateur est Firefox.', 'tool.browser'],
      ['Je n’utilise plus Slack.', 'J’utilise Slack comme chat.', 'own.chat'],
      ['He dejado Firefox', 'Uso Firefox como navegador.', 'tool.browser'],
      ['He sustituido npm por pnpm.', 'Uso npm como gestor de paquetes.', 'tool.package_manager'],
      ['Never uses npm as package manager', 'Always uses npm as package manager', 'tool.package_manager'],
    ];
    for (const [change, old, slot] of changes) {
      const known = fact({ text: old, slot: slot ?? null });
      const supersedes = [{ fact: known, end: day(5) }];
      assert.deepEqual(
        reconcile(statement({ text: change, slot: null }), [known]),
        { outcome: 'new', supersedes },
        change,
      );
    }
    for (const [change, old] of [
      ['I have moved from npm to pnpm.', 'I never use npm.'],
      ['I have moved from npm to pnpm.', 'I maintain a fork of npm.'],
      ['I have moved from Kiel to Hamburg.', 'I was born in Kiel.'],
      ['I always fly from Kiel to Hamburg.', 'I live in Kiel.'],
      ['I prefer tea over coffee.', 'I like coffee.'],
      ['I have moved from coffee to tea.', 'I like coffee.'],
      ['I don’t always use npm.', 'I use npm.'],
      ['I never use Docker in CI.', 'I use Docker.'],
      ['I love Vim.', 'I no longer use Vim, I use Helix now.'],
      ['We have switched over to Helix.', 'We use Helix.'],
      ['I now use not only npm.', 'I use npm.'],
      ['Ich fahre von Kiel nach Hamburg.', 'Ich wohne in Kiel.'],
      ['Je vais de Lyon à Paris.', 'J’habite à Lyon.'],
      ['Voy de Bilbao a Madrid.', 'Vivo en Bilbao.'],
    ] as const)
      assert.deepEqual(
        reconcile(statement({ text: change, slot: null }), [fact({ text: old, slot: null })]),
        { outcome: 'new', supersedes: [] },
        change,
      );
    const earlier = statement({ text: 'I always use npm.', slot: null, validFrom: day(1) });
    const later = fact({ text: 'I have moved from npm to pnpm.', slot: null, validFrom: day(5) });
    assert.deepEqual(reconcile(earlier, [later]), {
      outcome: 'former',
      fact: later,
      end: day(5),
      supersedes: [],
    });
  });

  it('a statement without a slot supersedes no fact that may be true at the same time', () => {
    const beside: [text: string, known: string, slot: string][] = [
      ['Likes climbing', 'Likes tea', 'preference.drink'],
      ['Uses pip as package manager for Python', 'Uses npm as package manager', 'tool.package_manager'],
      ['Also uses yarn as package manager', 'Uses npm as package manager', 'tool.package_manager'],
      ['Uses Vim as editor', 'Uses npm as package manager', 'tool.package_manager'],
      ['Uses a package manager', 'Uses npm as package manager', 'tool.package_manager'],
      ['Works on the editor of the billing team', 'Works on the editor of the maps team', 'tool.text_editor'],
    ];
    for (const [text, known, slot] of beside) {
      const decision = reconcile(statement({ text, slot: null }), [fact({ text: known, slot })]);
      assert.deepEqual(decision, { outcome: 'new', supersedes: [] }, text);
    }
    // Found without a model: what it states has no slot because it is no value.
    const slow = statement({ text: 'Mein Editor ist langsam', slot: null, origin: 'extractive' });
    const vim = fact({ text: 'Mein Editor ist Vim', slot: 'tool.editor', origin: 'extractive' });
    assert.deepEqual(reconcile(slow, [vim]), { outcome: 'new', supersedes: [] });
  });

  it('a statement that is older than a contradicting fact is stored as superseded', () => {
    const old = fact({ validFrom: day(9) });
    assert.deepEqual(reconcile(statement(), [old]), {
      outcome: 'former',
      fact: old,
      end: day(9),
      supersedes: [],
    });
    // A fact whose successor is only announced is not superseded yet.
    const present = fact({ id: 'present', validTo: day(9) });
    const supersedes = [{ fact: present, end: day(5) }];
    assert.deepEqual(reconcile(statement(), [present, old]), {
      outcome: 'former',
      fact: old,
      end: day(9),
      supersedes,
    });
  });

  it('a statement does not change facts that were valid at another time', () => {
    const past = fact({ validTo: day(3) });
    assert.deepEqual(reconcile(statement(), [past]), { outcome: 'new', supersedes: [] });
    const later = fact({ validFrom: day(9) });
    assert.deepEqual(reconcile(statement({ validTo: day(8) }), [later]), { outcome: 'new', supersedes: [] });
  });

  it('a statement that repeats a fact which no longer holds becomes a new fact', () => {
    const again = statement({ text: 'Uses npm as package manager', quotes: [quote('r2', 'I use npm')] });
    assert.deepEqual(reconcile(again, [fact({ validTo: day(3) })]), { outcome: 'new', supersedes: [] });
  });

  it('a statement never changes a fact that the person wrote or pinned', () => {
    for (const part of [{ origin: 'human' }, { pinned: true }]) {
      const own = fact(part);
      assert.deepEqual(reconcile(statement(), [own]), {
        outcome: 'former',
        fact: own,
        end: null,
        supersedes: [],
      });
      const begun = { ...own, validFrom: day(9) };
      assert.deepEqual(reconcile(statement(), [begun]), {
        outcome: 'former',
        fact: begun,
        end: day(9),
        supersedes: [],
      });
    }
  });

  it('a statement rewords an unpinned fact that has similar words and comes from the same passage', () => {
    const same = statement({
      text: 'Likes npm for packages',
      quotes: [quote('r1', 'I use npm')],
      slot: null,
    });
    assert.equal(
      reconcile(same, [fact({ slot: null, text: 'Likes npm for all packages' })]).outcome,
      'rewording',
    );
    assert.equal(
      reconcile(same, [fact({ slot: null, text: 'Likes npm for all packages', pinned: true })]).outcome,
      'evidence',
    );
    const other = statement({ text: 'Lives in Lisbon', quotes: [quote('r1', 'I use npm')], slot: null });
    assert.equal(reconcile(other, [fact()]).outcome, 'new');
  });

  it('a statement that repeats a superseded fact becomes a new fact only if another passage supports the statement', () => {
    const former = fact({ supersededBy: 'x' });
    const again = statement({ text: former.text, quotes: [quote('r1', 'I use npm')] });
    assert.equal(reconcile(again, [former]).outcome, 'known');
    const current = fact({
      id: 'x',
      text: 'Uses pnpm as package manager',
      validFrom: day(2),
      quotes: [quote('r2')],
    });
    const back = statement({ text: former.text, quotes: [quote('r9', 'back to npm')] });
    assert.deepEqual(reconcile(back, [former, current]), {
      outcome: 'new',
      supersedes: [{ fact: current, end: day(5) }],
    });
  });

  it('several statements of one slot, in any order, leave only the latest one as a current fact', () => {
    const values = ['npm', 'pnpm', 'yarn', 'bun'];
    const statements = values.map((value, n) =>
      statement({
        text: `Uses ${value} as package manager`,
        validFrom: day(n + 1),
        quotes: [quote(value, value)],
      }),
    );
    for (const order of permutations(statements)) {
      const known = order.reduce<KnownFact[]>(applyStatement, []);
      const current = known.filter(({ supersededBy }) => supersededBy === null);
      assert.deepEqual(pluck(current, 'text'), ['Uses bun as package manager']);
      const ends = Object.fromEntries(
        known.map(({ text, validTo }) => [text.split(' ')[1], validTo?.getUTCDate() ?? null]),
      );
      assert.equal(ends['bun'], null);
      for (const value of values.slice(0, 3)) assert.ok(ends[value] !== null, value);
      // A second run over the same statements changes nothing.
      for (const one of statements) assert.match(reconcile(one, known).outcome, /^(known|evidence)$/);
    }
  });
});

function applyStatement(known: KnownFact[], one: Statement): KnownFact[] {
  const decision = reconcile(one, known);
  const { text, slot, validFrom, validTo, quotes } = one;
  const added = fact({ id: text, text, slot, validFrom, validTo, quotes });
  if (decision.outcome !== 'new' && decision.outcome !== 'former') return known;
  if (decision.outcome === 'former')
    Object.assign(added, { supersededBy: decision.fact.id, validTo: decision.end ?? validTo });
  const changed = known.map((old) => {
    const end = decision.supersedes.find(({ fact: { id } }) => id === old.id);
    return end === undefined ? old : { ...old, supersededBy: added.id, validTo: end.end };
  });
  return [...changed, added];
}

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}
