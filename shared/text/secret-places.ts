import { ANY_PASSWORD, LABELS, NON_SECRET_WORDS } from './secret-labels.ts';

/*
 * Secrets whose label is not beside them but in another cell, element or property, and those that have a form of their
 * own: codes for one use, phrases of words, cookies.
 */

const NAME = `[\\w.-]{0,60}?(?:${LABELS.password}|${LABELS.key})`;
const SPACES = '[ \\t]{0,4}';
const QUOTED = `(?:"[^"\\n]+"|'[^'\\n]+')`;
const UNFILLED = '(?!\\[masked |\\$[{(]|[<{])';

const CODE_LABELS =
  '(?:otp|(?:one[- ]time|verification|security|sms|2fa|mfa|authentication|confirmation|login|alarm|door|gate|access|unlock|backup|recovery)[ -](?:codes?|pin|number)|' +
  "(?:card|sim|bank|my)[ -]pin|geheimzahl|(?:bestätigungs|sicherheits|alarm|tür|zugangs|einmal)code|code (?:pin|de vérification|de sécurité|d[’']accès|de la porte)|" +
  'código (?:pin|de verificación|de seguridad|de acceso)|cvv2?|cvc)';

const PHRASE_LABELS =
  '(?:(?:seed|recovery|backup|secret|mnemonic)[ -]?(?:phrase|words)|mnemonic|pass[ -]?phrase|wiederherstellungsphrase|phrase de récupération|frase (?:semilla|de recuperación))';

/** English words that no list of phrases for wallets has, and few sentences of twelve words lack. */
const CONNECTIVES = /\b(?:the|and|for|was|are|not|but|has|from|with|were|had|which|its|our)\b/;
const PHRASE_LENGTHS = [12, 15, 18, 21, 24];

export const PLACE_PATTERNS = [
  // Properties that name the label and the value: `name: DB_PASSWORD`, `"key": "password"`, `key="Password"`.
  {
    name: 'password',
    pattern: new RegExp(
      `((?:name|key)["']?${SPACES}[:=]${SPACES}["']?${NAME}["']?(?:,|\\s)\\s{0,20}["']?value["']?${SPACES}[:=]${SPACES})${UNFILLED}(?:${QUOTED}|[^\\s"'$]\\S*)`,
      'gi',
    ),
  },
  {
    name: 'password',
    pattern: new RegExp(
      `(<(?:${NAME}|[a-z]{1,20} (?:name|key)=["']${NAME}["'])>)${UNFILLED}[^<>\\n]{3,}(?=</)`,
      'gi',
    ),
  },
  {
    name: 'token',
    pattern: /(\b(?:set-)?cookie["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)(?=[\w.-]{1,64}=)[^\n"']+/gi,
  },
  {
    name: 'token',
    pattern:
      /((?<!\w)(?:\w{0,20}sess(?:ion)?id|connect\.sid|asp\.net_sessionid)=)(?!\[masked )[^\s;"'$<{]{6,}/gi,
  },
  {
    name: 'token',
    pattern: new RegExp(
      `(\\b(?:proxy-)?authorization["']?${SPACES}[:=][ \\t"']{0,4}(?:[a-z]{2,16}[ \\t]{1,4})?)(?!\\[masked |${NON_SECRET_WORDS})[\\w.~+/=-]{8,}(?=["']?${SPACES}(?:[\\r\\n]|$))`,
      'gi',
    ),
  },
  // A name before the host of an address, long enough to be a key.
  { name: 'key', pattern: /(\bhttps?:\/\/)[^\s:/@"'<>$]{8,256}(?=@)/gi },
  {
    name: 'password',
    pattern: new RegExp(
      `(\\b(?:(?:with|encrypted|set) password|identified (?:with \\S{1,64} )?(?:by|as)(?: password)?)${SPACES}=?${SPACES})${QUOTED}`,
      'gi',
    ),
  },
  {
    name: 'password',
    pattern: new RegExp(
      `(${LABELS.password}\\??:[ \\t]?\\w{1,20}(?:[ \\t]\\|[ \\t]\\w{1,20})?${SPACES}=${SPACES})${QUOTED}`,
      'gi',
    ),
  },
  {
    name: 'password',
    pattern: new RegExp(
      `((?<!\\p{L})${CODE_LABELS}(?:[ \\t](?:is|ist|lautet|est|es|è))?[ \\t:=#]{1,4})\\d[\\d ,-]{1,120}\\d`,
      'giu',
    ),
  },
  {
    name: 'key',
    pattern:
      /(?<![\w-])(?=[A-Z -]{0,80}[2-7])(?:[A-Z2-7]{16,64}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15})(?![\w-])/g,
  },
  {
    name: 'key',
    pattern: new RegExp(
      `((?<!\\p{L})${PHRASE_LABELS}${SPACES}[:=]${SPACES})[a-z]{3,10}(?:[ ,]{1,2}[a-z]{3,10}){3,23}(?![ ,]{0,2}[\\p{L}\\p{N}])`,
      'giu',
    ),
  },
  {
    name: 'key',
    pattern: new RegExp(
      `((?<!\\p{L})${PHRASE_LABELS} (?:is|ist|est|es) )[a-z]{3,8}(?: [a-z]{3,8}){11,23}(?![ ]?\\p{L})`,
      'giu',
    ),
  },
  {
    name: 'key',
    pattern: /(?<![\p{L}\p{N}'’-][ ,]{0,2})[a-z]{3,8}(?: [a-z]{3,8}){11,23}(?![ '’-]?[\p{L}\p{N}])/gu,
    isSecret: (words: string) => PHRASE_LENGTHS.includes(words.split(' ').length) && !CONNECTIVES.test(words),
  },
] as const;

const LABEL = new RegExp(`${ANY_PASSWORD}|${LABELS.key}`, 'iu');
const LABEL_CELL = new RegExp(
  `^[\\s*_\`"']*[\\w.-]{0,20}?(?:${ANY_PASSWORD}|${LABELS.key})[\\s*_\`"':]*$`,
  'iu',
);
const RULE = /^[\s|:+-]*-{2}[\s|:+-]*$/;
const BARE_WORDS = /^["']?[\w.-]+["']?(?:[,\t;]["']?[\w.-]+["']?)+\r?$/;

/** Masks the cells of tables below the label of a secret, and beside it in a table of two columns. */
export function maskCells(text: string, mask: string): string {
  if (!LABEL.test(text)) return text;
  const lines = text.split('\n');
  let table: { delimiter: string; cells: number; columns: number[] } | undefined;
  return lines
    .map((line, at) => {
      const delimiter = ['|', '\t', ';', ','].find((one) => line.includes(one)) ?? '';
      const cells = delimiter === '' ? [] : line.split(delimiter);
      if (table?.delimiter !== delimiter || table.cells !== cells.length) table = undefined;
      if (RULE.test(line)) return line;
      const labels = [...cells.keys()].filter((column) => LABEL_CELL.test(cells[column] ?? ''));
      const isHeader = delimiter === '|' ? RULE.test(lines[at + 1] ?? '') : BARE_WORDS.test(line);
      if (labels.length > 0 && isHeader) {
        table = { delimiter, cells: cells.length, columns: labels };
        return line;
      }
      const [first, label = '', , last] = cells;
      const isPair =
        cells.length === 4 && first?.trim() === '' && last?.trim() === '' && LABEL_CELL.test(label);
      const columns = isPair ? [2] : (table?.columns ?? []);
      return cells.length === 0 ? line : cells.map(maskAt(columns, mask)).join(delimiter);
    })
    .join('\n');
}

function maskAt(columns: readonly number[], mask: string): (cell: string, column: number) => string {
  return (cell, column) => {
    const value = cell.trim();
    const isOpen = columns.includes(column) && value.length >= 3 && !value.includes('[masked ');
    return isOpen ? cell.replace(value, () => mask) : cell;
  };
}
