/**
 * Credentials that people paste into conversations, by the shapes that their issuers document. A shape starts where a
 * run of its characters starts, so that a hostile text takes linear time.
 */
const SHAPES: readonly { name: string; shape: RegExp }[] = [
  {
    name: 'private key',
    shape:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  // RFC 7519: two objects in base64url, whose first characters are `{"`, and a signature.
  { name: 'token', shape: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g },
  // OpenAI and compatible providers, Anthropic. A CSS class is no key: it has no digit, or no capital.
  { name: 'key', shape: /(?<![\w-])sk-(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{20,}/g },
  { name: 'key', shape: /(?<!\w)[sr]k_(?:live|test)_\w{16,}/g },
  { name: 'key', shape: /(?<!\w)(?:gh[opsur]_\w{36,}|github_pat_\w{22,}|npm_\w{36,}|hf_\w{30,})/g },
  { name: 'key', shape: /(?<![\w-])(?:glpat-[\w-]{20,}|xox[abeoprs]-[\w-]{10,}|AIza[\w-]{35})/g },
  { name: 'key', shape: /(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)/g },
  // Ours: an app key and a service key.
  { name: 'key', shape: /(?<![\w-])(?:fc|service)_[\w-]{49}/g },
];

const URL_PASSWORD = /(:\/\/[^\s:/@]{0,64}:)[^\s/@]{1,256}(?=@)/g;
/** The value ends with its quotes, or else at the next space. */
const NAMED_PASSWORD =
  /((?:passw(?:or[dt]|d)|passphrase)(?<!\[masked password(?=\]))[^\w\s:=]{0,4}[ \t]{0,4}[:=]{1,3}[ \t*`]{0,8})(?:"[^"\n]+"|'[^'\n]+'|(?!\[masked )[^\s:=*`](?:\[masked [a-z ]{1,20}\]|\S)*)/gi;
const BEARER = /\b(bearer\s{1,8})[\w.~+/-]{20,}=*/gi;

/**
 * The text without the credentials in it: a marker stands for each. Finds known shapes only; a password that no label
 * announces stays. Masking a masked text changes nothing.
 */
export function masked(text: string): string {
  let result = text;
  for (const { name, shape } of SHAPES) result = result.replace(shape, marker(name));
  return result
    .replace(URL_PASSWORD, `$1${marker('password')}`)
    .replace(BEARER, `$1${marker('token')}`)
    .replace(NAMED_PASSWORD, `$1${marker('password')}`);
}

function marker(name: string): string {
  return `[masked ${name}]`;
}
