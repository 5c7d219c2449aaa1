import { useState } from 'preact/hooks';
import type { Session } from '../../src/api.ts';
import { moment, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useLoad } from './hooks.ts';
import { Card, EmptyNote, ErrorNote, LongText, Skeleton } from './ui.tsx';

const ROWS_PER_SESSION_MAX = 20;

export function Timeline() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.listSessions(), []);
  return (
    <>
      <p class="quiet">{t.timeline.lead}</p>
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton lines={5} />}
      {value?.results.length === 0 && <EmptyNote text={t.timeline.empty} href="#/start" link={t.nav.start} />}
      <ol class="timeline">
        {value?.results.map((session) => (
          <li key={session.session_id}>
            <RecordedSession session={session} />
          </li>
        ))}
      </ol>
    </>
  );
}

function RecordedSession({ session }: { session: Session }) {
  const [isOpen, setOpen] = useState(false);
  const { session_id, source, source_detail, started_at } = session;
  return (
    <Card>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <strong>{moment(started_at)}</strong> · <bdi>{source}</bdi>
          <span class="quiet small">
            <bdi>{source_detail ?? session_id}</bdi>
          </span>
        </summary>
        {isOpen && <SessionMemory session={session} />}
      </details>
    </Card>
  );
}

interface TimelineRow {
  id: string;
  text: string;
  at: string;
}

function SessionMemory({ session: { session_id, started_at } }: { session: Session }) {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(async () => {
    const ofSession = { session_id, limit: ROWS_PER_SESSION_MAX };
    const [raw, episodes] = await Promise.all([
      client.listRawMemory(ofSession),
      client.listEpisodes(ofSession),
    ]);
    const ids = new Set(episodes.results.map(({ id }) => id));
    // Lists the latest 200 facts recorded since the session began. Older facts that it only confirmed are missing.
    const facts = ids.size === 0 ? [] : (await client.listFacts({ since: started_at, limit: 200 })).results;
    return {
      raw: raw.results.map(
        ({ id, content, occurred_at }): TimelineRow => ({ id, text: content, at: occurred_at }),
      ),
      episodes: episodes.results.map(
        ({ id, summary, ended_at }): TimelineRow => ({ id, text: summary, at: ended_at }),
      ),
      facts: facts
        .filter(({ episode_ids }) => episode_ids.some((id) => ids.has(id)))
        .map(({ id, text, recorded_at }): TimelineRow => ({ id, text, at: recorded_at })),
    };
  }, [session_id]);
  if (error !== undefined) return <ErrorNote error={error} again={again} />;
  if (value === undefined) return <Skeleton lines={5} />;
  return (
    <ol class="stages">
      {(['raw', 'episodes', 'facts'] as const).map((tier) => (
        <li key={tier}>
          <h2>{t.memory.tiers[tier]}</h2>
          {value[tier].length === 0 && <p class="quiet small">{t.timeline.none[tier]}</p>}
          <ul class="quotes">
            {value[tier].map(({ id, text, at }) => (
              <li key={id}>
                <LongText>{text}</LongText>
                <p class="quiet small">{moment(at)}</p>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}
