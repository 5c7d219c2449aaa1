import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { AppError } from '../../shared/errors/app-error.ts';
import type { RequestContext } from '../request/context.ts';
import type { Html } from './html.ts';

/** Answers with the file at the request's path, or 304 to a client that has it. */
export type SendFile = (ctx: RequestContext) => Promise<void>;

export interface PublishedFile {
  type: string;
  content: Buffer;
  /** Returns the content in gzip. */
  pack?: () => Promise<Buffer>;
  /** Headers that override the common ones. */
  headers?: Record<string, string>;
}

/** Headers of a file that browsers may cache, but must revalidate each time. */
export const REVALIDATE_HEADERS = { 'Cache-Control': 'no-cache' };

export function createFileSender(files: ReadonlyMap<string, PublishedFile>): SendFile {
  const etags = new Map<PublishedFile, string>();
  return async (ctx) => {
    const file = files.get(ctx.path);
    if (file === undefined) throw new AppError('not_found');
    const etag = etags.get(file) ?? etagOf(file);
    etags.set(file, etag);
    ctx.status = 200;
    ctx.set({ ...file.headers, ETag: etag, 'Content-Type': file.type });
    if (file.pack !== undefined) ctx.vary('Accept-Encoding');
    if (ctx.fresh) ctx.status = 304;
    else if (file.pack === undefined || ctx.acceptsEncodings('gzip', 'identity') !== 'gzip')
      ctx.body = file.content;
    else {
      ctx.set('Content-Encoding', 'gzip');
      ctx.body = await file.pack();
    }
  };
}

function readAsset(type: string, path: string | URL): PublishedFile {
  return { type, content: readFileSync(path), headers: REVALIDATE_HEADERS };
}

export function readScript(path: string | URL): PublishedFile {
  return readAsset('text/javascript; charset=utf-8', path);
}

export function readStyle(path: string | URL): PublishedFile {
  return readAsset('text/css; charset=utf-8', path);
}

/** `policy` is the page's Content-Security-Policy. */
export function pageFile(page: Html, policy: string, headers: Record<string, string> = {}): PublishedFile {
  return {
    type: 'text/html; charset=utf-8',
    content: Buffer.from(page.text),
    headers: {
      ...REVALIDATE_HEADERS,
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'no-referrer',
      ...headers,
    },
  };
}

const gzipInThread = promisify(gzip);

/** Compresses the file in a thread, when the first client asks for gzip. */
export function withGzip(file: PublishedFile): PublishedFile {
  let compressed: Promise<Buffer> | undefined;
  const pack = () => {
    compressed ??= gzipInThread(file.content, { level: 9 });
    return compressed;
  };
  return { ...file, pack };
}

/** Weak, because the compressed content has the same ETag. */
function etagOf({ content }: PublishedFile): string {
  return `W/"${createHash('sha256').update(content).digest('base64url')}"`;
}
