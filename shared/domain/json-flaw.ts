import { isStorable } from '../schemas/build.ts';

const DEPTH_MAX = 64;

/** Returns why an object cannot be stored unchanged. Uses no recursion, because the client chose the depth. */
export function flawOf(row: object): string | undefined {
  let level = [row];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) return `Input should be nested at most ${DEPTH_MAX} levels deep`;
    const next: object[] = [];
    for (const node of level) {
      if (!Array.isArray(node)) {
        const keys = Object.keys(node);
        if (!keys.every(isStorable)) return 'Text should hold neither NUL nor a lone surrogate';
        if (keys.includes('__proto__')) return '__proto__: Extra inputs are not permitted';
      }
      for (const value of Array.isArray(node) ? node : Object.values(node)) {
        if (typeof value === 'string' && !isStorable(value))
          return 'Text should hold neither NUL nor a lone surrogate';
        // 1e400 parses as infinity, which JSON cannot express.
        if (typeof value === 'number' && !Number.isFinite(value)) return 'Number should be finite';
        if (typeof value === 'object' && value !== null) next.push(value);
      }
    }
    level = next;
  }
  return undefined;
}
