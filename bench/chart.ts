import type { Results, TargetResult } from './results.ts';
import { TARGETS, type TargetName } from './targets.ts';

const WIDTH = 720;
const LABELS_WIDTH = 300;
const NUMBERS_WIDTH = 130;
const BAR_HEIGHT = 18;
const BAR_STEP = 24;
const GROUP_HEAD = 34;

/** Colours that are strong enough on white and light enough on black. */
const COLOURS: Record<TargetName, string> = {
  client: '#8b949e',
  direct: '#8b949e',
  naive: '#d29922',
  dbos: '#a371f7',
  restate: '#a371f7',
  'forecue-redis': '#2f81f7',
  'forecue-postgres': '#3fa66b',
  'forecue-redis-apps': '#2f81f7',
  'forecue-postgres-apps': '#3fa66b',
};

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .head { font-weight: 600 }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }`;

/** Draws calls per second as bars, with the ratio to the naive set-up. Leaves out the target `client`. */
export function chart({ cells, machine }: Results): string {
  const shownResults = cells.filter((result) => result.target !== 'client');
  const highest = Math.max(...shownResults.map((result) => result.callsPerSecond));
  const groups = [...Map.groupBy(shownResults, (result) => result.callers)];
  let y = 0;
  const parts: string[] = [];
  for (const [callers, group] of groups) {
    y += GROUP_HEAD;
    parts.push(`<text class="head" x="0" y="${y - 10}">${callers} at once, predictions per second</text>`);
    const naive = group.find(({ target }) => target === 'naive');
    for (const result of group) {
      parts.push(bar(result, naive, highest, y));
      y += BAR_STEP;
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 30}" width="${WIDTH}" role="img">`,
    `<title>Predictions per second, all on one machine with ${machine.cpus} cores</title>`,
    `<style>${STYLE}\n</style>`,
    ...parts,
    `<text x="0" y="${y + 22}">Fake provider at 0 ms; everything, the callers too, on ${machine.cpus} cores.</text>`,
    '</svg>\n',
  ].join('\n');
}

function bar(result: TargetResult, naive: TargetResult | undefined, highest: number, y: number): string {
  const length = Math.max(
    1,
    Math.round((result.callsPerSecond / highest) * (WIDTH - LABELS_WIDTH - NUMBERS_WIDTH)),
  );
  const baseline = y + BAR_HEIGHT - 5;
  const ratio = naive && `: ${(result.callsPerSecond / naive.callsPerSecond).toFixed(2)} × naive`;
  const label = `${Math.round(result.callsPerSecond).toLocaleString('en')}${ratio ?? ''}`;
  return [
    `<text x="0" y="${baseline}">${TARGETS[result.target].title}</text>`,
    `<rect x="${LABELS_WIDTH}" y="${y}" width="${length}" height="${BAR_HEIGHT}" rx="2" fill="${COLOURS[result.target]}"/>`,
    `<text x="${LABELS_WIDTH + length + 6}" y="${baseline}">${label}</text>`,
  ].join('');
}
