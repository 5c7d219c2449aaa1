/** What somebody has left: `from npm to …`, `moved from npm`, `instead of npm`, `no longer npm`. */
const LEFT = [
  /\bfrom\s+[^,.;!?]{1,60}?\s+(?=to\b)/gi,
  /\b(?:moved|switched|gone|changed|migrated|away)\s+from\s+[^,.;!?]*/gi,
  /\b(?:instead of|rather than|in place of|no longer|formerly|previously|stopped|over|not)\b[^,.;!?]*/gi,
  /\b(?:replac(?:e|es|ed|ing)|dropped|quit)\s+\S+/gi,
];
const FROM_NOW_ON = /\bfrom now on\b/gi;

/** A statement without what somebody has left by it. */
export function held(text: string): string {
  return LEFT.reduce((left, pattern) => left.replaceAll(pattern, ' '), text.replaceAll(FROM_NOW_ON, ' '));
}
