import { fetchRow, search } from './connector.ts';
import { forget, remember, stats } from './memory.ts';
import { predictReply, sendFeedback } from './predict.ts';
import { getContext, recall } from './recall.ts';
import { recordEvents } from './record.ts';
import type { Tool } from './tool.ts';

/** Every tool, in the order in which a client lists them. */
export const tools: readonly Tool[] = [
  predictReply,
  sendFeedback,
  remember,
  recall,
  getContext,
  recordEvents,
  forget,
  stats,
  search,
  fetchRow,
];
