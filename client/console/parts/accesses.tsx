import { useState } from 'preact/hooks';
import type { AccessEntry } from '../../src/api.ts';
import { dayOf, moment, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useAction, useLoad, useParameter } from './hooks.ts';
import { Rows } from './rows.tsx';
import { Button, EmptyNote, ErrorNote, Facts, Skeleton } from './ui.tsx';

const PAGE_ROWS = 100;

/** Who read what of the account, by day. The chosen reader is in the address. */
export function Accesses() {
  const { client } = useSignedIn();
  const [readerId, setReaderId] = useParameter('reader');
  const readers = useLoad(
    async () => distinctReaders((await client.listAccesses({ limit: 500 })).results),
    [],
  );
  const page = (cursor?: string | null) =>
    client.listAccesses({
      limit: PAGE_ROWS,
      ...(readerId !== '' && { reader_id: readerId }),
      ...(cursor && { cursor }),
    });
  const { value: first, error, again } = useLoad(() => page(), [readerId]);
  const [later, setLater] = useState<{ after: typeof first; rows: AccessEntry[]; next: string | null }>();
  const more = later !== undefined && later.after === first ? later : undefined;
  const rows = [...(first?.results ?? []), ...(more?.rows ?? [])];
  const next = more ? more.next : (first?.next ?? null);
  const loading = useAction(async () => {
    const { results, next: following } = await page(next);
    setLater({ after: first, rows: [...(more?.rows ?? []), ...results], next: following });
  });
  return (
    <section aria-labelledby="accesses">
      <h2 id="accesses">{t.accesses.title}</h2>
      <p class="quiet">{t.accesses.lead}</p>
      {readers.value && readers.value.length > 1 && (
        <div class="field">
          <label for="reader">{t.accesses.of}</label>
          <select
            id="reader"
            value={readerId}
            onChange={({ currentTarget }) => setReaderId(currentTarget.value)}
          >
            <option value="">{t.accesses.everybody}</option>
            {readers.value.map((one) => (
              <option key={one.reader_id} value={one.reader_id}>
                {nameOf(one)}
              </option>
            ))}
          </select>
        </div>
      )}
      <ErrorNote error={error} again={again} />
      {first === undefined && error === undefined && <Skeleton lines={1} />}
      {first && rows.length === 0 && <EmptyNote text={t.accesses.empty} />}
      {rows.length > 0 && (
        <Rows
          label={t.accesses.title}
          rows={rows}
          idOf={({ day, reader_id, tier }) => `${day} ${reader_id} ${tier}`}
          view={(one) => ({
            title: nameOf(one),
            note: t.accesses.tiers[one.tier],
            marks: [t.accesses.rows(one.rows)],
            at: one.last_at,
          })}
          detail={(one) => (
            <>
              <h2>
                <bdi>{nameOf(one)}</bdi>
              </h2>
              <Facts
                of={[
                  t.accesses.readers[one.reader],
                  t.accesses.tiers[one.tier],
                  dayOf(one.day),
                  t.accesses.reads(one.reads),
                  t.accesses.rows(one.rows),
                  t.accesses.last(moment(one.last_at)),
                ]}
              />
            </>
          )}
        />
      )}
      {next !== null && <Button action={loading}>{t.accesses.more}</Button>}
      <ErrorNote error={loading.error} />
    </section>
  );
}

function distinctReaders(rows: readonly AccessEntry[]): AccessEntry[] {
  return [...new Map(rows.map((one) => [one.reader_id, one])).values()];
}

function nameOf({ reader, name }: AccessEntry): string {
  return reader === 'log_in' ? t.accesses.yourself : name || t.accesses.unnamed;
}
