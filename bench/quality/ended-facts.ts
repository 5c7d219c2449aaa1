import { type KnownFact, reconcile } from '../../shared/domain/facts/reconcile.ts';
import type { Statement } from '../../shared/domain/facts/statement.ts';
import { statementsIn } from '../../workers/memory/extract-facts.ts';

/*
 * Measures, without a model and without a database, whether a later sentence ends the fact of an earlier one: of pairs
 * whose second sentence changes what the first states, how many first ones stay; of pairs that are true together, how
 * many are lost.
 */

type Pair = readonly [earlier: string, later: string];

const parse = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split(' | ') as unknown as Pair);

/** The rules were written with these in sight. */
const TUNING = parse(`
Ich wohne in Bremen. | Ich bin nach Lübeck umgezogen.
Ich heiße Jana. | Ich heiße jetzt Jana Petersen.
Ich arbeite bei Miele. | Ich habe bei Bosch angefangen.
Mein Browser ist Firefox. | Ich bin auf Vivaldi umgestiegen.
Mein Editor ist Vim. | Mein Editor ist jetzt Zed.
Ich benutze npm als Paketmanager. | Ich habe npm durch pnpm ersetzt.
Ich nutze Slack als Chat. | Ich nutze Slack nicht mehr.
J'habite à Nantes. | J'habite maintenant à Brest.
Je m'appelle Marie. | Je m'appelle désormais Marie Leroy.
Je travaille chez Airbus. | Je travaille maintenant chez Thales.
Mon navigateur est Firefox. | Je suis passée de Firefox à Brave.
Mon éditeur est Vim. | Mon éditeur est maintenant Zed.
J'utilise npm comme gestionnaire de paquets. | J'ai abandonné npm pour pnpm.
Vivo en Bilbao. | Ahora vivo en Gijón.
Trabajo para Indra. | Ahora trabajo para Telefónica.
Mi navegador es Firefox. | He cambiado de Firefox a Brave.
Mi editor es Vim. | Mi editor ahora es Zed.
Uso npm como gestor de paquetes. | He sustituido npm por pnpm.
`);

/** Written before the rules, and not looked at while these were written. */
const HELD_OUT = parse(`
Ich lebe in Ulm. | Wir sind nach Passau gezogen.
Ich arbeite bei der Post. | Ich arbeite jetzt bei DHL.
Ich benutze Joplin als Notizprogramm. | Ich bin von Joplin auf Obsidian umgestiegen.
Meine Datenbank ist MySQL. | Meine Datenbank ist seit Mai PostgreSQL.
Wir verwenden Jenkins als CI. | Wir haben Jenkins durch Woodpecker abgelöst.
Unsere Katze heißt Minka. | Unsere neue Katze heißt Pauli.
Meine Shell ist bash. | Ich habe bash gegen fish getauscht.
Je vis à Tours. | J'ai emménagé à Angers.
Je travaille chez Orange. | J'ai quitté Orange pour Free.
J'utilise Evernote comme carnet de notes. | J'ai troqué Evernote contre Joplin.
Nous utilisons Jenkins comme CI. | Nous avons migré de Jenkins vers GitLab.
Mon terminal est iTerm. | Mon terminal est désormais Ghostty.
Mon éditeur est Sublime. | J'ai laissé tomber Sublime pour Helix.
Vivo en Cádiz. | Nos hemos mudado a Murcia.
Trabajo para Iberia. | Dejé Iberia y ahora trabajo para Vueling.
Uso Evernote como libreta. | Cambié Evernote por Joplin.
Usamos Jenkins como CI. | Hemos pasado de Jenkins a GitLab.
Mi terminal es iTerm. | Mi terminal es ahora Ghostty.
Mi color favorito es el azul. | Mi color favorito ya no es el azul.
I live in Cork. | We have relocated to Galway.
My shell is zsh. | I ditched zsh for nushell.
I work at Arup. | I left Arup for Mott.
I use Evernote as my notebook. | I traded Evernote for Joplin.
`);

/** True together. Most share a topic's word. */
const COMPATIBLE = parse(`
Ich wohne in Bremen. | Ich wohne in einer WG.
Ich wohne in Bremen. | Ich wohne gern allein.
Ich arbeite bei Miele. | Ich arbeite bei offenem Fenster.
Ich arbeite bei Miele. | Ich arbeite als Schlosser.
Ich heiße Jana. | Mein Hund heißt Rex.
Mein Editor ist Vim. | Mein Editor ist langsam.
Mein Browser ist Firefox. | Ich teste immer im Browser.
Ich benutze npm als Paketmanager. | Ich benutze Vim als Editor.
Ich trinke keinen Kaffee. | Ich trinke keinen Alkohol.
Ich bin nach Rom gereist. | Ich wohne in Bremen.
Ich wohne in Bremen. | Ich bin nach dem Essen immer müde.
Ich wohne in Bremen. | Ich gehe immer zu Fuß nach Hause.
Meine Tochter heißt Mia. | Meine Tochter wohnt in Köln.
Mein Bruder wohnt in Oslo. | Ich wohne in Bremen.
J'habite à Nantes. | J'habite au troisième étage.
J'habite à Nantes. | J'habite à deux pas de la gare.
J'habite à Nantes. | Mon frère habite à Lille.
Je travaille chez Airbus. | Je travaille chez moi le lundi.
Je travaille chez Airbus. | Je travaille comme soudeur.
Je m'appelle Marie. | Mon chien s'appelle Rex.
Mon éditeur est Vim. | Mon éditeur est lent.
Je préfère le thé. | Je préfère les chats.
Je ne mange pas de viande. | Je ne mange pas de fromage.
Vivo en Bilbao. | Vivo en un piso pequeño.
Vivo en Bilbao. | Vivo en pareja.
Trabajo para Indra. | Trabajo para vivir.
Trabajo para Indra. | Trabajo como soldador.
Me llamo Ana. | Mi perro se llama Rex.
Mi editor es Vim. | Mi editor es lento.
Prefiero el té. | Prefiero los gatos.
No como carne. | No como queso.
Mi hermano vive en Lima. | Vivo en Bilbao.
I live in Cork. | My sister lives in Galway.
I use Vim as my editor. | I use Firefox as my browser.
I moved the files from src to lib. | I live in Cork.
My name is Anna. | My name is spelled with two n.
My name is Anna. | Call me if the build breaks.
I live in Vienna. | I live in a flat with two rooms.
I live in Vienna. | I used to live in Hamburg.
I work at Siemens. | I work for money, not for fame.
I work at Siemens. | I work at night.
I work as a nurse. | My job is stressful.
I use Vim as my editor. | My editor is slow on big files now.
I use Vim as my editor. | I use tabs in my editor.
We use Postgres as our database. | Our database is backed up nightly.
I use Firefox as my browser. | I use Chrome as my test browser.
I use zsh as my shell. | I write shell scripts for work.
I prefer dark mode. | I never use dark mode when I present.
I use npm as my package manager. | I also use pip as package manager for Python.
My brother lives in Oslo. | My brother works at Equinor.
`);

function factsAfter(sentences: readonly string[]): KnownFact[] {
  const known: KnownFact[] = [];
  for (const [day, content] of sentences.entries()) {
    const row = {
      id: `row ${day}`,
      content,
      role: 'human',
      origin: 'human',
      occurredAt: new Date(Date.UTC(2026, 0, day + 1)),
    };
    for (const statement of statementsIn(row)) store(known, statement);
  }
  return known;
}

function store(
  known: KnownFact[],
  { text, slot, origin, validFrom, validTo, quotes, ...more }: Statement,
): void {
  const decision = reconcile({ text, slot, origin, validFrom, validTo, quotes, ...more }, known);
  if (decision.outcome !== 'new') return;
  const id = `fact ${known.length}`;
  for (const { fact, end } of decision.supersedes) Object.assign(fact, { supersededBy: id, validTo: end });
  known.push({ id, text, slot, origin, pinned: false, validFrom, validTo, supersededBy: null, quotes });
}

/** Returns the pairs whose first fact is current at the end (or is not). */
function pairsWith(pairs: readonly Pair[], isCurrent: boolean): Pair[] {
  return pairs.filter(([earlier, later]) => {
    const first = factsAfter([earlier, later]).find(({ text }) => text === earlier);
    return first !== undefined && (first.supersededBy === null) === isCurrent;
  });
}

for (const [name, pairs, found] of [
  ['stale, tuning', TUNING, pairsWith(TUNING, true)],
  ['stale, held out', HELD_OUT, pairsWith(HELD_OUT, true)],
  ['lost of compatible ones', COMPATIBLE, pairsWith(COMPATIBLE, false)],
] as const) {
  console.log(`${name}: ${found.length} of ${pairs.length}`);
  for (const pair of found) console.log(`  ${pair.join(' | ')}`);
}
