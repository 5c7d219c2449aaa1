/*
 * Words by which people, programs and files name a secret: in English and German, the other languages of the product's
 * users, and the twenty most spoken ones.
 */

/** Labels of secrets, for patterns. */
export const LABELS = {
  password:
    '(?:passw(?:or[dt]|d)|passphrase|pass ?code|mot de passe|contraseña|(?<![a-z])(?:pwd|pw)(?![^\\w\\n/~$]{0,6}(?:is )?[/~$])|' +
    '(?:db|user|mysql|redis|smtp|mail|ftp|ssh|admin|root|wi-?fi)[ _-]?pass|(?<![a-z])(?:wpa[ _-]?)?psk(?=["\']?[ ]?[:=])|' +
    '(?:wlan|wi-?fi|netzwerk)[- ]?schlüssel|clé (?:du )?(?:wi-?fi|wpa))',
  key:
    '(?:secret(?:[ _-]?key)?(?:_base)?|(?:api|access|account|auth|client|encryption|master|private|session|signing|refresh)[ _-]?(?:key|token|secret)|' +
    '(?:bot|deploy|github|gitlab|npm|slack)[ _-]?token)',
} as const;

/** Latin labels of passwords in other languages. `parola` is also any word in Italian, so its value needs a digit. */
const LATIN_PASSWORD =
  '(?:kennwort|zugangscode|wachtwoord|l[öo]senord|adgangskode|kodeord|passord|salasana|lykilorð|has[łl]o|heslo|senha|' +
  "palavra[- ]passe|contrasen(?:y)?a|mdp|jelsz(?:[óo]|av?a)|parola(?: d['’]ordine|(?=.{1,4}?(?<=[\\s:=])\\S{0,63}\\d))|parolă|[şs]ifre(?:m|n|si|niz)?|kata (?:sandi|laluan)|" +
  'm[ậa]t kh[ẩa]u|nenosiri|lozinka|zaporka|kalmar sirri)';

const LATIN_KEY =
  "(?:api[ -]?schlüssel|api[ -]?sleutel|api[ -]?nyckel|clé(?: d['’])?[ -]?api|clave (?:de (?:la )?)?api|chave (?:de |da )?api|chiave api|" +
  'klucz api|api anahtarı|khóa api|kunci api)';

/** Labels of other scripts, as beginnings of words: an ending of a case may follow. */
const OTHER_PASSWORD =
  '(?:парол[аьяюеи]м?|лозинка|κωδικ[όο]ς(?: πρόσβασης)?|συνθηματικό|密[码碼]|口令|パスワード|暗証番号|비밀번호|패스워드|비번|암호|' +
  'كلمة (?:ال)?(?:سر|مرور)|الرقم السري|گذرواژه|رمز عبور|پسورد|پاس ?ورڈ|סיסמ[אהת]|पासवर्ड|পাসওয়ার্ড|পাসওয়ার্ড|' +
  'கடவுச்சொல்|పాస్‌?వర్డ్|પાસવર્ડ|ਪਾਸਵਰਡ|รหัสผ่าน|პაროლი|գաղտնաբառ)';

const OTHER_KEY =
  '(?:api[ -]?ключ|ключ api|密[钥鑰匙]|api[ -]?(?:密[钥鑰]|キー|키)|シークレットキー|비밀 ?키|مفتاح api|מפתח api|κλειδί api)';

/** Words that may follow a label without being a secret: "the password is long", `secret: string`. */
export const NON_SECRET_WORDS =
  '(?:a|an|any|as|at|being|ein|eine|een|empty|erforderlich|expired|falsch|false|for|forte|from|hashed|il|in|incorrect|invalid|it|jetzt|kein|' +
  'la|le|long|m[íi]nimo|mindestens|minimum|missing|needed|new|nicht|niet|nie|no|none|not|now|null|não|obligator(?:i[ao]|isch)|' +
  'obligatoire|obrigatória|on|optional|process|requerid[ao]|requise?|required|set|short|stored|str|string|that|the|to|too|true|um|uma|un|' +
  'una|undefined|une|used|valid|vergessen|vergeten|verlopen|verplicht|weak|what|wrong|wymagane|zorunlu)(?=[.,;!?)]{0,3}(?:\\s|$))';

const SPACE = '[ \\t\\u00a0\\u2000-\\u200a\\u202f\\u3000]';
/** Matches `:`, `=`, `==` before a quoted value, or the arrow of `'password' => 'x'`, but not of a function, `password => check(password)`. */
const ASSIGNMENT = `(?:(?!={2,3}[ \\t]{0,4}[^\\s"'=])[:=：＝]{1,3}(?!(?<==)>)|(?<=["'\\]][ \\t]{0,4})=>|=>(?=\\S|[ \\t]{1,8}["']))`;
const ASSIGNED = `[^\\w\\s:=：＝]{0,4}${SPACE}{0,4}${ASSIGNMENT}(?:${SPACE}|[*\`]){0,8}`;
/** Matches a line break before a line of one word with a digit: the value of the label before it. */
const NEXT_LINE = `(?:\\r?\\n[ \\t]{0,8}(?=[^\\s:]{0,63}\\d)(?=[^\\s:]{4,64}[ \\t]{0,4}(?:[\\r\\n]|$)))?`;

const IN_MARKS = '[“„«「『][^“”„«»「」『』\\n]{3,100}[”“»」』]';

/**
 * Matches a quoted value with its quotation marks, a block of YAML up to the end of its first line, or an unquoted
 * value up to the next space.
 */
const VALUE =
  `(?!\\[masked |["']?\\$[{(])(?!${NON_SECRET_WORDS})(?:"[^"\\n]+"|'[^'\\n]+'|${IN_MARKS}|[|>][+-]?[ \\t]{0,4}\\r?\\n[ \\t]{1,20}[^\\s][^\\n]*|` +
  '[^\\s:=：＝*`](?:\\[masked [a-z ]{1,20}\\]|\\S)*)';

const WITH_DIGIT = '(?=\\S{0,63}\\d)';
/** Matches one word of ASCII that ends its clause. */
const LONE_WORD = '(?=[a-z]{6,64}(?:[\\s.,;。，]|$))';
const NOT_MASKED = '(?<!\\[masked (?:password|private key)(?=\\]))';

/** A pattern, and a part of it without which it can't match. The part takes far less time to compile. */
export interface LabelledPattern {
  part: RegExp;
  pattern: RegExp;
}

/** Matches `password: x`, `PASSWORD=x`, `"password": "x"`, `my password is x` and `my password is: x`. */
export function labelledSecret(label: string): LabelledPattern {
  const named = `${SPACE}{1,4}(?:is|was|ist|lautet|est|es|è)(?:${SPACE}{1,4}(?:now|jetzt))?(?::${SPACE}{0,4}|${SPACE}{1,4})`;
  return labelled(label, `${NOT_MASKED}(?:${ASSIGNED}${NEXT_LINE}|${named})`, VALUE, 'i');
}

function labelled(label: string, rest: string, value: string, flags = ''): LabelledPattern {
  return { part: new RegExp(label, flags), pattern: new RegExp(`(${label}${rest})${value}`, `g${flags}`) };
}

/** As `labelledSecret`, but what follows a verb needs a digit, because there is no list of all words that it may be. */
function inLatin(label: string): LabelledPattern {
  const verbs = '(?:is|ist|est|es|è|é|to|jest|är|er|je|on|adalah|ialah|là|ni|este)';
  const named = `${SPACE}{1,4}${verbs}:?${SPACE}{1,4}(?:${WITH_DIGIT}|(?=["'“„«]))`;
  return labelled(`(?<![\\p{L}])${label}`, `(?:${ASSIGNED}${NEXT_LINE}|${named})`, VALUE, 'iu');
}

/** Passwords are in ASCII, and a sentence of another script is not: only a value in ASCII is one. */
function inOtherScripts(label: string): LabelledPattern {
  const particles = '(?:是|为|為|は|が|는|은|이|가|это|είναι|هو|هي|היא|הוא|है|—|-|-->)';
  const named = `(?:${SPACE}{0,4}${particles}${SPACE}{0,4}[:：]?${SPACE}{0,4}(?:${WITH_DIGIT}|${LONE_WORD}|(?=["'«「『]))|${SPACE}${WITH_DIGIT})`;
  const value = `(?!\\[masked |${NON_SECRET_WORDS})(?:"[^"\\n]+"|'[^'\\n]+'|${IN_MARKS}|[!-9;<>-~][!-~]{3,})`;
  return labelled(label, `(?:${ASSIGNED}${NEXT_LINE}|${named})`, value, 'iu');
}

/** Matches a word that mixes letters and digits: of those near a label only such are likely to be secrets. */
const mixed = (charsMin: number) =>
  `(?!\\[masked )(?=[^\\s"'()]{0,63}\\d)(?=[^\\s"'()]{0,63}\\p{L})[^\\s"'()/$<{:=,;]{${charsMin},64}(?![^\\s"'),.;!?])`;
export const ANY_PASSWORD = `(?<!\\[masked )(?:${LABELS.password}|(?<!\\p{L})(?:${LATIN_PASSWORD}|clave|pass(?=[:=]))|${OTHER_PASSWORD})`;
const FEW_WORDS = `(?:${SPACE}{1,4}\\p{L}{1,15}){0,3}?`;

/** Matches `password for the server is x1`, `password - x1` and `password x1`, in any language. */
const NEAR_LABELS = [
  {
    rest: `${FEW_WORDS}(?:${SPACE}{0,4}[:=：＝]${SPACE}{0,4}|${SPACE}{1,4}(?:is|was|ist|lautet|est|es|è|é|to|är|er|je|on|это)${SPACE}{1,4})["'(]?`,
    value: mixed(6),
  },
  { rest: `${SPACE}{0,4}[^\\p{L}\\p{N}\\s]{1,3}${SPACE}{0,4}`, value: mixed(6) },
  { rest: `${SPACE}{1,4}`, value: mixed(8) },
].map(({ rest, value }) => ({
  name: 'password' as const,
  ...labelled(ANY_PASSWORD, `\\p{L}{0,4}${rest}`, value, 'iu'),
}));

const PREPOSITION =
  '(?:for|of|on|at|für|von|vom|zum|im|du|de|del|do|da|dos|pour|para|di|della|van|voor|til|till|wi-?fi|wlan|router|server|admin|root|vpn)';
const SOME_WORDS = (least: number) => `(?:${SPACE}{1,4}[\\p{L}\\p{N}.@'’-]{1,64}){${least},3}?`;
const LAST_WORD = `(?!\\[masked )(?!${NON_SECRET_WORDS})[^\\s:=：＝*\`\\p{Lo}]{4,64}(?=[ \\t]{0,4}(?:[\\r\\n]|$))`;
const ASSIGNS = `${SPACE}{0,4}[:=：＝]${SPACE}{0,4}`;

/** Matches `password for the server: x` and `password (admin): x` if the value is the last word of its line. */
const DISTANT_LABELS = [
  {
    label: ANY_PASSWORD,
    rest: `(?:${SPACE}{1,4}${PREPOSITION}(?!\\p{L})${SOME_WORDS(0)}|${SPACE}{0,4}[(\\[][^()[\\]\\n]{1,40}[)\\]])`,
  },
  { label: `(?<!\\p{L})(?:${LATIN_PASSWORD}|${OTHER_PASSWORD})`, rest: SOME_WORDS(1) },
].map(({ label, rest }) => ({
  name: 'password' as const,
  ...labelled(label, `\\p{L}{0,4}${rest}${ASSIGNS}`, LAST_WORD, 'iu'),
}));

export const FOREIGN_LABELS = [
  { name: 'password', ...inLatin(LATIN_PASSWORD) },
  { name: 'key', ...inLatin(LATIN_KEY) },
  { name: 'password', ...inOtherScripts(OTHER_PASSWORD) },
  { name: 'key', ...inOtherScripts(OTHER_KEY) },
  ...NEAR_LABELS,
  ...DISTANT_LABELS,
] as const;

/** Matches a value that no variable fills and that is not the next flag or the next word of a sentence. */
const ARGUMENT = `(?!["']?[$<{-])(?!(?:and|are|argument|flag|if|instead|is|of|option|or|parameter|so|then|was|when|which|with)(?=[.,;!?)]{0,3}(?:\\s|$)))${VALUE}`;
const command = (names: string, flag: string, argument = ARGUMENT) =>
  labelled(`(?<![\\w-])(?:${names})[ \\t]`, `[^\\n|;]{0,200}?${flag}`, argument);
/** Matches a variable of an environment. Capitals tell its name from those of fields such as `next_token`. */
const variable = (endings: string) =>
  labelled(
    `(?<![\\w{])[A-Z][A-Z\\d_]{0,60}_(?:${endings})`,
    `(?:=|["']?:[ \\t]{0,4}|[ \\t]{1,4}=[ \\t]{1,4}(?=["']))`,
    `(?!["']?[$<{])${VALUE}`,
  );
const option = (names: string, after: string) =>
  labelled(`(?<![\\w-])--?(?:[a-z]{1,20}-){0,3}(?:${names})`, `${after}{1,4}`, ARGUMENT);

/** Secrets among the arguments of a command, and in the files that commands read. */
export const COMMAND_PATTERNS = [
  { name: 'password', ...option('pass(?:word|wd|phrase)?|pwd', '[ \\t]') },
  { name: 'key', ...option('token|secret|api-?key|access-?key|secret-?key', '[ \\t=]') },
  { name: 'password', ...command('sshpass', '-p[ \\t]{0,4}') },
  { name: 'password', ...command('mysql(?:dump|admin)?|mariadb(?:-dump)?', '(?<=[ \\t])-p') },
  {
    name: 'password',
    ...command(
      '(?:docker|podman|helm|az|oc)(?=[ \\t][^\\n|;]{0,40}login)|mongo(?:sh|dump)?',
      '(?<=[ \\t])-p[ \\t]{1,4}',
    ),
  },
  { name: 'password', ...command('redis-cli', '(?<=[ \\t])-a[ \\t]{1,4}') },
  { name: 'password', ...command('zip|unzip', '(?<=[ \\t])-P[ \\t]{1,4}') },
  { name: 'password', ...command('7z[ar]?|rar|unrar', '(?<=[ \\t])-p') },
  {
    name: 'password',
    ...command(
      'openssl',
      '(?<=[ \\t])-(?:k|pass(?:in|out)?)[ \\t]{1,4}(?!env:|fd:|file:|pass:\\[masked |stdin)(?:pass:)?',
    ),
  },
  { name: 'password', ...command('ldap[a-z]{3,8}', '(?<=[ \\t])-w[ \\t]{1,4}') },
  { name: 'password', ...command('smbclient|rpcclient', '(?<=[ \\t])-U[ \\t]{0,4}[^\\s%]{1,64}%') },
  {
    name: 'password',
    ...command('htpasswd', '(?<=[ \\t])-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}(?:[ \\t]{1,4}\\S{1,100}){2}[ \\t]{1,4}'),
  },
  { name: 'password', ...command('wpa_passphrase', '(?<=passphrase[ \\t])\\S{1,64}[ \\t]{1,4}') },
  { name: 'password', ...command('nmcli', '(?<=[ \\t])password[ \\t]{1,4}') },
  { name: 'key', ...command('aws', 'configure set \\S{0,40}(?:secret|token)\\S{0,20}[ \\t]{1,4}') },
  { name: 'key', ...command('kubectl|oc', '--from-literal=[\\w.-]{1,64}=') },
  {
    name: 'password',
    pattern:
      /(\becho[ \t]{1,4}(?:-n[ \t])?["']?(?:[^\s:"'|]{1,64}:)?)(?!\[masked |\$)[^\s:"'|]{1,256}(?=["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4}-S|(?:sudo[ \t]{1,4})?chpasswd)(?!\w))/g,
  },
  {
    name: 'password',
    pattern: new RegExp(
      `((?<!\\w)(?:setx|ENV|ARG|#define)[ \\t]{1,4}[A-Z\\d_]{0,40}(?:PASS(?:WORD|WD)?|PWD|TOKEN|SECRET)[ \\t]{1,8})${ARGUMENT}`,
      'g',
    ),
  },
  {
    name: 'password',
    ...command(
      'curl|wget',
      '(?<=[ \\t])(?:-u|-U|--user|--proxy-user)[ \\t=]{0,4}["\']?[^\\s:"\']{1,64}:(?!//)',
      '(?!\\[masked )[^\\s"\'$][^\\s"\']*',
    ),
  },
  // The lines of `.netrc`.
  {
    name: 'password',
    pattern:
      /(\b(?:machine\s{1,8}\S{1,100}|default)\s{1,8}login\s{1,8}\S{1,100}\s{1,8}password\s{1,8})(?!\[masked )\S+/g,
  },
  {
    name: 'password',
    pattern: /(\bcred(?:s|entials)[ \t]{0,4}(?:are|is|[:=])[ \t]{0,4}[^\s:/[\]"']{1,64}:)(?![/[])\S{4,}/gi,
  },
  {
    name: 'password',
    pattern: new RegExp(
      `(\\b(?:cred(?:s|entials)|log-?in|zugangsdaten|wi-?fi|wlan)[ \\t]{0,4}[:=]?[ \\t]{0,4}(?:[\\w.@-]{1,64}[ \\t]{0,4}/[ \\t]{0,4})?)(?<=[:=/][ \\t]{0,4})${mixed(6)}`,
      'giu',
    ),
  },
  {
    name: 'password',
    pattern: /((?<![\w.:/@-])[\w.-]{1,64}:)(?=[^\s:/@]{0,63}\d)[^\s:/@]{6,64}(?=@[\w-]{1,64}\.\w)/g,
  },
  { name: 'password', ...variable('PASS|AUTH') },
  { name: 'key', ...variable('TOKEN|SECRET|APIKEY|SALT|DSN|(?<=(?:APP|COOKIE|HMAC|LICENSE|STORAGE)_)KEY') },
] as const;
