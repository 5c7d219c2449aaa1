/**
 * The environment of every process that a test starts: none of this process's configuration, but the PATH, and the compile
 * cache of earlier processes, which saves a third of the start.
 */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}
