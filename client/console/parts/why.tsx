import { useState } from 'preact/hooks';
import type { AccountClient, MemorySource } from '../../src/api.ts';
import { ForecueError } from '../../src/errors.ts';
import { moment, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useLoad } from './hooks.ts';
import { type Quote, Quotes } from './quotes.tsx';
import { ErrorNote, LongText, Skeleton } from './ui.tsx';

export function Why({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.memory.why}</summary>
      {isOpen && <Sources id={id} />}
    </details>
  );
}

function Sources({ id }: { id: string }) {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(async () => {
    const [fact, { results: replaced }] = await Promise.all([
      client.readFact(id),
      client.listFacts({ superseded_by: id, limit: 20 }),
    ]);
    const quotes = await Promise.all(fact.sources.map((source) => quoteOf(client, source)));
    return { quotes: quotes.filter((quote) => quote !== undefined), replaced };
  }, [id]);
  if (error !== undefined) return <ErrorNote error={error} again={again} />;
  if (value === undefined) return <Skeleton />;
  const { quotes, replaced } = value;
  return (
    <>
      {quotes.length === 0 ? <p class="quiet small">{t.memory.noSources}</p> : <Quotes quotes={quotes} />}
      {replaced.length > 0 && (
        <>
          <p class="small">{t.memory.replaced}</p>
          <ul class="quotes">
            {replaced.map(({ id, text, recorded_at, invalidated_at }) => (
              <li key={id}>
                <LongText>{text}</LongText>
                <p class="quiet small">
                  {t.memory.believed(moment(recorded_at), invalidated_at ? moment(invalidated_at) : '')}
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Returns undefined if the source is gone or has no words. */
async function quoteOf(client: AccountClient, { tier, id, quote }: MemorySource): Promise<Quote | undefined> {
  const { tiers } = t.memory;
  try {
    if (tier === 'raw') {
      const { content, occurred_at, session_id } = await client.readRawMemory(id);
      return { text: quote ?? content, tier: tiers.raw, at: occurred_at, session: session_id };
    }
    if (tier === 'episode') {
      const { summary, ended_at } = await client.readEpisode(id);
      return { text: quote ?? summary, tier: tiers.episodes, at: ended_at };
    }
    return quote === null ? undefined : { text: quote, tier: tiers.facts };
  } catch (error) {
    if (error instanceof ForecueError && error.status === 404) return undefined;
    throw error;
  }
}
