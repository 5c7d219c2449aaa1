/** Whether a text can be stored and sent on as it is: PostgreSQL takes no NUL, and UTF-8 no lone surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
