import { number, t } from '../strings/index.ts';

interface Stage {
  name: string;
  ms: number;
}

export function Waterfall({ label, stages }: { label: string; stages: readonly Stage[] }) {
  const all = Math.max(
    1,
    stages.reduce((sum, { ms }) => sum + ms, 0),
  );
  let before = 0;
  return (
    <ol class="waterfall" aria-label={label}>
      {stages.map(({ name, ms }) => {
        const start = before;
        before += ms;
        return (
          <li key={name}>
            <span>{name}</span>
            <span class="track">
              <span style={{ marginInlineStart: `${(100 * start) / all}%`, width: `${(100 * ms) / all}%` }} />
            </span>
            <span class="quiet">{t.ms(number(ms))}</span>
          </li>
        );
      })}
    </ol>
  );
}
