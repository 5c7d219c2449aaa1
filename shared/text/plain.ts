import { normalForm } from './words.ts';

/**
 * Lower-cases a text, replaces compatibility forms, removes diacritics and invisible characters, and decodes HTML, URL
 * and JSON escapes.
 */
export function plainOf(text: string): string {
  return (
    normalForm(decodeEntities(text), 'NFKD')
      .replaceAll(/\p{M}|\p{Default_Ignorable_Code_Point}|[^\P{Cc}\n]/gu, (sign) =>
        sign === '\t' ? ' ' : '',
      )
      .normalize('NFC')
      .toLowerCase()
      // Patterns may take quadratic time in long runs of white space.
      .replaceAll(/\s{3,}/g, (run) => (run.includes('\n') ? '\n' : ' '))
  );
}

/**
 * Letters, each followed by the Latin letter that it looks like (Unicode Technical Standard 39). Letters with a stroke
 * are listed because normalization keeps the stroke.
 */
const LOOKALIKES = new Map(
  [
    ...'аaеeоoрpсcуyхxіiјjѕsԁdһhԛqԝwпnтtкkмmгrвbьbӏlѵv',
    ...'οoαaεeιiκkνvρpτtυuχxωwηnβbօoսuոnցgհhıiɡgɑaɩiłløođd',
  ].flatMap((letter, at, all) => (at % 2 === 0 ? [[letter, all[at + 1] ?? ''] as const] : [])),
);

/** Replaces look-alike letters in each word that then has only Latin letters. Leaves other words unchanged. */
export function toLatin(plain: string): string {
  return plain.replaceAll(/\p{L}+/gu, (word) => {
    const latin = [...word].map((letter) => LOOKALIKES.get(letter) ?? letter).join('');
    return /[^\p{Script=Latin}]/u.test(latin) ? word : latin;
  });
}

function decodeEntities(text: string): string {
  return text
    .replaceAll(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (sign, hex: string, decimal: string) =>
      characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16), sign),
    )
    .replaceAll(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function characterOf(code: number, otherwise: string): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : otherwise;
}
