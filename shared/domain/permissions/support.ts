import { highest, type Part, type Permission, type Shape } from './permission.ts';
import { shapeOf } from './shape.ts';

/** A permission that the person decided on. */
export interface DecidedPermission extends Permission {
  isAllowed: boolean;
}

export interface PermissionVerdict {
  decision: 'allow' | 'ask';
  /** Share of the like that this person allows, by the rule of succession. */
  confidence: number;
  /** Decisions about the like; of the most dangerous or rarest part, if there are several. */
  allowed: number;
  refused: number;
  /** Approvals that are needed; null if no number of them is enough. */
  required: number | null;
}

/** What no number of approvals is enough for. */
export const UNKNOWN: PermissionVerdict = {
  decision: 'ask',
  confidence: 0,
  allowed: 0,
  refused: 0,
  required: null,
};

const REQUIRED = { ordinary: 2, strict: 5 };
/** Minimum share of approvals among the decisions about the like. */
const APPROVED_MIN = 0.9;

type Count = Pick<PermissionVerdict, 'allowed' | 'refused'> & { isLatestAllowed: boolean };

/**
 * Decides whether this person allows this, by what they decided before, the latest decision first. `isStrict`: applies
 * the strict rule to all, where nobody would be asked otherwise.
 */
export function decidePermission(
  permission: Permission,
  decided: readonly DecidedPermission[],
  isStrict: boolean,
): PermissionVerdict {
  const shape = shapeOf(permission);
  const level = isStrict ? highest([shape.level, 'strict']) : shape.level;
  const known = shapesOf(decided.filter(({ project }) => project === permission.project));
  if (level === 'never') return UNKNOWN;
  if (level === 'strict') {
    const count = countOf(
      known.filter((one) => (one.isAllowed ? one.shape.exact === shape.exact : isDissent(one.shape, shape))),
    );
    const isEnough = count.allowed >= REQUIRED.strict && count.refused === 0;
    return verdict(isEnough ? 'allow' : 'ask', count, REQUIRED.strict);
  }
  const counts = shape.parts.map((part) => countOf(known.filter((one) => isAbout(one, part))));
  const weakest = counts.toSorted((a, b) => confidenceOf(a) - confidenceOf(b))[0] ?? none();
  return verdict(counts.every(isSupported) ? 'allow' : 'ask', weakest, REQUIRED.ordinary);
}

/** Maximum length of all that is compared, because reading it holds up the process. The oldest is left out. */
const COMPARED_CHARS_MAX = 16_384;

/** People decide on the same again and again, so each request is read once. */
function shapesOf(decided: readonly DecidedPermission[]): { shape: Shape; isAllowed: boolean }[] {
  const shapes = new Map<string, Shape>();
  let left = COMPARED_CHARS_MAX;
  return decided.flatMap(({ isAllowed, ...asked }) => {
    const { tool, action, cwd, target } = asked;
    const key = JSON.stringify([tool, action, cwd, target]);
    const known = shapes.get(key);
    if (known === undefined) left -= target.length;
    if (left < 0) return [];
    const shape = known ?? shapeOf(asked);
    shapes.set(key, shape);
    return [{ shape, isAllowed }];
  });
}

/** A refusal is about the most dangerous parts of what was refused. */
function isAbout({ shape, isAllowed }: { shape: Shape; isAllowed: boolean }, part: Part): boolean {
  return shape.parts.some(
    ({ meaning, level }) => meaning === part.meaning && (isAllowed || level === shape.level),
  );
}

function isDissent(refused: Shape, shape: Shape): boolean {
  return shape.parts.some((part) => isAbout({ shape: refused, isAllowed: false }, part));
}

function countOf(decisions: readonly { isAllowed: boolean }[]): Count {
  const allowed = decisions.filter(({ isAllowed }) => isAllowed).length;
  return { allowed, refused: decisions.length - allowed, isLatestAllowed: decisions[0]?.isAllowed === true };
}

const none = (): Count => ({ allowed: 0, refused: 0, isLatestAllowed: false });

function isSupported({ allowed, refused, isLatestAllowed }: Count): boolean {
  return isLatestAllowed && allowed >= REQUIRED.ordinary && allowed / (allowed + refused) >= APPROVED_MIN;
}

function confidenceOf({ allowed, refused }: Pick<Count, 'allowed' | 'refused'>): number {
  return (allowed + 1) / (allowed + refused + 2);
}

function verdict(decision: 'allow' | 'ask', count: Count, required: number): PermissionVerdict {
  const { allowed, refused } = count;
  return { decision, confidence: confidenceOf(count), allowed, refused, required };
}
