/**
 * A party may hold at most seven times as many slots as then stay free: a dynamic threshold, as switches use for shared
 * buffers (Choudhury and Hahne 1998). A single party gets at most seven eighths of the slots, and however many parties
 * flood, the next one finds a free slot.
 */
const THRESHOLD = 7;
/** With fewer slots than this, none are kept free. */
const FEWEST_SHARED = 4;

/** How many more of the free slots a party that holds `held` may take. One that holds none may always take one. */
export function roomOf(held: number, free: number, slots: number): number {
  if (slots < FEWEST_SHARED) return free;
  const room = Math.floor((THRESHOLD * free - held) / (1 + THRESHOLD));
  return Math.max(room, held === 0 ? Math.min(1, free) : 0);
}
