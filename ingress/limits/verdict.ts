import type { Verdict } from './limiter.ts';

export function verdict(allowed: boolean, remaining: number, leftMs: number): Verdict {
  return { allowed, remaining: Math.max(0, remaining), resetS: Math.max(1, Math.ceil(leftMs / 1000)) };
}
