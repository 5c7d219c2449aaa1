import { type Part, partOf } from './permission.ts';
import { folderOf, levelOfDeleting, levelOfReading, levelOfWriting, type Place } from './places.ts';

/** Reading is alike within a project, writing within a folder; deleting only where the path is the same. */
export function partOfPath(verb: 'read' | 'write' | 'delete', place: Place): Part {
  if (verb === 'delete') return partOf(levelOfDeleting(place), [verb, place.path]);
  const level = verb === 'read' ? levelOfReading(place) : levelOfWriting(place);
  if (level !== 'ordinary' || place.kind !== 'inside') return partOf(level, [verb, place.path]);
  return partOf(level, verb === 'read' ? [verb] : [verb, folderOf(place)]);
}

/** Fetching is alike from one host. A query may carry data out. */
export function partOfUrl(address: string): Part {
  const url = URL.parse(address);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && !/(^|\.)xn--/.test(url.hostname);
  if (!isPlain || url.username !== '' || url.password !== '' || /[^!-~]/.test(address))
    return partOf('never', ['fetch', address]);
  const isLong = url.search !== '' || url.pathname.length > 200;
  return partOf(isLong ? 'strict' : 'ordinary', ['fetch', url.host], ['fetch', isLong ? url.href : url.host]);
}
