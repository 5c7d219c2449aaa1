import { moment, t } from '../strings/index.ts';
import { Words } from './ui.tsx';

/** Words that something rests on. */
export interface Quote {
  text: string;
  /** The sort of row that has them. */
  tier: string;
  at?: string;
  session?: string | null;
}

/** Quotes, the latest first; the same words are shown once, with how often they were said. */
export function Quotes({ quotes }: { quotes: readonly Quote[] }) {
  const said = Map.groupBy(quotes, ({ text, tier }) => `${tier}\n${text}`);
  return (
    <ul class="quotes">
      {[...said].map(([key, [first, ...others]]) => (
        <li key={key}>
          <Words>{first?.text ?? ''}</Words>
          <p class="quiet small">
            {first?.tier}
            {first?.at && ` · ${moment(first.at)}`}
            {first?.session && (
              <>
                {' · '}
                {t.memory.session} <bdi>{first.session}</bdi>
              </>
            )}
            {others.length > 0 && ` · ${t.times(others.length + 1)}`}
          </p>
        </li>
      ))}
    </ul>
  );
}
