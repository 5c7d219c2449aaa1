import { type Part, partOf } from './permission.ts';
import { folderOf, levelOfDeleting, levelOfReading, levelOfWriting, type Place } from './places.ts';

/** Reading is alike within a project, writing within a folder; deleting only where the path is the same. */
export function partOfPath(verb: 'read' | 'write' | 'delete', place: Place): Part {
  if (verb === 'delete') return partOf(levelOfDeleting(place), [verb, place.path]);
  const level = verb === 'read' ? levelOfReading(place) : levelOfWriting(place);
  if (level !== 'ordinary' || place.kind !== 'inside') return partOf(level, [verb, place.path]);
  return partOf(level, verb === 'read' ? [verb] : [verb, folderOf(place)]);
}

/** Where machines of clouds say their credentials. */
const METADATA =
  /^(169\.254\.\d+\.\d+|\[::ffff:a9fe:[\da-f]+\]|100\.100\.100\.200|168\.63\.129\.16|192\.0\.0\.192|\[fd00:ec2::254\]|\[fd20:ce::254\]|instance-data|metadata(\.goog|\.google\.internal)?)\.?$/;

/** Fetching is alike from one host. A query may carry data out. Programs do not agree on what `\\` is in an address. */
export function partOfUrl(written: string): Part {
  const address = /^[\w.-]+(:\d+)?(\/|$)/.test(written) ? `http://${written}` : written;
  const url = /^https?:\/\/[^/]/i.test(address) ? URL.parse(address) : null;
  const isPlain =
    url !== null && url.username === '' && url.password === '' && !/(^|\.)xn--/.test(url.hostname);
  if (!isPlain || METADATA.test(url.hostname) || /[^!-~]|\\/.test(address))
    return partOf('never', ['fetch', address]);
  const isLong = url.search !== '' || url.pathname.length > 200;
  return partOf(isLong ? 'strict' : 'ordinary', ['fetch', url.host], ['fetch', isLong ? url.href : url.host]);
}
