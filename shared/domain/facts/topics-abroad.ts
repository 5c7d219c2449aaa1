/*
 * Topics in German, French and Spanish, with a pattern for the sentences that state the value of each. A value has a
 * capital letter: `Ich arbeite bei offenem Fenster` names no employer.
 */

const SINCE = String.raw`(?:jetzt |nun |inzwischen |seit \S+ )?`;
const NOW = '(?:maintenant |désormais )?';

export const TOPICS_ABROAD: readonly (readonly [slot: string, kind: string, about: RegExp])[] = [
  [
    'identity.name',
    'identity',
    /(?<!\p{L})(?:[Ii]ch hei(?:ß|ss)e|[Mm]ein Name ist|[Nn]enn(?:t|e|en Sie)? mich|[Jj]e m['’]appelle|[Mm]on nom est|[Aa]ppelle(?:z)?[- ]moi|[Mm]e llamo|[Mm]i nombre es|[Ll]l[áa]mame) (?:jetzt |nun |maintenant |désormais |ahora )?\p{Lu}/u,
  ],
  [
    'identity.city',
    'identity',
    new RegExp(
      [
        String.raw`(?<!\p{L})[Ii]ch (?:wohne|lebe) ${SINCE}in \p{Lu}`,
        String.raw`(?<!\p{L})(?:[Ii]ch bin|[Ww]ir sind) (?:[\p{L}\d]+ ){0,3}nach \p{Lu}\S*(?: \S+){0,2} (?:um)?gezogen`,
        String.raw`(?<!\p{L})(?:[Jj]['’]habite|[Jj]e vis) ${NOW}à \p{Lu}`,
        String.raw`(?<!\p{L})(?:[Jj]['’]ai|[Nn]ous avons|[Oo]n a) (?:déménagé|emménagé) à \p{Lu}|(?<!\p{L})[Jj]e me suis installée? à \p{Lu}`,
        String.raw`(?<!\p{L})[Vv]ivo (?:ahora )?en \p{Lu}`,
        String.raw`(?<!\p{L})(?:[Mm]e (?:mudé|he mudado)|[Nn]os (?:mudamos|hemos mudado)) a \p{Lu}`,
      ].join('|'),
      'u',
    ),
  ],
  [
    'identity.role',
    'identity',
    /(?<!\p{L})(?:ich arbeite als|je travaille (?:comme|en tant que)|trabajo como)(?!\p{L})/iu,
  ],
  [
    'identity.employer',
    'identity',
    new RegExp(
      [
        String.raw`(?<!\p{L})[Ii]ch arbeite ${SINCE}(?:bei|für) (?:der |dem |den )?(?!Nacht|Tag|Licht|Regen|Musik)\p{Lu}`,
        String.raw`(?<!\p{L})[Ii]ch habe bei \p{Lu}\S*(?: \p{Lu}\S*)? angefangen|\b[Bb]in ich (?:jetzt )?bei (?:der |dem )?\p{Lu}\S*(?: \p{Lu}\S*)? (?:angestellt|beschäftigt)`,
        String.raw`(?<!\p{L})[Jj]e travaille ${NOW}(?:chez|pour) \p{Lu}`,
        String.raw`(?<!\p{L})[Tt]rabajo (?:ahora )?para \p{Lu}`,
      ].join('|'),
      'u',
    ),
  ],
];

/** What a person changed to, where its name alone tells the topic: `Ich bin auf Zed umgestiegen`. */
export const changedToAbroad = (names: string): string =>
  [
    String.raw`(?:auf|zu) (?:${names})(?: \S+)? (?:umgestiegen|gewechselt|migriert)\b`,
    String.raw`\b(?:ich|wir) (?:[\p{L}]+ ){1,4}jetzt (?:in|mit) (?:${names})\b`,
    String.raw`\b(?:passée?s?|migré|basculé)(?: (?:de |d['’])\S+)? (?:à|vers|sur) (?:${names})\b`,
    String.raw`\b(?:durch|gegen|par|pour|contre|por) (?:${names})\b`,
    String.raw`\b(?:cambiado|pasado|migrado)(?: de \S+)? a (?:${names})\b|\bahora \p{L}+ (?:con|en) (?:${names})\b`,
  ].join('|');
