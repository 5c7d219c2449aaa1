/** Progress of a job, which its handler also keeps. */
export interface Steps {
  done: number;
  total: number;
}

const NOT_BEGUN: Steps = { done: 0, total: 0 };

/** The report of a job's handler: the answer to its request, and all its steps. */
export interface JobReport<Result extends object = object> {
  steps: Steps;
  result: Result;
}

/** The steps in what a handler has kept. */
export function stepsOf(progress: unknown): Steps {
  const isKept = typeof progress === 'object' && progress !== null && 'steps' in progress;
  return isKept ? (progress.steps as Steps) : NOT_BEGUN;
}
