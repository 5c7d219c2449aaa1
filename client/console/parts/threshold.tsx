import { useId, useState } from 'preact/hooks';
import type { ReplyCalibration } from '../../src/api.ts';
import { percent, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useDebounced, useLoad, useSaves } from './hooks.ts';
import { Card, ErrorNote, Toast } from './ui.tsx';

const DEBOUNCE_MS = 150;
const TARGET_PERCENT = { min: 50, max: 99 };

/** Shows what the target of precision means, and stores it for the account. */
export function Threshold({ calibration }: { calibration: ReplyCalibration }) {
  const { client } = useSignedIn();
  const id = useId();
  const [target, setTarget] = useState(Math.round(100 * calibration.evidence.target));
  const [savedTarget, setSaved] = useState(target);
  const settledTarget = useDebounced(target, DEBOUNCE_MS);
  const { value, error, again } = useLoad(
    () => client.readReplyCalibration({ target: settledTarget / 100 }),
    [settledTarget, calibration.feedback_count],
  );
  const saving = useSaves(async (chosen: number) => {
    await client.changeAccount({ precision_target: chosen / 100 });
    setSaved(chosen);
  });
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
          onChange={({ currentTarget }) => saving.run(Number(currentTarget.value))}
        />
        <output for={id}>{percent(target / 100)}</output>
      </div>
      <div id={`${id}-says`} role="status">
        {value && <ThresholdEffect calibration={value} />}
      </div>
      {saving.error === undefined &&
        savedTarget === target &&
        target / 100 !== calibration.evidence.target && <Toast>{t.saved}</Toast>}
      <ErrorNote error={error ?? saving.error} again={again} />
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
