import type { ActivityDay, ActivityResponse, Checks, ReplyStats } from '../../src/api.ts';
import { Calibration } from '../parts/calibration.tsx';
import { Chart } from '../parts/chart.tsx';
import { Choices } from '../parts/choices.tsx';
import { useSignedIn } from '../parts/context.ts';
import { useLoad, useParameter } from '../parts/hooks.ts';
import { Loading } from '../parts/loading.tsx';
import { Recent } from '../parts/recent.tsx';
import { Threshold } from '../parts/threshold.tsx';
import { Title } from '../parts/ui.tsx';
import { money, number, percent, t } from '../strings/index.ts';

const RANGES = ['7', '30', '90'] as const;
/** Characters that a practised person types in a minute: 40 words. */
const TYPED_PER_MINUTE = 200;
const DAY_MS = 24 * 60 * 60 * 1000;

export function Overview() {
  const { client } = useSignedIn();
  const [chosen, setDays] = useParameter('days');
  const days = RANGES.find((one) => one === chosen) ?? '30';
  const loaded = useLoad(
    () =>
      Promise.all([
        client.readReplyStats({ since: new Date(Date.now() - Number(days) * DAY_MS).toISOString() }),
        client.readReplyCalibration(),
        client.readActivity({ days: Number(days), utc_offset_minutes: -new Date().getTimezoneOffset() }),
        client.readMemoryStats(),
      ]),
    [days],
    ['predictions', 'memory'],
  );
  const [stats, calibration, activity, memory] = loaded.value ?? [];
  return (
    <>
      <Title
        tools={
          <Choices
            label={t.overview.range}
            options={RANGES.map((value) => ({ value, name: t.overview.days(value) }))}
            chosen={days}
            onChoose={setDays}
          />
        }
      >
        {t.nav.overview}
      </Title>
      <Loading of={loaded} lines={8} />
      {stats && calibration && activity && memory && (
        <>
          <Figures {...{ stats, activity }} facts={memory.facts.count} />
          <PredictionsChart days={activity.days} />
          <Threshold calibration={calibration} />
          {calibration.bins.length > 0 && <Calibration calibration={calibration} />}
          <SavingsChart days={activity.days} />
          <div class="columns thirds">
            {(['raw', 'episodes', 'facts'] as const).map((tier) => (
              <GrowthChart key={tier} tier={tier} days={activity.days} now={memory[tier].count} />
            ))}
          </div>
          <CostChart days={activity.days} />
        </>
      )}
      <Recent onDecided={loaded.again} />
    </>
  );
}

interface FiguresProps {
  stats: ReplyStats;
  activity: ActivityResponse;
  facts: number;
}

function Figures({ stats, activity, facts }: FiguresProps) {
  const { days, checks, suggestions } = activity;
  const { retained } = suggestions;
  const saved = sum(days.map(({ characters_saved }) => characters_saved));
  return (
    <dl class="figures">
      <Figure
        value={number(saved)}
        name={t.overview.saved}
        note={retained === null ? t.overview.savedNote : t.overview.retainedNote(percent(retained))}
      />
      <Figure
        value={shareOf(stats.automation_rate)}
        name={t.overview.automatic}
        note={checksNote(checks.replies) ?? t.overview.noPrecision(number(stats.total))}
      />
      <Figure
        value={t.overview.minutes(number(Math.round(saved / TYPED_PER_MINUTE)))}
        name={t.overview.time}
        note={t.overview.timeNote}
      />
      <Figure
        value={number(facts)}
        name={t.memory.tiers.facts}
        note={t.overview.added(number(sum(days.map((one) => one.facts))))}
      />
    </dl>
  );
}

type DaysProps = { days: readonly ActivityDay[] };

const datesOf = (days: DaysProps['days']) => days.map(({ date }) => date);
const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);

function PredictionsChart({ days }: DaysProps) {
  const { right, wrong, open } = t.overview.series;
  const series = [
    { name: right, look: 'a', values: days.map(({ by_status: by }) => by.auto + by.accepted) },
    { name: wrong, look: 'b', values: days.map(({ by_status: by }) => by.edited + by.rejected) },
    { name: open, look: 'c', values: days.map(({ by_status: by }) => by.escalated + by.pending) },
  ] as const;
  const all = sum(series.flatMap(({ values }) => values));
  return (
    <Chart
      title={t.overview.perDay}
      dates={datesOf(days)}
      series={series}
      lead={t.overview.perDayLead(number(all), days.length)}
      format={number}
    />
  );
}

function SavingsChart({ days }: DaysProps) {
  const values = days.map(({ characters_saved }) => characters_saved);
  if (sum(values) === 0) return null;
  return (
    <Chart
      title={t.overview.saved}
      dates={datesOf(days)}
      series={[{ name: t.overview.saved, look: 'a', values }]}
      lead={t.overview.savedLead(number(sum(values)))}
      format={number}
    />
  );
}

/** Charts a tier's size at the end of each day: the current size minus the rows added after that day. */
function GrowthChart({ tier, days, now }: DaysProps & { tier: 'raw' | 'episodes' | 'facts'; now: number }) {
  const addedCounts = days.map((one) => one[tier]);
  if (now === 0) return null;
  const values = addedCounts.map((_, at) => Math.max(0, now - sum(addedCounts.slice(at + 1))));
  return (
    <Chart
      title={t.memory.tiers[tier]}
      dates={datesOf(days)}
      series={[{ name: t.memory.tiers[tier], look: 'a', values }]}
      kind="area"
      lead={t.overview.growthLead(number(now), number(sum(addedCounts)))}
      format={number}
    />
  );
}

function CostChart({ days }: DaysProps) {
  const values = days.map(({ cost_cents }) => (cost_cents ?? 0) / 100);
  const calls = sum(days.map(({ model_calls }) => model_calls));
  if (calls === 0) return null;
  const isPartial = days.some(({ cost_cents }) => cost_cents === null);
  return (
    <Chart
      title={t.overview.cost}
      dates={datesOf(days)}
      series={[{ name: t.overview.cost, look: 'a', values }]}
      lead={`${t.overview.costLead(money(sum(values)), number(calls))} ${isPartial ? t.overview.unpriced : ''}`}
      format={money}
    />
  );
}

function Figure({ value, name, note }: { value: string; name: string; note: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd class="quiet small">{note}</dd>
    </div>
  );
}

/** "Acted on" is not "right": only what the person was asked all the same says how much is. */
function checksNote({ precision, precision_low: low, precision_high: high }: Checks): string | undefined {
  if (precision === null || low === null || high === null) return undefined;
  return t.overview.precision(percent(precision), percent(low), percent(high));
}

function shareOf(share: number | null): string {
  return share === null ? '–' : percent(share);
}
