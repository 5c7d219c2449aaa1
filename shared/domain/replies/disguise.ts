import { normalForm } from '../normal-form.ts';

/** Letters of other alphabets that look like Latin ones (Unicode Technical Standard 39, confusables; the common ones). */
const LOOKALIKES = new Map(
  [...'аaеeоoрpсcуyхxіiјjѕsԁdһhԛqԝwпnтtкkмmгrвbοoαaεeιiκkνvρpτtυuχxωwηnβb'].flatMap((letter, at, all) =>
    at % 2 === 0 ? [[letter, all[at + 1] ?? ''] as const] : [],
  ),
);
const DIGITS = new Map(
  [...'0o1i3e4a5s7t@a$s!i'].flatMap((sign, at, all) =>
    at % 2 === 0 ? [[sign, all[at + 1] ?? ''] as const] : [],
  ),
);
/** Beyond it a text is not also read backwards or rotated: an instruction that is hidden so is short. */
const SHORT = 4000;
const ENCODED = /[A-Za-z0-9+/_-]{16,}={0,2}/g;
const HEX = /(?:[0-9a-f]{2}[\s:]?){8,}/gi;

/**
 * The ways in which a text may be read, lower case and without marks: as it is, and with what hides words from a pattern
 * undone, such as invisible characters, look-alike letters, digits for letters, spaced letters, and the usual encodings.
 */
export function readingsOf(text: string): string[] {
  const plain = plainOf(text);
  const decoded = decodedIn(text).map(plainOf);
  const latin = [...plain].map((letter) => LOOKALIKES.get(letter) ?? letter).join('');
  const hidden = plain.length <= SHORT ? [rotated(plain), [...plain].reverse().join('')] : [];
  return [...new Set([plain, latin, withoutDigits(latin), joined(plain), ...hidden, ...decoded])];
}

function plainOf(text: string): string {
  return (
    normalForm(entities(text), 'NFKD')
      .replaceAll(/\p{M}|\p{Default_Ignorable_Code_Point}|[^\P{Cc}\n]/gu, (sign) =>
        sign === '\t' ? ' ' : '',
      )
      .normalize('NFC')
      .toLowerCase()
      // The time of the patterns is quadratic in long runs.
      .replaceAll(/\s{3,}/g, (run) => (run.includes('\n') ? '\n' : ' '))
  );
}

function withoutDigits(text: string): string {
  return text.replaceAll(/[0-9@$!]/g, (sign) => DIGITS.get(sign) ?? sign);
}

/** "r e p l y  w i t h" and "r.e.p.l.y" as words. */
function joined(text: string): string {
  return text.replaceAll(/(?<![\p{L}\p{N}])(?:\p{L}[ .*_|-]){3,}\p{L}(?![\p{L}\p{N}])/gu, (run) =>
    run.replaceAll(/[ .*_|-]/g, ''),
  );
}

/** ROT13. */
function rotated(text: string): string {
  return text.replaceAll(/[a-z]/g, (letter) =>
    String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97),
  );
}

function entities(text: string): string {
  return text
    .replaceAll(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (sign, hex: string, decimal: string) =>
      character(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16), sign),
    )
    .replaceAll(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function character(code: number, otherwise: string): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : otherwise;
}

/** What runs of base64 or hexadecimal digits in a text say, where they say something. */
function decodedIn(text: string): string[] {
  const base64 = (text.match(ENCODED) ?? []).map((run) => Buffer.from(run, 'base64').toString('utf8'));
  const hex = (text.match(HEX) ?? []).map((run) =>
    Buffer.from(run.replaceAll(/[\s:]/g, ''), 'hex').toString('utf8'),
  );
  return [...base64, ...hex].filter(
    (one) => /^[\p{L}\p{N}\p{P}\p{S}\s]{8,}$/u.test(one) && !one.includes('\ufffd'),
  );
}
