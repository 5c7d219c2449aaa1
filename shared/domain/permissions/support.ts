import { highest, type Part, type Permission, type Shape } from './permission.ts';
import { shapeOf } from './shape.ts';

/** A permission that the person decided on. */
export interface DecidedPermission extends Permission {
  isAllowed: boolean;
  /** True if it is against what was decided for them: what they said otherwise of the like before counts no longer. */
  isObjection?: boolean;
}

export interface PermissionVerdict {
  decision: 'allow' | 'ask' | 'deny';
  /** Share of the like that this person decides so, by the rule of succession. */
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

interface Decided {
  shape: Shape;
  isAllowed: boolean;
  isObjection: boolean;
}

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

/**
 * Decides whether this person refuses this, by the same rule in the other direction; what never becomes automatic is
 * refused by the strict rule. Returns undefined if there is too little support.
 */
export function denyPermission(
  permission: Permission,
  decided: readonly DecidedPermission[],
  isStrict: boolean,
): PermissionVerdict | undefined {
  const shape = shapeOf(permission);
  const known = shapesOf(decided.filter(({ project }) => project === permission.project));
  if (!isStrict && shape.level === 'ordinary') {
    const counts = shape.parts.map((part) => refusalsIn(known.filter((one) => isAbout(one, part))));
    const refused = counts.find(isSupported);
    return refused && denial(refused, REQUIRED.ordinary);
  }
  const same = known.filter((one) =>
    one.isAllowed ? isLike(one.shape, shape) : one.shape.exact === shape.exact,
  );
  const count = refusalsIn(same);
  const isEnough = count.allowed >= REQUIRED.strict && count.refused === 0;
  return isEnough ? denial(count, REQUIRED.strict) : undefined;
}

/** Counts refusals as the approvals of a No. */
const refusalsIn = (decisions: readonly Decided[]) =>
  countOf(decisions.map((one) => ({ ...one, isAllowed: !one.isAllowed })));

function denial(
  { allowed: refused, refused: allowed, ...count }: Count,
  required: number,
): PermissionVerdict {
  const confidence = confidenceOf({ allowed: refused, refused: allowed });
  return { ...verdict('deny', { ...count, allowed, refused }, required), confidence };
}

const isLike = (one: Shape, shape: Shape) =>
  shape.parts.some((part) => one.parts.some(({ meaning }) => meaning === part.meaning));

/** Maximum length of all that is compared, because reading it holds up the process. The oldest is left out. */
const COMPARED_CHARS_MAX = 16_384;

/** People decide on the same again and again, so each request is read once. */
function shapesOf(decided: readonly DecidedPermission[]): Decided[] {
  const shapes = new Map<string, Shape>();
  let left = COMPARED_CHARS_MAX;
  return decided.flatMap(({ isAllowed, isObjection = false, ...asked }) => {
    const { tool, action, cwd, target } = asked;
    const key = JSON.stringify([tool, action, cwd, target]);
    const known = shapes.get(key);
    if (known === undefined) left -= target.length;
    if (left < 0) return [];
    const shape = known ?? shapeOf(asked);
    shapes.set(key, shape);
    return [{ shape, isAllowed, isObjection }];
  });
}

/** A refusal is about the most dangerous parts of what was refused. */
function isAbout({ shape, isAllowed }: Pick<Decided, 'shape' | 'isAllowed'>, part: Part): boolean {
  return shape.parts.some(
    ({ meaning, level }) => meaning === part.meaning && (isAllowed || level === shape.level),
  );
}

function isDissent(refused: Shape, shape: Shape): boolean {
  return shape.parts.some((part) => isAbout({ shape: refused, isAllowed: false }, part));
}

function countOf(decisions: readonly Omit<Decided, 'shape'>[]): Count {
  const objection = decisions.findIndex(({ isObjection, isAllowed }) => isObjection && !isAllowed);
  const since = objection < 0 ? decisions : decisions.slice(0, objection);
  const allowed = since.filter(({ isAllowed }) => isAllowed).length;
  const withdrawn = decisions.findIndex(({ isObjection, isAllowed }) => isObjection && isAllowed);
  const refused = (withdrawn < 0 ? decisions : decisions.slice(0, withdrawn)).filter(
    ({ isAllowed }) => !isAllowed,
  ).length;
  return { allowed, refused, isLatestAllowed: decisions[0]?.isAllowed === true };
}

const none = (): Count => ({ allowed: 0, refused: 0, isLatestAllowed: false });

function isSupported({ allowed, refused, isLatestAllowed }: Count): boolean {
  return isLatestAllowed && allowed >= REQUIRED.ordinary && allowed / (allowed + refused) >= APPROVED_MIN;
}

function confidenceOf({ allowed, refused }: Pick<Count, 'allowed' | 'refused'>): number {
  return (allowed + 1) / (allowed + refused + 2);
}

function verdict(decision: PermissionVerdict['decision'], count: Count, required: number): PermissionVerdict {
  const { allowed, refused } = count;
  return { decision, confidence: confidenceOf(count), allowed, refused, required };
}
