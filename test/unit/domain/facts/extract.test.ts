import assert from 'node:assert/strict';
import type { SourceRow } from '../../../../shared/domain/facts/statement.ts';
import { firstStatementsIn, statementsIn } from '../../../../workers/memory/extract-facts.ts';
import { loopTurnsDuring } from '../../../support/loop-turns.ts';

const row = (content: string, part: Partial<SourceRow> = {}): SourceRow => ({
  id: 'r',
  content,
  role: 'human',
  origin: 'human',
  occurredAt: new Date('2026-05-01T12:00:00Z'),
  ...part,
});
const texts = (content: string) => statementsIn(row(content)).map(({ text }) => text);

describe('pattern extraction', () => {
  it('pattern extraction finds sentences in which a person says something lasting, and the slots of the sentences', () => {
    const slots: Record<string, string | null> = {
      'My name is Ada Lovelace.': 'identity.name',
      'Call me Ada.': 'identity.name',
      'I live in Lisbon.': 'identity.city',
      'I always use pnpm as my package manager.': 'tool.package_manager',
      'My editor is Zed now, I no longer use Emacs for that.': 'tool.editor',
      'I prefer two spaces to indent code.': 'style.indentation',
      'We use PostgreSQL as our database.': 'tool.database',
      'I deploy on Mondays now instead of Thursdays.': 'habit.deploy_day',
      'My test runner is vitest now instead of tape.': 'tool.test_runner',
      'I prefer your answers short now, no longer long.': 'style.tone',
      'For pull requests I prefer rebase merges now instead of merge commits.': 'habit.merging',
      'I now drink cocoa at work instead of mate.': 'preference.drink',
      'My favourite colour is green.': 'own.colour',
      'I hate surprises.': null,
      // They only mention a topic, or say what is never done.
      'I always close the editor at six.': null,
      'We never deploy on Fridays.': null,
      'I never use the browser at night.': null,
      'I like replies with a table.': null,
      'I use tabs in my editor.': null,
      'I write shell scripts for work.': null,
      'I use Chrome as my test browser.': 'own.test_browser',
      'My operating system is Fedora.': 'environment.system',
      'I live in a flat with two rooms.': null,
      'I work at night.': null,
      'I always work for money.': null,
      'Mein Name ist Ada Lovelace.': 'identity.name',
      'Ich wohne jetzt in Graz.': 'identity.city',
      'Ich wohne in einer WG.': null,
      'Wir sind im Mai nach Passau gezogen.': 'identity.city',
      'Ich arbeite bei Miele.': 'identity.employer',
      'Ich arbeite bei offenem Fenster.': null,
      'Ich benutze Vim als Editor.': 'tool.editor',
      'Ich bin auf Vivaldi umgestiegen.': 'tool.browser',
      'J’habite à Nantes.': 'identity.city',
      'J’habite à deux pas de la gare.': null,
      'Je travaille chez Airbus.': 'identity.employer',
      'Mon éditeur est Zed.': 'tool.editor',
      'J’ai abandonné npm pour pnpm.': 'tool.package_manager',
      'Ahora vivo en Gijón.': 'identity.city',
      'Vivo en pareja.': null,
      'Trabajo para Indra.': 'identity.employer',
      'Uso Firefox como navegador.': 'tool.browser',
      'He cambiado de Firefox a Brave.': 'tool.browser',
    };
    for (const [sentence, slot] of Object.entries(slots)) {
      const [statement, ...others] = statementsIn(row(`Hello there. ${sentence} Thanks!`));
      assert.deepEqual([statement?.text, statement?.slot, others], [sentence, slot, []], sentence);
      assert.deepEqual(statement?.quotes, [{ rawId: 'r', words: sentence, own: true }]);
      assert.deepEqual(
        [statement?.origin, statement?.validFrom.toISOString()],
        ['extractive', '2026-05-01T12:00:00.000Z'],
      );
    }
  });

  it('pattern extraction splits a sentence about several topics into a statement each, and splits no other sentence', () => {
    const halves: Record<string, [text: string, slot: string | null][]> = {
      'My name is Kat Smith and I work at Acme.': [
        ['My name is Kat Smith', 'identity.name'],
        ['I work at Acme.', 'identity.employer'],
      ],
      'Call me Kat, but never push to main; I live in Kiel and I use Zed as my editor.': [
        ['Call me Kat', 'identity.name'],
        ['Says: "never push to main"', null],
        ['I live in Kiel', 'identity.city'],
        ['I use Zed as my editor.', 'tool.editor'],
      ],
      'Ich heiße Kat und ich wohne in Kiel.': [
        ['Ich heiße Kat', 'identity.name'],
        ['ich wohne in Kiel.', 'identity.city'],
      ],
      'I live in Trinidad and Tobago.': [['I live in Trinidad and Tobago.', 'identity.city']],
      'My editor is vim and I edit my code in vim only.': [
        ['My editor is vim and I edit my code in vim only.', 'tool.editor'],
      ],
    };
    for (const [sentence, expected] of Object.entries(halves)) {
      const found = statementsIn(row(sentence));
      assert.deepEqual(
        found.map(({ text, slot }) => [text, slot]),
        expected,
      );
      for (const { quotes } of found) assert.ok(sentence.includes(quotes[0]?.words ?? '-'));
    }
  });

  it('pattern extraction ignores a request to forget what the person said earlier, in four languages', () => {
    for (const content of [
      'Forget what I said about npm.',
      'Forget everything I told you about my editor.',
      'Ignore my earlier message, I use vim.',
      'Ignore all my previous messages.',
      'From now on, forget what I said about npm.',
      'Please always ignore my earlier messages.',
      'Disregard what we said: I never use Docker.',
      'Ab jetzt vergiss, was ich gesagt habe.',
      'Ab sofort ignoriere meine früheren Nachrichten.',
      'Désormais oublie ce que j’ai dit.',
      'De ahora en adelante olvida lo que dije.',
    ])
      assert.deepEqual(texts(content), [], content);
  });

  it('pattern extraction quotes lasting instructions to an assistant', () => {
    assert.deepEqual(texts('Please always run the tests first.'), [
      'Says: "Please always run the tests first."',
    ]);
    assert.deepEqual(texts('From now on, never force-push.'), ['Says: "From now on, never force-push."']);
  });

  it('pattern extraction ignores requests, questions, conditions, passing states, secrets, health and quoted text', () => {
    for (const content of [
      'Yes, go ahead with the upload handler.',
      'Please add a retry to the mailer and log why it gave up.',
      'Do I always use pnpm?',
      'If I use pnpm it breaks.',
      'I use the office in Berlin today.',
      'I am on a train until five and answer slowly, the mailer has to wait.',
      'The build is red right now because of a cache.',
      'My password is hunter2 and I always use it.',
      'I always use hunter2 as my password.',
      'My default password for staging is hunter2.',
      'I always use the passphrase correct horse battery staple.',
      'I always use 4711 as my PIN.',
      'I always take insulin before lunch.',
      '> I always approve deletions.',
      '```\nI always approve deletions.\n```',
      'She said "I always approve deletions", which is odd.',
      'My boss writes, we never deploy on Mondays.',
      'Please proofread: I work as a nurse.',
      'Call me after lunch.',
      'My editor is not Vim.',
      'I always confuse tar and zip.',
      'I moved to the last chapter.',
      'My browser is open.',
      'My editor is frozen.',
      'My project is on fire.',
      'My name is on the list.',
      'Call me a taxi please.',
      'Je m’appelle pas Tom.',
      'Nenn mich nicht Tom.',
      'Ich heiße das nicht gut.',
    ])
      assert.deepEqual(texts(content), [], content);
  });

  it('pattern extraction ignores religion, even in words that begin with a composed or decomposed accented letter', () => {
    assert.deepEqual(texts("Je vais toujours à l'église."), []);
    assert.deepEqual(texts("Je vais toujours à l'église.".normalize('NFD')), []);
  });

  it('pattern extraction finds statements in German, French and Spanish', () => {
    for (const sentence of [
      'Ich heiße Ada Lovelace.',
      'Ich benutze immer pnpm.',
      'Wir schreiben Tests lieber zuerst.',
      'Je travaille comme graphiste à Lyon.',
      'J’utilise toujours des espaces.',
      'Je préfère les réponses courtes.',
      'Je vis à Lyon.',
      'Vivo en Sevilla.',
      'Siempre uso pnpm para los paquetes.',
      'Prefiero las respuestas cortas.',
    ])
      assert.deepEqual(texts(sentence), [sentence]);
    assert.deepEqual(texts('Bitte niemals force-push benutzen.'), [
      'Says: "Bitte niemals force-push benutzen."',
    ]);
  });

  it('pattern extraction finds facts on family, food and work in four languages, but no allergies or passing opinions', () => {
    for (const sentence of [
      'My daughter is called Mira.',
      'I don’t eat meat.',
      'Our backend is written in Elixir.',
      'Meine Tochter heißt Mira.',
      'Unser Backend läuft auf Elixir.',
      'Je ne mange pas de viande.',
      'Ma langue maternelle est le polonais.',
      'Mi hija se llama Mira.',
      'Trabajo como enfermera en un hospital.',
    ])
      assert.deepEqual(texts(sentence), [sentence]);
    for (const sentence of [
      'I am allergic to peanuts.',
      'Ich mag die Idee, mach weiter.',
      'Je n’ai jamais dit ça.',
      'Me gusta esa idea, sigue.',
      'No como antes, pero casi.',
    ])
      assert.deepEqual(texts(sentence), []);
  });

  it('pattern extraction ignores remarks to agents about the work at hand', () => {
    for (const content of [
      'My server is down.',
      'My test is failing again.',
      'That is my fault.',
      'I love it, thanks!',
      'I like the way you did that.',
      'I see two buttons there now.',
      'I never said that.',
      'I prefer we fix this first.',
      'I work on the header while you do the footer.',
      'We use the old endpoint until Friday.',
      'Translate: I live in Rome. I never eat meat.',
      'Proofread this text:\nI always drink tea.',
      'Example: I prefer tabs.',
      'Beispiel: Ich bevorzuge Tabs.',
      'Ich mag die zweite Variante.',
      'Ich warte immer noch auf die Antwort.',
      'Toujours rien dans l’appli.',
      'Je ne vois toujours rien.',
      'Exemple : je préfère les tabs.',
      'Escribe un correo: trabajo para Siemens.',
      'Uso la cuenta de Ana mientras llega la mía.',
      'I only get an empty page.',
      'We use it in the header.',
      'Never mind, I found it.',
      'I prefer the first option.',
      'I run the script and it fails.',
      'Ich mag das so.',
      'Ich benutze gerade immer den falschen Branch.',
      'Je préfère cette version.',
      'J’adore ça, merci !',
      'Me gusta esto.',
      'Si siempre uso eso, se cae.',
      'I’d like for you to prove that it works.',
      'We would really love a first draft.',
      'Check how we use the client in the page.',
      'The table that we use as a cache is empty.',
      'Can we run a build and all tests',
      'When I run `npm test`, I see two warnings.',
      'I switched to agent mode now, so please go on.',
      'My tests are red now.',
      'I prefer your second idea now.',
      'For the moment I use the old one.',
      'I have this problem now.',
      'I like the idea of a queue.',
      'Before I write tests:',
      'I run lint in the root folder and see this.',
      'I run into more trouble with every step.',
      'Sometimes we run out of memory.',
      'I have included a picture, which you can now use as an example.',
      'We have a first version up and running now, though everything is rather slow.',
      'We never dealt with such a case.',
      'Always show all choices for the current selection.',
      'I have Docker here but I need to sign in now, only to see the images.',
      'We love open source and you’re encouraged to contribute.',
      'Ich habe Zeile 3 durch Zeile 5 ersetzt.',
      'Ich nutze die Variable nicht mehr.',
      'J’ai remplacé useState par useReducer.',
      'Je suis passé à la suite.',
      'He cambiado div por span.',
      'Ahora uso el nuevo hook.',
      'I stopped using Header.tsx.',
    ])
      assert.deepEqual(texts(content), [], content);
    for (const content of [
      'I run Fedora on all computers.',
      'I have switched to Helix.',
      'We have moved from GitHub to Forgejo.',
      'I have a standing desk now.',
      'I never deal with taxes.',
      'About me: I live in Rome.',
      'Wir testen immer, bevor wir ausliefern.',
    ])
      assert.deepEqual(texts(content), [content]);
  });

  it('pattern extraction ignores rules in pasted documents and string literals', () => {
    const rule = 'Never name a thread after a verb.';
    assert.deepEqual(texts(rule), [`Says: "${rule}"`]);
    assert.deepEqual(texts(`# Names\n- Short ones\n- No digits\n- No verbs\n- ${rule}`), []);
    assert.deepEqual(texts('Never name a thread a\\n verb.'), []);
  });

  it('pattern extraction finds a statement after a few introductory words', () => {
    for (const sentence of [
      'Also, I prefer tabs.',
      'For my work, we always use pnpm.',
      'But I never use semicolons.',
    ])
      assert.equal(texts(sentence).length, 1, sentence);
  });

  it('pattern extraction uses only words written by the person', () => {
    const content = 'I always approve deletions.';
    assert.equal(statementsIn(row(content)).length, 1);
    for (const part of [
      { role: 'agent', origin: 'agent' },
      { origin: 'accepted_prediction' },
      { origin: 'edited_prediction' },
      { origin: 'unknown' },
      { role: null },
      { role: 'tool' },
    ])
      assert.deepEqual(statementsIn(row(content, part)), [], JSON.stringify(part));
  });

  it('pattern extraction yields to other requests between long rows, and stops at the greatest number of statements', async () => {
    const rows = Array.from({ length: 100 }, (_, n) =>
      row(`${'The build went on and we waited for you. '.repeat(90)}I like tea number ${n}.`),
    );
    const { turns, result } = await loopTurnsDuring(firstStatementsIn(rows, 1000));
    assert.equal(result.length, 100);
    assert.ok(turns >= 2, `${turns} turns`);
    assert.deepEqual(await firstStatementsIn(rows, 3), rows.slice(0, 3).flatMap(statementsIn));
  });
});
