import type { ErrorCode } from '../src/errors.ts';

/** Name of the connection from a frame to the worker, followed by the origin of the page that it is in. */
export const FRAME = 'frame ';

/** A frame asks how a text continues. Only the latest question of a frame is answered. */
export interface Question {
  id: number;
  text: string;
}

export type FromFrame = { ask: Question } | { leave: number };

export interface Answer {
  status: 'suggested' | 'abstained';
  completion: string;
  alternatives: string[];
}

export interface Failure {
  code: ErrorCode;
  status: number;
  retryAfter: number | undefined;
}

export type FromWorker =
  | { isOn: boolean }
  | { id: number; answer: Answer }
  | { id: number; failure: Failure };

/** Requests of the extension's own pages to the worker. The answer is a name of `strings`, '' if it is done. */
export type FromPage = 'sign-in' | 'sign-out';
