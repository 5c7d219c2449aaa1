import { useState } from 'preact/hooks';

interface CheckProps {
  label: string;
  isOn: boolean;
  /** Resolves once the change is stored or has failed. */
  onChange(isOn: boolean): void | Promise<void>;
}

/** Shows at once what is chosen, and from the end of `onChange` on what is stored. */
export function Check({ label, isOn, onChange }: CheckProps) {
  const [chosen, setChosen] = useState<boolean>();
  const change = async (to: boolean) => {
    setChosen(to);
    await onChange(to);
    setChosen((now) => (now === to ? undefined : now));
  };
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={chosen ?? isOn}
        onChange={({ currentTarget }) => change(currentTarget.checked)}
      />
      {label}
    </label>
  );
}
