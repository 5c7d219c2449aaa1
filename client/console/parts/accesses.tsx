import type { AccessEntry } from '../../src/api.ts';
import { dayOf, moment, t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useLoad, useParameter } from './hooks.ts';
import { Loading } from './loading.tsx';
import { usePages } from './pages.ts';
import { Rows } from './rows.tsx';
import { Button, EmptyNote, ErrorNote, Facts } from './ui.tsx';

const PAGE_ROWS = 100;

/** Who read what of the account, by day. The chosen reader is in the address. */
export function Accesses() {
  const { client } = useSignedIn();
  const [readerId, setReaderId] = useParameter('reader');
  const readers = useLoad(
    async () => distinctReaders((await client.listAccesses({ limit: 500 })).results),
    [],
  );
  const { first, rows, hasMore, more } = usePages(
    (cursor) =>
      client.listAccesses({ limit: PAGE_ROWS, ...(readerId !== '' && { reader_id: readerId }), ...cursor }),
    [readerId],
  );
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
      <Loading of={first} lines={1} />
      <Rows
        label={t.accesses.title}
        rows={first.value && rows}
        empty={<EmptyNote text={t.accesses.empty} />}
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
      {hasMore && <Button action={more}>{t.accesses.more}</Button>}
      <ErrorNote error={more.error} />
    </section>
  );
}

function distinctReaders(rows: readonly AccessEntry[]): AccessEntry[] {
  return [...new Map(rows.map((one) => [one.reader_id, one])).values()];
}

function nameOf({ reader, name }: AccessEntry): string {
  return reader === 'log_in' ? t.accesses.yourself : name || t.accesses.unnamed;
}
