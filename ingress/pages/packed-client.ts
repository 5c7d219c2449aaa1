import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { createFileSender, type PublishedFile, REVALIDATE_HEADERS, type SendFile } from './files.ts';

const PACKED = new URL('../../client/packed/', import.meta.url);

const TYPES: Record<string, string> = { '.tgz': 'application/gzip', '.zip': 'application/zip' };

/**
 * Publishes the client's package and the browser extension, if they were packed here, each with its checksum in the
 * format of `sha256sum`.
 */
export function packedClient(): SendFile {
  const names = existsSync(PACKED) ? readdirSync(PACKED).filter((name) => extname(name) in TYPES) : [];
  return createFileSender(
    new Map(
      names.flatMap((name) => {
        const content = readFileSync(new URL(name, PACKED));
        const checksum = `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
        return [
          fileAt(name, TYPES[extname(name)] ?? '', content),
          fileAt(`${name}.sha256`, 'text/plain; charset=utf-8', Buffer.from(checksum)),
        ];
      }),
    ),
  );
}

function fileAt(name: string, type: string, content: Buffer): [path: string, file: PublishedFile] {
  return [`/client/${name}`, { type, content, headers: REVALIDATE_HEADERS }];
}
