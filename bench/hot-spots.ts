import { readFile } from 'node:fs/promises';

interface Frame {
  functionName: string;
  url: string;
  lineNumber: number;
}

interface Profile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

const GARBAGE = '(garbage collector)';
/** Frames that are not work: the process waited, or the profiler itself was busy. */
const IDLE_FRAMES = ['(idle)', '(program)', '(root)'];

/**
 * Lists where a process spent its CPU time, by function and by package. Time in the platform counts for the code that
 * called it. Leaves out the first half of the profile, in which the process starts.
 */
export async function hotSpots(file: string, most = 12): Promise<string[]> {
  const profile = JSON.parse(await readFile(file, 'utf8')) as Profile;
  const culprits = culpritsOf(profile);
  const busySamples = profile.samples.flatMap((id, index) => {
    const frame = culprits.get(id);
    return frame === undefined ? [] : [{ frame, us: profile.timeDeltas[index] ?? 0 }];
  });
  const functions = new Map<string, number>();
  const packages = new Map<string, number>();
  let total = 0;
  for (const { frame, us } of busySamples.slice(busySamples.length / 2)) {
    const path = frame.url.replace('file://', '').replace(`${process.cwd()}/`, '');
    const short = path.replace(/^.*node_modules\//, '');
    const where = short === '' ? '' : ` ${short}:${frame.lineNumber + 1}`;
    add(functions, `${frame.functionName || '(anonymous)'}${where}`, us);
    add(packages, frame.functionName === GARBAGE ? GARBAGE : homeOf(path), us);
    total += us;
  }
  return [...top(functions, total, most), '  by package:', ...top(packages, total, most)];
}

/**
 * Returns, for each node of the call tree that is work, the frame that its time counts for: the nearest one outside the
 * platform, from the node upwards. The garbage collector counts for itself.
 */
function culpritsOf({ nodes }: Profile): Map<number, Frame> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const culprits = new Map<number, Frame>();
  const visit = (id: number, above: Frame | undefined) => {
    const node = byId.get(id);
    if (node === undefined) return;
    const { callFrame } = node;
    const isOutside = callFrame.url !== '' && !callFrame.url.startsWith('node:');
    const culprit = isOutside || callFrame.functionName === GARBAGE ? callFrame : above;
    // Without a caller outside the platform, the work is the platform's own, such as a socket's event.
    const own = culprit ?? callFrame;
    if (!IDLE_FRAMES.includes(callFrame.functionName)) culprits.set(id, own);
    for (const child of node.children ?? []) visit(child, culprit);
  };
  const [root] = nodes;
  if (root !== undefined) visit(root.id, undefined);
  return culprits;
}

/** Returns the npm package, or the top folder of this repository, that a path belongs to. */
function homeOf(path: string): string {
  if (path === '') return 'node';
  if (path.startsWith('node:')) return path.includes('undici') ? 'undici in node' : 'node';
  return path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? path.split('/')[0] ?? path;
}

function add(sums: Map<string, number>, key: string, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

function top(sums: Map<string, number>, total: number, most: number): string[] {
  const ranked = [...sums].sort(([, a], [, b]) => b - a).slice(0, most);
  return ranked.map(([name, us]) => `  ${((100 * us) / total).toFixed(1).padStart(5)} %  ${name}`);
}
