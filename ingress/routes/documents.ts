import type { PublishedFiles } from '../http/files.ts';
import type { PageContext } from '../http/route.ts';

export interface DocumentRoutes {
  files: PublishedFiles;
}

/** The file at the very path of the request. */
export const sendFile = (ctx: PageContext, { files }: DocumentRoutes) => files.send(ctx);
