import { Composer } from './composer';

export default function Page() {
  return (
    <main>
      <Composer />
    </main>
  );
}
