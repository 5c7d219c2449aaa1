const FENCED = /^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1[ \t]*$|$(?![\s\S]))/gm;
const QUOTED_LINE = /^[ \t]*>.*$/gm;
/** Where a forwarded message or a log begins: from there on others speak. */
const FORWARDED =
  /^[ \t]*(?:-{3,} ?(?:forwarded|original) message|on .{4,80} wrote:$|begin forwarded message)[\s\S]*/im;

/**
 * What a person says in a message, without what is plainly pasted into it: quoted lines (`>`), fenced blocks, forwarded
 * messages. These are somebody else's words.
 */
export function spokenIn(content: string): string {
  return content.replace(FENCED, '\n').replace(FORWARDED, '\n').replaceAll(QUOTED_LINE, '\n');
}
