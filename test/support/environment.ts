/**
 * What every process that a test starts gets: nothing of this one's configuration, but the way to programs, and the
 * compiled code of the processes before it, which is a third of what a start costs.
 */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}
