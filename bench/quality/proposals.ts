/** A person's text, the words of it that a model quotes, and the statement that the model makes of it. */
export interface Proposal {
  said: string;
  quote: string;
  text: string;
}

const proposalOf = ([said, text, quote = said]: readonly [
  said: string,
  text: string,
  quote?: string,
]): Proposal => ({
  said,
  quote,
  text,
});

/** Paraphrases of what a person states. Written before the rule that a statement shares a word with its quote. */
export const RIGHT: readonly Proposal[] = (
  [
    ['I live in Lisbon with my two kids', 'Lives in Lisbon'],
    ['As I live in Rome, which time zone should I set?', 'Lives in Rome', 'As I live in Rome'],
    ['I write everything in Go these days', 'Writes code in Go'],
    ['We deploy on Tuesdays only', 'Deploys on Tuesdays only'],
    ['please never push to main without asking me', 'Wants to be asked before a push to main'],
    ['I run five kilometres before work', 'Goes running before work: 5 kilometres'],
    ['I always use pnpm, right?', 'Uses pnpm'],
    ['My manager is Priya Nair', 'Reports to Priya Nair'],
    ['yes, coverage every time', 'Wants coverage each time'],
    ['Postgres. I know it best', 'Knows Postgres best'],
    ['Ich wohne seit 2019 in Bremen', 'Wohnt in Bremen'],
    ['Ich esse kein Fleisch', 'Isst kein Fleisch'],
    ['Wir deployen nur dienstags', 'Deployt nur dienstags'],
    ['Commits schreibe ich immer auf Englisch', 'Schreibt Commits auf Englisch'],
    ['Ich arbeite als Lehrerin', 'Ist Lehrerin von Beruf'],
    ['Meine Tochter heißt Mira', 'Hat eine Tochter namens Mira'],
    ['Vim, schon immer', 'Benutzt Vim'],
    ['Kurze Antworten sind mir lieber', 'Mag kurze Antworten'],
    ['Ich nutze Vim, ist das ein Problem?', 'Benutzt Vim'],
    ['Unser Backend läuft auf Elixir', 'Backend in Elixir'],
    ['J’habite à Lyon depuis dix ans', 'Habite à Lyon'],
    ['Je ne mange pas de viande', 'Ne mange pas de viande'],
    ['On déploie uniquement le mardi', 'Déploie le mardi'],
    ['Ma fille s’appelle Mira', 'A une fille : Mira'],
    ['Je préfère les réponses courtes', 'Préfère des réponses courtes'],
    ['Je travaille comme infirmière', 'Est infirmière'],
    ['Vim, depuis toujours', 'Utilise Vim'],
    ['J’utilise pnpm, c’est possible ici ?', 'Utilise pnpm'],
    ['Je n’utilise plus npm', 'N’utilise plus npm'],
    ['Notre backend est écrit en Elixir', 'Backend en Elixir'],
    ['Vivo en Sevilla desde hace años', 'Vive en Sevilla'],
    ['No como carne', 'No come carne'],
    ['Desplegamos solo los martes', 'Despliega los martes'],
    ['Mi hija se llama Mira', 'Tiene una hija llamada Mira'],
    ['Prefiero respuestas cortas', 'Prefiere respuestas cortas'],
    ['Trabajo como enfermera', 'Es enfermera'],
    ['Vim, desde siempre', 'Usa Vim'],
    ['Como vivo en Roma, ¿qué hora pongo?', 'Vive en Roma', 'Como vivo en Roma'],
    ['Ya no uso npm', 'No usa npm'],
    ['Nuestro backend está escrito en Elixir', 'Backend en Elixir'],
  ] as const
).map(proposalOf);

export const WRONG: readonly Proposal[] = (
  [
    ['yes', 'Agrees to all deployments'],
    ['ok, go ahead', 'Approves every change'],
    ['Fix the header please', 'Is a web designer'],
    ['Is Vim any good?', 'Uses Vim', 'Vim any good'],
    ['Should I use Emacs?', 'Uses Emacs', 'I use Emacs'],
    ['Thanks, that was quick', 'Is impatient'],
    ['the train is late again', 'Commutes by rail'],
    ['ja', 'Will immer alle Tests laufen lassen'],
    ['Ist Rust schwer?', 'Lernt Rust', 'Rust schwer'],
    ['Mach den Knopf blau', 'Mag keine Farben'],
    ['oui', 'Accepte toutes les livraisons'],
    ['Est-ce que Deno vaut le coup ?', 'Utilise Deno', 'Deno vaut le coup'],
    ['Corrige la page', 'Est développeur web'],
    ['sí', 'Acepta todo'],
    ['¿Merece la pena Svelte?', 'Usa Svelte', 'Merece la pena Svelte'],
    ['Arregla el botón', 'Es diseñadora'],
  ] as const
).map(proposalOf);
