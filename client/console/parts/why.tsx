import type { AccountClient, MemorySource } from '../../src/api.ts';
import { ForecueError } from '../../src/errors.ts';
import { moment, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useLoad } from './hooks.ts';
import { Skeleton } from './loading.tsx';
import { type Quote, Quotes } from './quotes.tsx';
import { ErrorNote, Facts, LongText } from './ui.tsx';

const USES_MAX = 5;

/** The chain: messages and episodes, the fact, what it replaced, and the predictions that used it. */
export function Why({ id }: { id: string }) {
  return (
    <section aria-label={t.memory.why}>
      <h2>{t.memory.why}</h2>
      <Sources id={id} />
    </section>
  );
}

function Sources({ id }: { id: string }) {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(async () => {
    const [fact, { results: replaced }, { results: uses, total }] = await Promise.all([
      client.readFact(id),
      client.listFacts({ superseded_by: id, limit: 20 }),
      client.listReplies({ fact_id: id, limit: USES_MAX }),
    ]);
    const quotes = await Promise.all(fact.sources.map((source) => quoteOf(client, source)));
    return {
      quotes: quotes.filter((quote) => quote !== undefined),
      replaced,
      uses,
      more: total - uses.length,
    };
  }, [id]);
  if (error !== undefined) return <ErrorNote error={error} again={again} />;
  if (value === undefined) return <Skeleton />;
  const { quotes, replaced, uses, more } = value;
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
      {uses.length > 0 && (
        <>
          <p class="small">{t.memory.used}</p>
          <ul class="quotes">
            {uses.map(({ id, question, predicted_response, created_at }) => (
              <li key={id}>
                <bdi class="words">{question}</bdi>
                <Facts of={[predicted_response || t.overview.nothing, moment(created_at)]} />
              </li>
            ))}
          </ul>
          {more > 0 && <p class="quiet small">{t.memory.usedMore(more)}</p>}
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
