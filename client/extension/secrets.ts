/** Decides which fields are none of the extension's business: their text is never read. */

/** Words in the names of such fields, in the languages of many pages. */
const SECRETS = new RegExp(
  [
    // Passwords and what opens an account instead.
    'pass ?(word|phrase|code|wd)|passwd|pwd|kenn ?wort|pass ?wort|mot de passe|contrase(ñ|n)a|senha|palavra passe',
    'parola d ordine|wachtwoord|has(ł|l)o|l(ö|o)senord|adgangskode|salasana|пароль|密码|密碼|パスワード|暗証|비밀번호|كلمة المرور|סיסמה',
    '(seed|recovery|secret|mnemonic) (phrase|words)|(private|secret|api|access|ssh|signing|licen[cs]e) ?key|(access|api|auth|secret|bearer|refresh|session|bot) ?token',
    '(client|app|shared|signing|webhook) ?secret|pw|(security|secret) (question|answer)|maiden name|sicherheits ?frage|m(ä|a)dchenname|question secr(è|e)te|pregunta secreta',
    // Cards and accounts.
    '(card|cc|carte|karten?|tarjeta|cart(ã|a)o|carta|kaart) ?(num\\w*|nr|no|nummer)|(num(é|e)ro|n(ú|u)mero|nr) (de |da |do |di )?(la )?(carte|tarjeta|cart(ã|a)o|carta)',
    'credit ?card|debit ?card|kredit ?karte|carte bancaire|カード番号|卡号|카드 ?번호|номер карты',
    'cvv\\d?|cvc\\d?|csc|card ?code|pr(ü|u)f ?ziffer|cryptogramme|(security|sicherheits|s(é|e)curit(é|e)) ?code|codice di sicurezza|c(ó|o)digo de seguridad',
    'iban|bic|swift|sort ?code|(account|routing|konto) ?(number|nummer)|kontonr|num(é|e)ro de compte|n(ú|u)mero de cuenta',
    '(exp|expir\\w*|ablauf|g(ü|u)ltig) ?(date|month|year|datum|bis)|date d expiration|fecha de (caducidad|vencimiento)',
    // Codes that are good for once.
    'otp|totp|2fa|mfa|one ?time|two ?factor|(verification|authentication|authenticator|confirmation|auth|verify|login|sms) ?code',
    'einmal ?\\w*|tan|pin|(best(ä|a)tigungs|verifizierungs) ?code|code de (v(é|e)rification|confirmation|s(é|e)curit(é|e))',
    'c(ó|o)digo de (verificaci(ó|o)n|confirmaci(ó|o)n|verifica(ç|c)(ã|a)o)|codice di (verifica|conferma)|verificatiecode',
    'kod weryfikacyjny|код подтверждения|验证码|驗證碼|認証コード|인증 ?번호|رمز التحقق',
    // Numbers by which an office knows a person.
    'ssn|social security|sozialversicherung\\w*|steuer ?(id|nummer)|tax ?(id|number)|passport ?(no|number)?|reisepass\\w*|dni|nif|bsn|cpf',
  ].join('|'),
  'u',
);
const TEXT_TYPES = ['text', 'search'];
const NUMERIC_MODES = ['numeric', 'decimal', 'tel', 'email', 'url', 'none'];
/** Length up to which a field takes no sentence. */
const SHORT_CHARS = 12;
/** Fields that once were passwords: a page shows what is in them by changing their type. */
const seenPasswords = new WeakSet<Element>();

const SECRET_FIELDS = 'input[type=password], [autocomplete^="cc-"], [autocomplete$="one-time-code"]';

/** Reports whether a field may be read. Ask again each time: pages change their fields. */
export function isOpenField(field: HTMLElement): boolean {
  return isOrdinary(field) && !isSecretName(namesOf(field));
}

function isOrdinary(field: HTMLElement): boolean {
  if (field.closest('[data-forecue=off]') !== null) return false;
  if (!(field instanceof HTMLInputElement)) return !(field as HTMLTextAreaElement).readOnly && isPlain(field);
  if (field.type === 'password') seenPasswords.add(field);
  if (seenPasswords.has(field) || !TEXT_TYPES.includes(field.type) || field.readOnly) return false;
  // A field of one line that fills itself in, or offers a list, has its own suggestions. So has one whose page wants
  // none: there, it is mostly a code or a search.
  if (field.autocomplete !== '' && field.autocomplete !== 'on') return false;
  if (field.list !== null || field.role === 'combobox' || field.ariaAutoComplete !== null) return false;
  if (NUMERIC_MODES.includes(field.inputMode)) return false;
  if (field.maxLength >= 0 && field.maxLength <= SHORT_CHARS) return false;
  return isPlain(field) && !(field.form?.querySelector(SECRET_FIELDS) ?? false);
}

/** Reports whether the text is shown as it is: a page may draw dots for a password in a field of any type. */
function isPlain(field: HTMLElement): boolean {
  return ['', 'none'].includes(getComputedStyle(field).getPropertyValue('-webkit-text-security'));
}

/** Returns the names by which a field is known to its page and to people, as words. */
function namesOf(field: HTMLElement): string {
  const { name, placeholder, labels } = field as Partial<HTMLInputElement>;
  const root = field.getRootNode() as Document | ShadowRoot;
  const labelIds = field.getAttribute('aria-labelledby')?.split(/\s+/) ?? [];
  const texts = [
    name,
    field.id,
    placeholder,
    field.title,
    field.ariaLabel,
    ...labelIds.map((id) => root.getElementById(id)?.textContent),
    ...[...(labels ?? [])].map((label) => label.textContent),
  ];
  return texts.filter((text) => text).join(' / ');
}

/** Exported for tests by their pages alone: `userPin`, `card_number` and `Mot de passe` are all words. */
function isSecretName(names: string): boolean {
  const words = names
    .normalize('NFC')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ');
  return WHOLE_WORDS.test(` ${words} `);
}

/** The alphabets without spaces have no words to end at. */
const WHOLE_WORDS = new RegExp(`(?<![a-zà-ÿ])(${SECRETS.source})(?![a-zà-ÿ])`, 'u');
