/** Parts of `npm run bench quality PART -- …`; each reads its own options. */
const PARTS: Record<string, () => Promise<unknown>> = {
  background: () => import('./typing/background.ts'),
  ended: () => import('./ended-facts.ts'),
  facts: () => import('./facts.ts'),
  fishing: () => import('./fish.ts'),
  forgetting: () => import('./forgetting.ts'),
  guards: () => import('./guards.ts'),
  prompts: () => import('./next-prompts.ts'),
  projects: () => import('./projects.ts'),
  recall: () => import('./recall.ts'),
  typing: () => import('./typing/main.ts'),
  replies: () => import('../replies/main.ts'),
  wordings: () => import('./reply-wordings.ts'),
  updates: () => import('./updates.ts'),
};

/** The first argument names the part, and is removed from the arguments. */
export async function measureQuality(): Promise<void> {
  const [name = ''] = process.argv.splice(2, 1);
  const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
  if (part === undefined) throw new TypeError(`quality takes one of ${Object.keys(PARTS).join(', ')}`);
  await part();
}
