import type { ComponentChildren } from 'preact';

interface ChoicesProps<T extends string> {
  label: string;
  options: readonly { value: T; name: string; lang?: string }[];
  chosen: NoInfer<T>;
  onChoose(value: NoInfer<T>): void;
  children?: ComponentChildren;
}

export function Choices<T extends string>({ label, options, chosen, onChoose, children }: ChoicesProps<T>) {
  return (
    <div class="row choices" role="group" aria-label={label}>
      {options.map(({ value, name, lang }) => (
        <button
          key={value}
          type="button"
          class="secondary"
          lang={lang}
          aria-pressed={value === chosen}
          onClick={() => onChoose(value)}
        >
          {name}
        </button>
      ))}
      {children}
    </div>
  );
}
