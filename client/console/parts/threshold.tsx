import { useId, useState } from 'preact/hooks';
import type { ReplyCalibration } from '../../src/api.ts';
import { percent, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useDebounced, useLoad } from './hooks.ts';
import { Card, ErrorNote } from './ui.tsx';

const DEBOUNCE_MS = 150;
const TARGET_PERCENT = { min: 50, max: 99, initial: 95 };

/** Reloads the calibration when `decisions`, the number of decisions, changes. */
export function Threshold({ decisions }: { decisions: number }) {
  const { client } = useSignedIn();
  const id = useId();
  const [target, setTarget] = useState(TARGET_PERCENT.initial);
  const settledTarget = useDebounced(target, DEBOUNCE_MS);
  const { value, error, again } = useLoad(
    () => client.readReplyCalibration({ target: settledTarget / 100 }),
    [settledTarget, decisions],
  );
  return (
    <Card title={t.threshold.title}>
      <p class="quiet">{t.threshold.lead}</p>
      <div class="slider">
        <label for={id}>{t.threshold.target}</label>
        <input
          id={id}
          type="range"
          min={TARGET_PERCENT.min}
          max={TARGET_PERCENT.max}
          value={target}
          aria-valuetext={percent(target / 100)}
          aria-describedby={`${id}-says`}
          onInput={(event) => setTarget(Number(event.currentTarget.value))}
        />
        <output for={id}>{percent(target / 100)}</output>
      </div>
      <div id={`${id}-says`} role="status">
        {value && <ThresholdEffect calibration={value} />}
      </div>
      <ErrorNote error={error} again={again} />
    </Card>
  );
}

function ThresholdEffect({
  calibration: { suggested_threshold: from, evidence },
}: {
  calibration: ReplyCalibration;
}) {
  const { labels, coverage, precision, precision_low: low, precision_high: high, reason } = evidence;
  const { words, reasons } = t.threshold;
  if (from === null) return <p>{reasons[reason ?? 'not_precise_enough']}</p>;
  return (
    <>
      <p>{words.from(percent(from))}</p>
      <dl class="figures">
        <div>
          <dt>{words.coverage(labels)}</dt>
          <dd>{percent(coverage ?? 0)}</dd>
        </div>
        <div>
          <dt>{words.precision(percent(low ?? 0), percent(high ?? 1))}</dt>
          <dd>{percent(precision ?? 0)}</dd>
        </div>
      </dl>
    </>
  );
}
