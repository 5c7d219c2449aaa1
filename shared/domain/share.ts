/**
 * Whoever holds slots may take more only while seven times as many as it then holds stay free: a dynamic threshold, as
 * switches use for their shared buffers (Choudhury and Hahne 1998). One party alone gets seven eighths of the slots, and
 * however many flood, the next one finds a free slot.
 */
const THRESHOLD = 7;
/** With fewer slots than this none is kept free. */
const FEWEST_SHARED = 4;

/** How many more of the free slots a party may take that holds `held`. A party that holds none may always take one. */
export function roomOf(held: number, free: number, slots: number): number {
  if (slots < FEWEST_SHARED) return free;
  const room = Math.floor((THRESHOLD * free - held) / (1 + THRESHOLD));
  return Math.max(room, held === 0 ? Math.min(1, free) : 0);
}

/**
 * How many slots one claim may fill: half of the free ones, so that what each party then holds counts for the next claim.
 * Otherwise two that flood together would fill all of them at once.
 */
export function claimable(free: number, slots: number): number {
  return slots < FEWEST_SHARED ? free : Math.ceil(free / 2);
}
