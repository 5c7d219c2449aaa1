const FENCED = /^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1[ \t]*$|$(?![\s\S]))/gm;
const QUOTED_LINE = /^[ \t]*>.*$/gm;
/** Where a forwarded message begins: from there on others speak. */
const FORWARDED =
  /^[ \t]*(?:-{3,} ?(?:forwarded|original) message|on .{4,80} wrote:$|begin forwarded message)[\s\S]*/im;
/** In place of what is left out: no quote reaches over it. */
const CUT = '\f';

/**
 * The parts of a message in which a person speaks, without what is plainly pasted into it: quoted lines (`>`), fenced
 * blocks, forwarded messages. These are somebody else's words.
 */
export function spokenIn(content: string): string[] {
  const cut = content.replaceAll(FENCED, CUT).replace(FORWARDED, CUT).replaceAll(QUOTED_LINE, CUT);
  return cut.split(CUT).filter((part) => part.trim() !== '');
}
