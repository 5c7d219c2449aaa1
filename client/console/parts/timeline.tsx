import type { SessionList } from '../../src/api.ts';
import { moment, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useLoad } from './hooks.ts';
import { Loading, Skeleton } from './loading.tsx';
import { Rows } from './rows.tsx';
import { EmptyNote, ErrorNote, Facts, LongText } from './ui.tsx';

type Session = SessionList['results'][number];
const placeOf = ({ project, source_detail }: Session) => project ?? source_detail?.split('/').at(-1);
/** The person's first words, or else where, with whom and what else the session is about. */
const nameOf = (session: Session) =>
  session.title ??
  [placeOf(session), session.source, t.timeline.permissions(session.permissions ?? 0)]
    .filter((one) => !!one)
    .join(' · ');

const ROWS_PER_SESSION_MAX = 20;

export function Timeline() {
  const { client } = useSignedIn();
  const sessions = useLoad(() => client.listSessions(), [], ['memory']);
  return (
    <>
      <p class="quiet">{t.timeline.lead}</p>
      <Loading of={sessions} lines={5} />
      <Rows
        label={t.memory.tiers.timeline}
        empty={<EmptyNote text={t.timeline.empty} href="#/start" link={t.nav.start} />}
        rows={sessions.value?.results.toSorted((a, b) => b.started_at.localeCompare(a.started_at))}
        idOf={({ session_id }) => session_id}
        view={(session) => ({
          title: nameOf(session),
          marks: session.title === null ? [] : [placeOf(session) ?? '', session.source].filter(Boolean),
          at: session.started_at,
        })}
        detail={(session) => <SessionMemory key={session.session_id} session={session} />}
      />
    </>
  );
}

interface TimelineRow {
  id: string;
  text: string;
  at: string;
}

function SessionMemory({ session }: { session: Session }) {
  const { session_id, started_at, source, source_detail } = session;
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
    <>
      <h2>
        <bdi>{nameOf(session)}</bdi>
      </h2>
      <Facts of={[moment(started_at), source, source_detail, session.title === null && session_id]} />
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
    </>
  );
}
