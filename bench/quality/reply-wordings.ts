import { meaningOf } from '../../shared/text/meaning.ts';

type Pair = readonly [question: string, one: string, other: string];

/** Replies that say the same to the question, and others. The author of the rules wrote them, after the rules. */
const EQUAL: readonly Pair[] = [
  ['Shall I run the unit tests?', 'yes', 'yes, run them'],
  ['Shall I run the unit tests?', 'yes', 'sure, run the unit tests'],
  ['Shall I run the unit tests?', 'yes', 'run them please'],
  ['Shall I run the unit tests?', 'yes', 'yep, you can run those'],
  ['Should I update the changelog?', 'yes', 'yes please do'],
  ['Should I update the changelog?', 'yes', 'update it'],
  ['Should I update the changelog?', 'yes', 'ok, update the changelog'],
  ['Do you want me to fix the typo in the readme?', 'yes', 'fix it'],
  ['Do you want me to fix the typo in the readme?', 'yes', 'I do'],
  ['May I rename the helper?', 'yes', 'you may'],
  ['May I rename the helper?', 'yes', 'go for it'],
  ['Can I continue with the parser?', 'yes', 'carry on'],
  ['Can I continue with the parser?', 'yes', 'please continue with it'],
  ['Shall I add a test?', 'yes', '👍'],
  ['Shall I add a test?', 'yes', 'a test would be good, yes'],
  ['Shall I add a test?', 'no', 'no need'],
  ['Shall I add a test?', 'no', 'not necessary'],
  ['Shall I commit this?', 'no', 'not now'],
  ['Shall I commit this?', 'no', "no, don't commit it"],
  ['Shall I format the file too?', 'no', 'skip that'],
  ['Soll ich die Tests ausführen?', 'ja', 'ja, führ sie aus'],
  ['Soll ich die Tests ausführen?', 'ja', 'mach das'],
  ['Soll ich die Tests ausführen?', 'ja', 'ja, bitte ausführen'],
  ['Soll ich die Doku anpassen?', 'ja', 'pass sie an'],
  ['Soll ich die Doku anpassen?', 'nein', 'nicht nötig'],
  ['Soll ich weitermachen?', 'ja', 'leg los'],
  ['Soll ich weitermachen?', 'ja', 'ja, mach bitte weiter'],
  ['Soll ich weitermachen?', 'nein', 'jetzt nicht'],
  ['Dois-je lancer les tests ?', 'oui', 'oui, lance-les'],
  ['Dois-je lancer les tests ?', 'oui', 'vas-y'],
  ['Dois-je lancer les tests ?', 'non', 'pas la peine'],
  ['Je mets à jour la doc ?', 'oui', 'fais-le'],
  ['¿Ejecuto las pruebas?', 'sí', 'sí, ejecútalas'],
  ['¿Ejecuto las pruebas?', 'sí', 'adelante'],
  ['¿Ejecuto las pruebas?', 'no', 'ahora no'],
  ['¿Añado una prueba?', 'sí', 'sí, añádela por favor'],
  ['Which of the two do you prefer?', 'option 2', 'the second'],
  ['Which of the two do you prefer?', 'option 2', 'I would take the second one'],
  ['Which option shall I use, A or B?', 'B', 'go with B'],
  ['Which package manager shall I use?', 'pnpm', 'use pnpm please'],
];

const UNEQUAL: readonly Pair[] = [
  ['Shall I run the unit tests?', 'yes', 'yes, but only the unit ones'],
  ['Shall I run the unit tests?', 'yes', 'yes, when the build is green'],
  ['Shall I run the unit tests?', 'yes', 'run them twice'],
  ['Shall I run the unit tests?', 'yes', 'yes, and the linter'],
  ['Shall I run the unit tests?', 'yes', 'run the integration tests'],
  ['Shall I run the unit tests?', 'yes', "no, don't run them"],
  ['Shall I run the unit tests?', 'yes', 'yes, unless it takes long'],
  ['Shall I run the unit and the browser tests?', 'yes', 'yes, run the unit tests'],
  ['Shall I fix it and push it?', 'yes', 'yes, fix it'],
  ['Shall I not run the tests?', 'yes', 'run the tests'],
  ['Which tests shall I run?', 'yes', 'run the tests'],
  ['Tabs or spaces?', 'tabs', 'spaces'],
  ['Which of the two do you prefer?', 'the first', 'the second'],
  ['Which option shall I use, A or B?', 'A', 'go with B'],
  ['Should I update the changelog?', 'yes', 'ask me later'],
  ['Should I update the changelog?', 'yes', 'did you update it?'],
  ['Soll ich die Tests ausführen?', 'ja', 'ja, aber nur die schnellen'],
  ['Soll ich die Tests ausführen?', 'ja', 'nein, nicht ausführen'],
  ['Soll ich die Doku anpassen?', 'ja', 'erst die Tests'],
  ['Dois-je lancer les tests ?', 'oui', 'oui, mais pas tous'],
  ['Dois-je lancer les tests ?', 'oui', 'lance le serveur'],
  ['¿Ejecuto las pruebas?', 'sí', 'sí, si compila'],
  ['¿Ejecuto las pruebas?', 'sí', 'ejecuta solo una'],
  ['How many retries?', '2', '3'],
];

const isJoined = ([question, one, other]: Pair) => meaningOf(one, question) === meaningOf(other, question);

for (const [name, pairs] of [
  ['equal', EQUAL],
  ['unequal', UNEQUAL],
] as const) {
  const found = pairs.filter(isJoined);
  console.log(`${name}: ${found.length} of ${pairs.length} pairs joined`);
  const wrong = pairs.filter((pair) => isJoined(pair) !== (name === 'equal'));
  for (const pair of wrong) console.log(`- ${pair.join(' | ')}`);
}
