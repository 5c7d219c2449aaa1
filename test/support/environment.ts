/**
 * Returns the environment for every process that a test starts: nothing of this process's configuration but the PATH,
 * the settings of `bin/node`, and the compile cache of earlier processes, which saves a third of the start-up time.
 */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE = '', MALLOC_MMAP_THRESHOLD_ = '' } = process.env;
  return { PATH, NODE_COMPILE_CACHE, ...(MALLOC_MMAP_THRESHOLD_ && { MALLOC_MMAP_THRESHOLD_ }) };
}
