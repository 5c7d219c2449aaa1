import type { ActivityDay } from '../../src/api.ts';
import { Calibration } from '../parts/calibration.tsx';
import { Chart } from '../parts/chart.tsx';
import { useSignedIn } from '../parts/context.ts';
import { useLoad } from '../parts/hooks.ts';
import { Recent } from '../parts/recent.tsx';
import { Threshold } from '../parts/threshold.tsx';
import { ErrorNote, Skeleton, Title } from '../parts/ui.tsx';
import { money, number, percent, t } from '../strings/index.ts';

export function Overview() {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(
    () =>
      Promise.all([
        client.readReplyStats(),
        client.readReplyCalibration(),
        client.readActivity({ utc_offset_minutes: -new Date().getTimezoneOffset() }),
        client.readMemoryStats(),
      ]),
    [],
  );
  const [stats, calibration, activity, memory] = value ?? [];
  return (
    <>
      <Title lead={t.overview.lead}>{t.overview.title}</Title>
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton lines={8} />}
      {stats && calibration && activity && memory && (
        <>
          <dl class="figures">
            <Figure value={number(stats.total)} name={t.overview.total} />
            <Figure value={shareOf(stats.automation_rate)} name={t.overview.automatic} />
            <Figure value={shareOf(stats.precision)} name={t.overview.precision} />
            <Figure value={number(calibration.feedback_count)} name={t.overview.decided} />
          </dl>
          <div class="columns even">
            <div>
              <PredictionsChart days={activity.days} />
            </div>
            <div>
              <SavingsChart days={activity.days} />
            </div>
          </div>
          <Calibration calibration={calibration} />
          <Threshold decisions={calibration.feedback_count} />
          <div class="columns thirds">
            {(['raw', 'episodes', 'facts'] as const).map((tier) => (
              <div key={tier}>
                <GrowthChart tier={tier} days={activity.days} now={memory[tier].count} />
              </div>
            ))}
          </div>
          <CostChart days={activity.days} />
        </>
      )}
      <Recent onDecided={again} />
    </>
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

function Figure({ value, name }: { value: string; name: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function shareOf(share: number | null): string {
  return share === null ? '–' : percent(share);
}
