import axe from 'axe-core';
import type { Page } from 'playwright-core';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

export async function faultsOn(page: Page): Promise<string[]> {
  // Half-way between two themes, colours have no contrast.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().flatMap((one) => (one instanceof CSSTransition ? one.finished : [])))',
  );
  // The browser's debugger evaluates axe-core, since the page's policy forbids script elements.
  await page.evaluate(`${axe.source}; undefined`);
  const options = JSON.stringify({ runOnly: TAGS, resultTypes: ['violations'], selectors: false });
  const { violations } = await page.evaluate<{ violations: Violation[] }>(`axe.run(document, ${options})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
