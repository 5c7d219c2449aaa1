import { useState } from 'preact/hooks';
import { t } from '../strings/index.ts';
import { useAction } from './hooks.ts';
import { Icon, type IconName } from './icons.tsx';
import { Pane } from './pane.tsx';
import { Button, ErrorNote } from './ui.tsx';

interface ConfirmedActionProps {
  label: string;
  of: string;
  question: string;
  act(): Promise<unknown>;
  /** Shown instead of the label. */
  icon?: IconName | undefined;
}

export function ConfirmedAction({ label, of, question, act, icon }: ConfirmedActionProps) {
  const [isAsked, setAsked] = useState(false);
  const action = useAction(() => act().then(() => setAsked(false)));
  const name = of ? `${label}: ${of}` : label;
  return (
    <>
      {icon ? (
        <IconButton icon={icon} label={name} onPress={() => setAsked(true)} />
      ) : (
        <Button kind="link" label={name} onPress={() => setAsked(true)}>
          {label}
        </Button>
      )}
      {isAsked && (
        <Pane kind="ask" label={question} isModal isCalm onClose={() => setAsked(false)}>
          <p>{question}</p>
          {of && (
            <blockquote>
              <bdi>{of}</bdi>
            </blockquote>
          )}
          <div class="row">
            <Button kind="danger" action={action}>
              {label}
            </Button>
            <Button onPress={() => setAsked(false)}>{t.cancel}</Button>
          </div>
          <ErrorNote error={action.error} />
        </Pane>
      )}
    </>
  );
}

interface IconButtonProps {
  icon: IconName;
  label: string;
  isPressed?: boolean;
  onPress(): void;
}

export function IconButton({ icon, label, isPressed, onPress }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}

/** A key or secret that no other answer has. `lead` says so. */
export function Secret({ lead, text }: { lead: string; text: string }) {
  return (
    <div class="alert good" role="status">
      <p>{lead}</p>
      <div class="item">
        <code class="secret">{text}</code>
        <CopyButton key={text} text={text} />
      </div>
    </div>
  );
}

export function CopyButton({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return <Button onPress={copy}>{isCopied ? t.copied : t.copy}</Button>;
}
