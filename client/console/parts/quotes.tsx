import { moment, t } from '../strings/index.ts';
import { LongText } from './ui.tsx';

/** Text from memory on which a fact or a prediction is based. */
export interface Quote {
  text: string;
  /** Displayed name of the memory tier that the quote is from. */
  tier: string;
  at?: string;
  session?: string | null;
}

/** Shows equal quotes of one tier once, with their number. */
export function Quotes({ quotes }: { quotes: readonly Quote[] }) {
  const groups = Map.groupBy(quotes, ({ text, tier }) => `${tier}\n${text}`);
  return (
    <ul class="quotes">
      {[...groups].map(([key, [first, ...others]]) => (
        <li key={key}>
          <LongText>{first?.text ?? ''}</LongText>
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
