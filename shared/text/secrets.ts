import { COMMAND_PATTERNS, FOREIGN_LABELS, LABELS, labelledSecret } from './secret-labels.ts';
import { maskCells, PLACE_PATTERNS } from './secret-places.ts';

interface SecretPattern {
  name: 'private key' | 'token' | 'key' | 'password' | 'account number' | 'card number';
  /** A part of the pattern without which it can't match, and which takes far less time to compile. */
  part?: RegExp;
  /** The first group, if any, matches the label before the secret; the label is kept. */
  pattern: RegExp;
  /** Decides whether a match is a secret, if the pattern alone does not prove it. */
  isSecret?: (found: string) => boolean;
}

/** Countries with IBANs, by the length of their IBANs (registry of ISO 13616). */
const IBAN_COUNTRIES: Record<number, string> = {
  15: 'NO',
  16: 'BE',
  18: 'DK|FI|FK|FO|GL|NL|SD',
  19: 'MK|SI',
  20: 'AT|BA|EE|KZ|LT|LU|MN|XK',
  21: 'CH|HR|LI|LV',
  22: 'BG|BH|CR|DE|GB|GE|IE|ME|RS|VA',
  23: 'AE|GI|IL|IQ|OM|SO|TL',
  24: 'AD|CZ|ES|MD|PK|RO|SA|SE|SK|TN|VG',
  25: 'LY|PT|ST',
  26: 'IS|TR',
  27: 'BI|DJ|FR|GR|IT|MC|MR|SM',
  28: 'AL|AZ|BY|CY|DO|GT|HN|HU|LB|NI|PL|SV',
  29: 'BR|EG|PS|QA|UA',
  30: 'JO|KW|MU|YE',
  31: 'MT|SC',
  32: 'LC',
  33: 'RU',
};

/** Matches a country code, two digits, and as many other characters as that country's IBANs have. */
function ibanPattern(): RegExp {
  const ibans = Object.entries(IBAN_COUNTRIES).map(
    ([length, countries]) => `(?:${countries})\\d\\d(?:[ \\u00a0]?[a-z\\d]){${Number(length) - 4}}`,
  );
  return new RegExp(`(?<![\\w-])(?:${ibans.join('|')})(?![\\w-])`, 'gi');
}

/**
 * Secrets that are recognised by their issuer's documented format, by the label before them, or because they look
 * random. A pattern for long runs matches only from the start of a run, so that hostile texts take linear time.
 */
const SECRET_PATTERNS: readonly SecretPattern[] = [
  {
    name: 'private key',
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  // JWS and JWE (RFC 7515, 7516): an object in base64url (`eyJ` is `{"`), and two or four more parts, or only one if
  // the signature is missing.
  {
    name: 'token',
    pattern: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]*\.[\w-]{8,}(?:\.[\w-]+){0,2}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}/g,
  },
  // OpenAI and compatible providers, Anthropic. A CSS class such as `sk-…` has no digit or no capital, and is no key.
  {
    name: 'key',
    pattern:
      /(?<![\w-])sk-(?:(?:proj|svcacct|admin|ant|or|lf)-[\w-]{16,}|[A-Za-z0-9]{20,}|(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{20,})/g,
  },
  // Stripe, GitHub, npm, Hugging Face, Groq, Replicate, DigitalOcean, Docker, Shopify, Vault.
  {
    name: 'key',
    pattern:
      /(?<!\w)(?:[prs]k_(?:live|test)|whsec|gh[opsur]|github_pat|npm|hf|gsk|r8|do[opr]_v1|dckr_pat|shp(?:at|ca|pa|ss)|hvs)_[A-Za-z0-9]{16,}\w*/g,
  },
  // GitLab, PyPI, Slack, xAI, Perplexity, Google.
  {
    name: 'key',
    pattern:
      /(?<![\w-])(?:gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|oas)-[\w-]{16,}|pypi-[\w-]{32,}|xox[a-z](?:\.xox[a-z])?-[\w-]{10,}|xapp-[\w-]{10,}|xai-\w{20,}|pplx-\w{20,}|AIza[\w-]{30,}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})/g,
  },
  // Supabase, E2B, ElevenLabs, LangSmith, Neon, Sentry, Databricks, Mailgun, Firecrawl, Cerebras, New Relic, age,
  // Airtable, HubSpot: what follows is hexadecimal, of one case, or short.
  {
    name: 'key',
    pattern:
      /(?<![\w-])(?:(?:sbp|e2b|sk)_[a-f\d]{40,}|lsv2_(?:pt|sk)_\w{16,}|npg_\w{12,}|sntry[us]_[\w+/=-]{32,}|dapi[a-f\d]{32}(?:-\d)?|(?:key|fc)-[a-f\d]{32}|csk-[a-z\d]{32,}|NRAK-[A-Z\d]{20,}|AGE-SECRET-KEY-1[A-Z\d]{50,}|pat\w{14}\.[a-f\d]{32,}|pat-(?:na|eu|ap)\d-[a-f\d-]{36})(?![\w-])/g,
  },
  { name: 'key', pattern: /(\bhooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/]{10,}/g },
  { name: 'key', pattern: /(?<!\w)(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}(?!\w)/g },
  // SendGrid; Telegram bots.
  { name: 'key', pattern: /(?<![\w-])(?:SG\.[\w-]{16,}\.[\w-]{16,}|\d{8,10}:AA[\w-]{33})/g },
  // Forecue's app keys and service keys.
  { name: 'key', pattern: /(?<![\w-])(?:fc|service)_[\w-]{49}/g },
  { name: 'password', pattern: /(:\/\/[^\s:/@]{0,64}:)[^\s/"'<>]{1,256}(?=@)/g },
  { name: 'token', pattern: /(\bbearer\s{1,8})[\w.~+/-]{20,}=*/gi },
  {
    name: 'token',
    pattern: /(\bauthorization["']?[ \t]{0,4}[:=][ \t"']{0,4}(?:basic|token)[ \t]{1,4})[\w.~+/=-]{6,}/gi,
  },
  ...COMMAND_PATTERNS,
  ...PLACE_PATTERNS,
  { name: 'password', ...labelledSecret(LABELS.password) },
  { name: 'key', ...labelledSecret(LABELS.key) },
  ...FOREIGN_LABELS,
  {
    name: 'password',
    pattern: /(\bpin(?: code| number)?[ \t]{0,4}(?:(?:is|ist):?|:|=)[ \t]{0,4})\d{3,12}(?!\w)/gi,
  },
  { name: 'account number', part: /[a-z]{2}\d\d/i, pattern: ibanPattern(), isSecret: isIban },
  { name: 'card number', pattern: /(?<![\w.-])[2-6](?:[ -]?\d){12,18}(?!-?\w)/g, isSecret: isCardNumber },
  { name: 'token', pattern: /(?<![\w+/=-])[\w+/=-]{24,}/g, isSecret: looksRandom },
];

/** Names of the kinds of masked secrets, as users see them. */
export const MASKED_KINDS: readonly string[] = [...new Set(SECRET_PATTERNS.map(({ name }) => name))];

const markerOf = (name: SecretPattern['name']) => `[masked ${name}]`;

const INVISIBLE_CHARACTERS = /[\u00ad\u200b\u2060\ufeff]/g;
/** Full-width letters, and characters that nobody sees, hide a label. */
const HIDING_CHARACTERS = /[\u00ad\u200b\u2060\ufeff\uff21-\uff5a]/;

/** Masking twice changes nothing more. A password without a label before it is usually not recognised. */
export function maskSecrets(text: string, marker = markerOf): string {
  const masked = maskOnce(text, marker);
  if (!HIDING_CHARACTERS.test(masked)) return masked;
  const plain = masked.replaceAll(INVISIBLE_CHARACTERS, '').normalize('NFKC');
  const again = maskOnce(plain, marker);
  return again === plain ? masked : again;
}

function maskOnce(text: string, marker: typeof markerOf): string {
  return SECRET_PATTERNS.reduce(
    (left, { name, part, pattern, isSecret }) => {
      if (part?.test(left) === false) return left;
      return left.replace(pattern, (found: string, label: string | number) => {
        if (isSecret !== undefined && !isSecret(found)) return found;
        return (typeof label === 'string' ? label : '') + marker(name);
      });
    },
    maskCells(text, marker('password')),
  );
}

const SECRET_NAMES = (['password', 'key'] as const).map((kind) => ({
  kind,
  pattern: new RegExp(`${LABELS[kind]}$`, 'i'),
}));

/** Returns the mask for the value of a property whose name is the label of a secret: `{ "wifi_password": "x" }`. */
export function maskForName(name: string): string | undefined {
  const found = SECRET_NAMES.find(({ pattern }) => pattern.test(name));
  return found && markerOf(found.kind);
}

export function containsSecret(text: string): boolean {
  return maskSecrets(text) !== text;
}

/** Checks the last digit (Luhn, ISO/IEC 7812-1). */
function isCardNumber(number: string): boolean {
  const digits = number.replaceAll(/\D/g, '');
  let sum = 0;
  for (const [place, digit] of [...digits].reverse().entries()) {
    const doubled = Number(digit) * (1 + (place % 2));
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/**
 * Verifies the check digits (ISO 7064, MOD 97-10). Refuses a text of only small letters and digits, without spaces: it
 * is more likely a hash.
 */
function isIban(iban: string): boolean {
  if (/^[a-z\d]+$/.test(iban)) return false;
  const characters = iban.replaceAll(/[^a-z\d]/gi, '');
  let rest = 0;
  for (const character of characters.slice(4) + characters.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value < 10 ? 10 : 100) + value) % 97;
  }
  return rest === 1;
}

/**
 * Minimum number of changes between capitals, small letters and digits, divided by the length. Words, names and paths
 * have at most 0.25.
 */
const RANDOM_CHANGES_MIN = 0.27;

function looksRandom(run: string): boolean {
  if (![/[a-z]/, /[A-Z]/, /\d/].every((one) => one.test(run))) return false;
  // A capital begins a word, so a small letter after it is not counted as a change.
  const changes = run.match(/[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z])/g) ?? [];
  return changes.length >= RANDOM_CHANGES_MIN * run.length && !isTextInBase64(run);
}

/** Text in base64 is not masked, so that the checks for prompt injection can decode and read it. */
function isTextInBase64(run: string): boolean {
  return /^[!-~]+( [!-~]+)+ ?$/.test(Buffer.from(run, 'base64').toString('latin1'));
}
