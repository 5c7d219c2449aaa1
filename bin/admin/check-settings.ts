import type { AdminConfig } from '../../shared/config/config.ts';
import { SECRETS, SETTING_NAMES } from '../../shared/config/settings.ts';
import { startFaults } from '../../shared/config/start-faults.ts';
import { type Finding, fault, fine } from './checks.ts';

const KNOWN = new Set([...SETTING_NAMES, ...[...SECRETS].map((name) => `${name}_FILE`)]);
/** Variables of other programs that look like one of ours. */
const OTHERS: readonly string[] = ['HTTP_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'];
/** Shorter names are too similar to those of other programs. */
const LENGTH_MIN = 7;

type Fault = readonly [what: string, toDo: string];

/** Judges the settings of this command, which should be those of the processes. */
export async function checkSettings(values: NodeJS.ProcessEnv, config: AdminConfig): Promise<Finding> {
  const faults: Fault[] = [
    ...startFaults(values).map(
      (what): Fault => [what, 'correct it: the processes that read it do not start'],
    ),
    ...unknownSettings(values),
    ...withoutEffect(values),
    ...plainPublicUrl(config),
  ];
  if (faults.length === 0) return fine('none is unknown or malformed');
  const toDo = new Set(faults.map(([, one]) => one));
  return fault(faults.map(([what]) => what).join('; '), [...toDo].join('; '));
}

function* unknownSettings(values: NodeJS.ProcessEnv): Generator<Fault> {
  for (const [name, value] of Object.entries(values)) {
    if (!value || KNOWN.has(name) || OTHERS.includes(name)) continue;
    const nearest = nearestSetting(name);
    if (nearest !== undefined) yield [`there is no ${name}`, `rename ${name}, perhaps to ${nearest}`];
  }
}

function* withoutEffect({ MAIL_FROM, SMTP_URL, SMTP_URL_FILE }: NodeJS.ProcessEnv): Generator<Fault> {
  if (MAIL_FROM && !SMTP_URL && !SMTP_URL_FILE)
    yield ['MAIL_FROM without SMTP_URL: no mail is sent', 'set SMTP_URL, or remove MAIL_FROM'];
}

/** In production, cookies are marked `Secure` only if the address is an `https` one. */
function* plainPublicUrl({ production, publicUrl }: AdminConfig): Generator<Fault> {
  const isPlain = production && publicUrl?.toLowerCase().startsWith('http:');
  if (isPlain && !/^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/i.test(publicUrl ?? ''))
    yield [
      `PUBLIC_URL is not https: ${publicUrl}`,
      'set the https address of your reverse proxy as PUBLIC_URL',
    ];
}

/** Returns the setting that an unknown name most likely means; undefined for a name of another program. */
function nearestSetting(name: string): string | undefined {
  if (name.length < LENGTH_MIN) return undefined;
  const written = name.toUpperCase();
  // Only secrets are read from files.
  const base = written.replace(/_FILE$/, '');
  if (SETTING_NAMES.has(base)) return base;
  const [nearest] = [...KNOWN]
    .map((known) => ({ known, edits: editsBetween(written, known) }))
    .filter(({ known, edits }) => known.length >= LENGTH_MIN && edits <= (known.length < 12 ? 2 : 3))
    .sort((a, b) => a.edits - b.edits);
  return nearest?.known;
}

/** Returns how many letters must be inserted, removed or replaced (Levenshtein's distance). */
function editsBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [at, other] of [...b].entries())
      current.push(
        Math.min(
          (above[at + 1] ?? 0) + 1,
          (current[at] ?? 0) + 1,
          (above[at] ?? 0) + (letter === other ? 0 : 1),
        ),
      );
    above = current;
  }
  return above.at(-1) ?? 0;
}
