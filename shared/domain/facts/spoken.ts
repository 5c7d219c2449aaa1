/** Fenced blocks, forwarded messages to their end, quoted lines; in that order, because one may contain the others. */
const PASTED = [
  /^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1[ \t]*$|$(?![\s\S]))/gm,
  /^[ \t]*(?:-{3,} ?(?:forwarded|original) message|on .{4,80} wrote:$|begin forwarded message)[\s\S]*/gim,
  /^[ \t]*>.*$/gm,
];
/** In place of what is left out: no quote reaches over it. */
const CUT = '\f';

/**
 * The parts of a message in which a person speaks, without what is plainly pasted into it: quoted lines (`>`), fenced
 * blocks, forwarded messages. These are somebody else's words.
 */
export function spokenIn(content: string): string[] {
  const cut = PASTED.reduce((left, pattern) => left.replaceAll(pattern, CUT), content);
  return cut.split(CUT).filter((part) => part.trim() !== '');
}

/** The parts of a message that are pasted into it. */
export function pastedIn(content: string): string[] {
  return PASTED.flatMap((pattern) => content.match(pattern) ?? []);
}
