import { createHash } from 'node:crypto';
import { AppError } from '../../shared/errors/app-error.ts';
import type { RequestContext } from './request-context.ts';

/** A file that is held in memory. */
export interface PublishedFile {
  type: string;
  content: Buffer;
  /** Override the common ones. */
  headers?: Record<string, string>;
}

/** Files by their exact paths. */
export class PublishedFiles {
  readonly #files: ReadonlyMap<string, PublishedFile & { etag: string }>;

  constructor(files: readonly (readonly [path: string, file: PublishedFile])[]) {
    this.#files = new Map(files.map(([path, file]) => [path, { ...file, etag: etagOf(file) }]));
  }

  /** Answers with the file at the request's path, or 304 to a client that has it. */
  send(ctx: RequestContext): void {
    const file = this.#files.get(ctx.path);
    if (file === undefined) throw new AppError('not_found');
    ctx.status = 200;
    ctx.set({ ...file.headers, ETag: file.etag, 'Content-Type': file.type });
    if (ctx.fresh) ctx.status = 304;
    else ctx.body = file.content;
  }
}

function etagOf({ content }: PublishedFile): string {
  return `"${createHash('sha256').update(content).digest('base64url')}"`;
}
