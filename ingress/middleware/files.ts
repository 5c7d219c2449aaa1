import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';
import { AppError } from '../../shared/errors/app-error.ts';
import type { RequestState } from './request-context.ts';

/** A file that is held in memory. */
export interface PublishedFile {
  type: string;
  content: Buffer;
  /** Of its own, over the common ones. */
  headers?: Record<string, string>;
}

/** Serves files by their exact paths, with an `ETag`. Whatever else is asked for is the next one's. */
export function serveFiles(files: ReadonlyMap<string, PublishedFile>): Middleware<RequestState> {
  const tagged = new Map([...files].map(([path, file]) => [path, { ...file, etag: tagOf(file) }]));
  return async (ctx, next) => {
    const file = tagged.get(ctx.path);
    if (file === undefined) return next();
    ctx.state.route = ctx.path;
    if (!['GET', 'HEAD'].includes(ctx.method)) {
      ctx.set('Allow', 'GET, HEAD');
      throw new AppError('method_not_allowed');
    }
    ctx.status = 200;
    ctx.set({ ...file.headers, ETag: file.etag, 'Content-Type': file.type });
    if (ctx.fresh) ctx.status = 304;
    else ctx.body = file.content;
  };
}

function tagOf({ content }: PublishedFile): string {
  return `"${createHash('sha256').update(content).digest('base64url')}"`;
}
