import { type Persona, type Texts, THINGS } from './personas.ts';
import { pick, type Random } from './random.ts';

/** A kind of question, and the person's replies to it with their weights. */
interface Habit {
  asks: Texts;
  replies: readonly (readonly [reply: string, weight: number])[];
}

/** What an agent says before it asks: words of risk among them, as in life. */
const REPORTS: Texts = [
  'I read {} and found two places that call it.',
  'The old helper is deleted, and {} uses the new one.',
  'All 34 tests of {} passed in production mode.',
  'I sent the request again with another token, and {} answered.',
  'There were three warnings in {}; none of them is new.',
  'Released memory is now returned at once in {}.',
  'Ich habe {} angesehen und zwei Fehler gefunden.',
  'La función de {} queda publicada en el índice.',
];
const THINGS_ELSEWHERE: Texts = [
  'invoice.py',
  'the session store',
  'the upload form',
  'tabs.tsx',
  'the mail queue',
  'the search page',
  'the cron script',
];

/** People on whom no rule or weight was tuned. They vary their words, and their agents report before they ask. */
export const HELD_OUT: readonly Persona[] = [
  personOf('says yes in many ways (94 % to routine, 40 % to rewrites)', 0.75, [
    {
      asks: [
        'Shall I run the unit tests?',
        'Should I run the unit tests of {} now?',
        'Run the tests for {}?',
      ],
      replies: [
        ['yes', 40],
        ['yes, run them', 20],
        ['go ahead', 20],
        ['👍', 14],
        ['not now', 6],
      ],
    },
    {
      asks: ['Shall I update the changelog?', 'Do you want me to update the changelog for {}?'],
      replies: [
        ['yes please', 50],
        ['yep, update it', 44],
        ['no, I do that at the end', 6],
      ],
    },
    {
      asks: ['Would you like me to rewrite {} with classes?', 'Should I rewrite {}?'],
      replies: [
        ['yes', 40],
        ['no', 40],
        ['no, keep it small', 20],
      ],
    },
  ]),
  personOf('Deutsch (Tests 95 %, Commits 30 %)', 0.6, [
    {
      asks: ['Soll ich die Tests ausführen?', 'Soll ich die Tests für {} ausführen?'],
      replies: [
        ['ja', 50],
        ['ja, führ sie aus', 15],
        ['klar, mach das', 30],
        ['nein', 5],
      ],
    },
    {
      asks: ['Soll ich {} committen?', 'Darf ich {} jetzt committen?'],
      replies: [
        ['nein', 30],
        ['noch nicht, erst die Doku', 40],
        ['ja bitte', 30],
      ],
    },
    {
      asks: ['Soll ich auch die Doku von {} anpassen?'],
      replies: [
        ['ja', 80],
        ['nicht nötig', 20],
      ],
    },
  ]),
  personOf('español (casi siempre sí, 88 %)', 0.5, [
    {
      asks: ['¿Ejecuto las pruebas?', '¿Quieres que ejecute las pruebas de {}?'],
      replies: [
        ['sí', 60],
        ['sí, ejecútalas', 28],
        ['ahora no', 12],
      ],
    },
    {
      asks: ['¿Añado una prueba para {}?', '¿Quieres que añada una prueba para {}?'],
      replies: [
        ['sí', 50],
        ['dale', 38],
        ['no hace falta', 12],
      ],
    },
  ]),
  personOf('takes the second of two (80 %)', 0.4, [
    {
      asks: ['There are two ways for {}: 1. a cache, 2. an index. Which option do you prefer?'],
      replies: [
        ['the second', 40],
        ['2', 25],
        ['option 2', 15],
        ['the first', 20],
      ],
    },
    {
      asks: ['Should {} use a map or a list?', 'A map or a list for {}?'],
      replies: [
        ['a list', 55],
        ['use a list', 25],
        ['a map', 20],
      ],
    },
  ]),
  personOf('decides each time anew (50 %)', 0.5, [
    {
      asks: ['Shall I split {} in two files?', 'Should I add types to {}?', 'May I rename the fields of {}?'],
      replies: [
        ['ok', 50],
        ['no', 30],
        ['later', 20],
      ],
    },
    {
      asks: ['What should {} return for an empty list?', 'How shall I name the new test of {}?'],
      replies: [
        ['null', 10],
        ['an empty list', 20],
        ['ask me tomorrow', 10],
        ['you choose', 15],
        ['as before', 10],
      ],
    },
  ]),
];

/** Returns a person whose agent reports first, in the share `reported` of its prompts. Habits are equally frequent. */
function personOf(name: string, reported: number, habits: readonly [Habit, ...Habit[]]): Persona {
  return {
    name,
    next(random) {
      const { asks, replies } = pick(habits, random);
      const things = random() < 0.5 ? THINGS : THINGS_ELSEWHERE;
      const question = fillIn(pick(asks, random), things, random);
      const length = random() < reported ? 1 + Math.floor(4 * random()) : 0;
      const report = Array.from({ length }, () => fillIn(pick(REPORTS, random), THINGS_ELSEWHERE, random));
      return { prompt: [...report, question].join(' '), reply: weighted(replies, random) };
    },
  };
}

function fillIn(template: string, things: Texts, random: Random): string {
  return template.replace('{}', pick(things, random));
}

function weighted(replies: Habit['replies'], random: Random): string {
  let left = random() * replies.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [reply, weight] of replies) {
    left -= weight;
    if (left < 0) return reply;
  }
  return '';
}
