export async function loopTurnsDuring<T>(work: Promise<T>): Promise<{ turns: number; result: T }> {
  let turns = 0;
  let isDone = false;
  const next = () => {
    turns += 1;
    if (!isDone) setImmediate(next);
  };
  setImmediate(next);
  try {
    const result = await work;
    return { turns, result };
  } finally {
    isDone = true;
  }
}
