/** Minutes ahead of UTC. Zones without a row are taken for the zone of this machine. */
const ZONES: Readonly<Record<string, number>> = {
  UTC: 0,
  GMT: 0,
  WEST: 60,
  BST: 60,
  CET: 60,
  MEZ: 60,
  CEST: 120,
  MESZ: 120,
  EET: 120,
  EEST: 180,
  MSK: 180,
  JST: 540,
  AKDT: -480,
  AKST: -540,
  EDT: -240,
  EST: -300,
  CDT: -300,
  CST: -360,
  MDT: -360,
  MST: -420,
  PDT: -420,
  PST: -480,
};
const AMERICAN_ZONE = /\b(?:AK|[ECMP])[DS]T\b/;
const DATE = /(\d{1,4})[./-] ?(\d{1,2})[./-] ?(\d{1,4})/;
const CLOCK = /(\d{1,2})(?::|시 )(\d{2})(?::|분 )(\d{1,2})/;
const OFFSET = /(?:GMT|UTC)([+-]\d{1,2})(?::(\d\d))?/;

/**
 * Reads the time of a Cursor export, such as `10/17/2025 at 01:05:09 GMT+4` or `30.6.2025 at 20:14:22 MESZ`, in the
 * order of the exporting editor's language. Of two possible orders the month is first where the file looks American:
 * no leading zeros, and an American zone or an offset from GMT.
 */
export function exportTime(shown: string): string | undefined {
  const [, hours, minutes, seconds] = CLOCK.exec(shown) ?? [];
  const date = dateIn(shown);
  if (date === undefined || hours === undefined) return undefined;
  const clock = [hours, minutes, seconds].map((part) => String(part).padStart(2, '0')).join(':');
  const offset = offsetIn(shown);
  const local = Date.parse(`${date}T${clock}${offset === undefined ? '' : 'Z'}`);
  return Number.isNaN(local) ? undefined : new Date(local - (offset ?? 0) * 60_000).toISOString();
}

/** Returns the date as in ISO 8601. */
function dateIn(shown: string): string | undefined {
  const [whole = '', first = '', second = '', third = ''] = DATE.exec(shown) ?? [];
  if (first.length === 4) return isoDate(first, second, third);
  if (third.length !== 4) return undefined;
  const looksAmerican =
    whole.includes('/') && !/(^|\/)0/.test(whole) && (AMERICAN_ZONE.test(shown) || OFFSET.test(shown));
  const isMonthFirst = Number(second) > 12 || (looksAmerican && Number(first) <= 12);
  return isMonthFirst ? isoDate(third, first, second) : isoDate(third, second, first);
}

function isoDate(year: string, month: string, day: string): string {
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** Returns minutes ahead of UTC; undefined if the zone is unknown. */
function offsetIn(shown: string): number | undefined {
  const [, hours, minutes = '0'] = OFFSET.exec(shown) ?? [];
  if (hours !== undefined) return Number(hours) * 60 + Math.sign(Number(hours)) * Number(minutes);
  const [zone] = /\b[A-Z]{2,4}\b/.exec(shown) ?? [];
  return zone === undefined ? undefined : ZONES[zone];
}
