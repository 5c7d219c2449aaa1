/**
 * The environment of every process that a test starts: none of this process's configuration, but the PATH, what `bin/node`
 * sets, and the compile cache of earlier processes, which saves a third of the start.
 */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE = '', MALLOC_MMAP_THRESHOLD_ = '' } = process.env;
  return { PATH, NODE_COMPILE_CACHE, ...(MALLOC_MMAP_THRESHOLD_ && { MALLOC_MMAP_THRESHOLD_ }) };
}
