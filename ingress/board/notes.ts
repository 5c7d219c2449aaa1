/** Messages about actions, by the parameter `did` of the address. No text from the address itself is shown. */
export const NOTES = new Map([
  ['pause', 'Paused: every worker has noticed. What runs goes on; what waits stays until its deadline.'],
  ['pause-late', 'Paused, but some workers have not noticed yet. What runs goes on.'],
  ['resume', 'Resumed: workers claim again within a second or two.'],
  ['drain', 'Drained: what waited ended as service_unavailable, and was refunded.'],
  ['retry', 'A new job is queued for each account whose latest one failed.'],
  ['retry-none', 'No job to retry. Predictions are not retried: their callers have had their answer.'],
  ['retry-no_worker', 'Stopped, because no worker serves the pool: start one, and try again.'],
  ['retry-paused', 'Stopped, because the pool is paused and full: resume it, and try again.'],
  [
    'retry-full',
    'Stopped, because the pool is full: try again, or run `queue retry-failed`, which waits for room.',
  ],
  ['locked', 'Done, but for apps and accounts whose rows are locked: try again later.'],
]);
