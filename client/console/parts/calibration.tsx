import type { ReplyCalibration } from '../../src/api.ts';
import { number, percent, t } from '../strings/index.ts';
import { FigureTable } from './figure-table.tsx';
import { Card } from './ui.tsx';

type Bin = ReplyCalibration['bins'][number];

/** 97.5th percentile of the standard normal distribution. */
const Z = 1.96;
/** Side and margin of the plot, in its own units. */
const PLOT_SIDE = 320;
const PLOT_MARGIN = 48;

export function Calibration({ calibration }: { calibration: ReplyCalibration }) {
  const { bins } = calibration;
  const { noCalibration, calibrationLead, stated, observed, between, count } = t.overview;
  return (
    <Card title={t.overview.calibration}>
      {bins.length === 0 ? (
        <p class="quiet">{noCalibration}</p>
      ) : (
        <div class="columns">
          <div>
            <Plot bins={bins} />
          </div>
          <div>
            <p>{calibrationLead}</p>
            <FigureTable
              title={t.overview.calibration}
              heads={[stated, observed, between, count]}
              rows={bins.map((bin) => [
                percent(bin.mean_confidence),
                percent(bin.observed),
                intervalOf(bin).map(percent).join(' – '),
                number(bin.count),
              ])}
            />
          </div>
        </div>
      )}
    </Card>
  );
}

function Plot({ bins }: { bins: Bin[] }) {
  const x = (share: number) => PLOT_MARGIN + share * (PLOT_SIDE - 2 * PLOT_MARGIN);
  const y = (share: number) => PLOT_SIDE - x(share);
  const maximum = Math.max(...bins.map(({ count }) => count));
  return (
    <svg
      class="plot"
      viewBox={`0 0 ${PLOT_SIDE} ${PLOT_SIDE}`}
      role="img"
      aria-label={t.overview.calibration}
    >
      {[0, 0.25, 0.5, 0.75, 1].map((share) => (
        <g key={share}>
          <path class="grid" d={`M${x(share)} ${y(0)}V${y(1)}M${x(0)} ${y(share)}H${x(1)}`} />
          <text x={x(share)} y={y(0) + 16} text-anchor="middle">
            {percent(share)}
          </text>
          <text x={x(0) - 6} y={y(share) + 4} text-anchor="end">
            {percent(share)}
          </text>
        </g>
      ))}
      <path class="ideal" d={`M${x(0)} ${y(0)}L${x(1)} ${y(1)}`} />
      {bins.map((bin) => {
        const [low, high] = intervalOf(bin);
        const at = x(bin.mean_confidence);
        return (
          <g key={bin.lo}>
            <path
              class="interval"
              d={`M${at} ${y(low)}V${y(high)}M${at - 4} ${y(low)}h8M${at - 4} ${y(high)}h8`}
            />
            <circle cx={at} cy={y(bin.observed)} r={4 + 4 * Math.sqrt(bin.count / maximum)}>
              <title>{titleOf(bin)}</title>
            </circle>
          </g>
        );
      })}
      <text x={PLOT_SIDE / 2} y={PLOT_SIDE - 2} text-anchor="middle">
        {t.overview.stated}
      </text>
      <text x={10} y={PLOT_SIDE / 2} text-anchor="middle" transform={`rotate(-90 10 ${PLOT_SIDE / 2})`}>
        {t.overview.observed}
      </text>
    </svg>
  );
}

function titleOf({ mean_confidence, observed, count }: Bin): string {
  return `${t.overview.stated} ${percent(mean_confidence)}, ${t.overview.observed} ${percent(observed)} (${number(count)})`;
}

/** Returns the 95 % confidence interval for a bin's share of right predictions (Wilson, 1927). */
function intervalOf({ observed, count }: Bin): [low: number, high: number] {
  const square = Z ** 2 / count;
  const middle = (observed + square / 2) / (1 + square);
  const half = (Z * Math.sqrt((observed * (1 - observed)) / count + square / (4 * count))) / (1 + square);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
