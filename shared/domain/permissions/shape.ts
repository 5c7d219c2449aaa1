import { stringsIn } from '../../text/codes.ts';
import type { Called } from './called.ts';
import { partsOfCalled, partsOfCommand } from './command.ts';
import { partOfPath, partOfUrl } from './files.ts';
import { highest, type Part, type Permission, partOf, type Shape } from './permission.ts';
import { placeOf } from './places.ts';

/** Marks of direction, zero-width and control characters hide what a text says. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Returns what a permission means, so that it can be compared with others. */
export function shapeOf(permission: Permission): Shape {
  const parts = withFetched(partsOf(permission));
  const exact = JSON.stringify([permission.project, ...parts.map((part) => part.exact)]);
  return { level: parts.length === 0 ? 'never' : highest(parts.map(({ level }) => level)), parts, exact };
}

/** What is fetched and written in one command may be run later. */
function withFetched(parts: readonly Part[]): Part[] {
  const isFetched = parts.some(({ meaning }) => meaning.startsWith('["fetch"'));
  return parts.map((part) =>
    isFetched && /^\["(write|tee)"/.test(part.meaning)
      ? { ...part, level: highest([part.level, 'strict']) }
      : part,
  );
}

function partsOf({ tool, action, target, cwd, project }: Permission): Part[] {
  const where = { project, cwd };
  if (INVISIBLE.test(target.replaceAll(/[\n\t]/g, '')) || !project.startsWith('/') || !cwd.startsWith('/'))
    return [partOf('never', ['unclear', target])];
  switch (action) {
    case 'run':
      return /powershell|pwsh/i.test(tool)
        ? [partOf('never', ['another language', target])]
        : partsOfCommand(target, where);
    case 'read':
    case 'write':
    case 'delete':
      return target.split('\n').map((path) => partOfPath(action, placeOf(path, where)));
    case 'fetch':
      return [partOfUrl(target)];
    case 'call':
      return partsOfCalled(calledTool(tool, target), { project, cwd: project });
  }
}

/** What a tool of another program does is not known: its input must be the same, and says what may be hidden in it. */
function calledTool(tool: string, target: string): Called {
  const names = tool.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').split(/[^A-Za-z]+/);
  const wordOf = (text: string) => ({ text, isKnown: true, isPlain: true });
  const words = [names.join(' '), ...textsOf(target)].map(wordOf);
  return { program: wordOf(tool), words, variables: [], input: [target], isFed: false };
}

function textsOf(target: string): string[] {
  try {
    return stringsIn(JSON.parse(target));
  } catch {
    return [target];
  }
}
