import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type FieldFault, ForecueError } from '../../src/errors.ts';
import { t } from '../strings/index.ts';
import type { Action } from './hooks.ts';

interface TitleProps {
  children: string;
  lead?: string;
  /** Controls at the end of the line. */
  tools?: ComponentChildren;
}

export function Title({ children, lead, tools }: TitleProps) {
  return (
    <div class="title">
      <div>
        <h1>{children}</h1>
        {lead && <p class="quiet">{lead}</p>}
      </div>
      {tools}
    </div>
  );
}

export function Card({ title, children }: { title?: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={title && id}>
      {title && <h2 id={id}>{title}</h2>}
      {children}
    </section>
  );
}

interface ButtonProps {
  children: ComponentChildren;
  /** Action that the button starts. A button with neither `action` nor `onPress` submits its form. */
  action?: Action;
  onPress?: () => void;
  kind?: 'primary' | 'secondary' | 'link' | 'danger';
  isBusy?: boolean;
  label?: string;
  /** Key that presses the button; only the inbox listens for it. */
  shortcut?: string | undefined;
}

export function Button({ children, action, onPress, kind = 'secondary', isBusy, ...rest }: ButtonProps) {
  const { label, shortcut } = rest;
  const press = action ? () => action.run() : onPress;
  return (
    <button
      type={press ? 'button' : 'submit'}
      class={kind}
      aria-label={label}
      aria-keyshortcuts={shortcut}
      aria-disabled={(isBusy ?? action?.isBusy) || undefined}
      onClick={press}
    >
      {children}
    </button>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onInput?(value: string): void;
  /** Called when the person has finished a change. */
  onChange?(value: string): void;
  /** What a screen reader says instead of the label, where several fields have the same. */
  spoken?: string;
  type?: 'text' | 'password' | 'email' | 'number' | 'date';
  hint?: string | undefined;
  fault?: string | undefined;
  autocomplete?: string;
  required?: boolean;
  rows?: number;
  /** Of a number. */
  min?: string;
  max?: string;
  step?: string;
}

type FieldEvent = { currentTarget: { value: string } };

export function Field({ label, value, type = 'text', hint, fault, rows, ...props }: FieldProps) {
  const { onInput, onChange, spoken, ...rest } = props;
  const id = useId();
  const shared = {
    id,
    value,
    onInput: ({ currentTarget }: FieldEvent) => onInput?.(currentTarget.value),
    onChange: ({ currentTarget }: FieldEvent) => onChange?.(currentTarget.value),
    'aria-label': spoken,
    spellcheck: rows !== undefined,
    'aria-invalid': fault !== undefined || undefined,
    'aria-describedby': (fault ?? hint) && `${id}-note`,
    ...rest,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <input
          {...shared}
          // TypeScript ties an input's props to its type. The props set here are valid for all types used.
          type={type as 'text'}
          autocapitalize="none"
        />
      ) : (
        <textarea {...shared} rows={rows} />
      )}
      {(fault ?? hint) && (
        <p id={`${id}-note`} class={fault ? 'fault' : 'quiet'} role={fault ? 'alert' : undefined}>
          {fault ?? hint}
        </p>
      )}
    </div>
  );
}

export function ErrorNote({ error, again }: { error: unknown; again?: () => void }) {
  const knownError = error instanceof ForecueError ? error : undefined;
  // The bar of `away.tsx` says it once for all parts of the page.
  if (error === undefined || knownError?.code === 'network_error') return null;
  return (
    <div class="alert fault" role="alert">
      <p>{explanationOf(error)}</p>
      {knownError?.requestId && knownError.remedy === 'report' && (
        <p class="small">{t.requestId(knownError.requestId)}</p>
      )}
      {again && (
        <Button kind="link" onPress={again}>
          {t.again}
        </Button>
      )}
    </div>
  );
}

/** Uses the server's message for a code without a sentence in `t.errors`. */
function explanationOf(error: unknown): string {
  if (!(error instanceof ForecueError)) return t.errors.internal_error;
  const { code, message, fields } = error;
  if (code === 'validation_error')
    return [t.errors.validation_error, ...new Set(fields.map(faultText))].join(' ');
  return sentenceOf(code, message);
}

export function sentenceOf(code: string, otherwise = t.errors.internal_error): string {
  const sentences: Partial<Record<string, string>> = t.errors;
  return sentences[code] ?? otherwise;
}

export function faultOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof ForecueError)) return undefined;
  const fault = error.fields.find(({ loc }) => loc.at(-1) === field);
  return fault && faultText(fault);
}

/**
 * The validator speaks English to developers; people get their own language, or less detail: what is wrong with a value
 * of this type, or else with this field.
 */
function faultText({ type, ctx, loc }: FieldFault): string {
  const limits: Record<string, unknown> = { ...ctx };
  const texts: Partial<Record<string, (limit: string) => string>> = t.faults;
  const limit = limits['min_length'] ?? limits['max_length'] ?? limits['ge'] ?? limits['le'] ?? '';
  const text = texts[type] ?? texts[String(loc.at(-1))] ?? t.faults.other;
  return text(String(limit));
}

/** Shows an error unless a field of the form shows it. */
export function FormError({ error, fields }: { error: unknown; fields: readonly string[] }) {
  return fields.some((field) => faultOf(error, field) !== undefined) ? null : <ErrorNote error={error} />;
}

export function SuccessNote({ children }: { children: ComponentChildren }) {
  return (
    <p class="alert good" role="status">
      {children}
    </p>
  );
}

/** Small facts in one line; empty ones are left out. */
export function Facts({ of }: { of: readonly (string | null | undefined | false)[] }) {
  return (
    <p class="quiet small">
      {of
        .filter((one) => !!one)
        .map((one, at) => (
          <>
            {at > 0 && ' · '}
            <bdi>{one}</bdi>
          </>
        ))}
    </p>
  );
}

/** Says for some seconds what was done, wherever the page is scrolled to. */
export function Toast({ children }: { children: ComponentChildren }) {
  return (
    <p class="toast" role="status">
      {children}
    </p>
  );
}

export function EmptyNote({ text, href, link }: { text: string; href?: string; link?: string }) {
  return (
    <div class="empty">
      <p>{text}</p>
      {href && (
        <a class="button secondary" href={href}>
          {link}
        </a>
      )}
    </div>
  );
}

const SHORTENED_LENGTH = 600;

/** Uses `bdi`, so that right-to-left text does not change the direction of the page around it. */
export function LongText({ children }: { children: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = children.length > SHORTENED_LENGTH;
  return (
    <>
      <bdi class="words">
        {isLong && !isWhole ? `${children.slice(0, SHORTENED_LENGTH).toWellFormed()}…` : children}
      </bdi>
      {isLong && !isWhole && (
        <Button kind="link" onPress={() => setWhole(true)}>
          {t.all}
        </Button>
      )}
    </>
  );
}
