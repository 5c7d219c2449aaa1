/** What credentials look like, and sentences that hand one over. */
const SECRETS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
  /\b(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abeprs]|service|fc)[-_][\w-]{16,}/,
  /\bgithub_pat_\w{20,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[\w-]{30,}/,
  /:\/\/[^\s/:@]+:[^\s/@]+@/,
  /\b(?:password|passphrase|passwort|secret|api[ _-]?key|access[ _-]?token|pin|pass ?code)\b\s*(?:is|ist|:|=)\s*\S/i,
];
const CARD_NUMBER = /\b\d(?:[ -]?\d){12,18}\b/g;
/** A word so long that mixes capitals, small letters and digits is no word. */
const RANDOM_WORD = /(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])(?=[\w+/=-]*\d)[\w+/=-]{24,}/;

/** Whether a text seems to contain a password, a key or the number of a payment card. */
export function holdsSecret(text: string): boolean {
  if (SECRETS.some((pattern) => pattern.test(text)) || RANDOM_WORD.test(text)) return true;
  return (text.match(CARD_NUMBER) ?? []).some(isCardNumber);
}

/** By its check digit (Luhn, ISO/IEC 7812-1). */
function isCardNumber(number: string): boolean {
  const digits = [...number].filter((character) => /\d/.test(character)).map(Number);
  const sum = digits.reverse().reduce((total, digit, place) => {
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}
