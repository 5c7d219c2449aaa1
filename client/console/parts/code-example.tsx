import { useState } from 'preact/hooks';
import { CopyButton } from './actions.tsx';
import { Choices } from './choices.tsx';

interface CodeExampleProps<Language extends string> {
  label: string;
  /** The same call in each language, in the order of the choices. */
  texts: Record<Language, string>;
}

/** Example code in the language that the person chooses. */
export function CodeExample<Language extends string>({ label, texts }: CodeExampleProps<Language>) {
  const languages = Object.keys(texts) as Language[];
  const [language, setLanguage] = useState(languages[0] as Language);
  const text = texts[language];
  return (
    <>
      <Choices
        label={label}
        options={languages.map((value) => ({ value, name: value }))}
        chosen={language}
        onChoose={setLanguage}
      >
        <CopyButton key={text} text={text} />
      </Choices>
      <pre>{text}</pre>
    </>
  );
}
