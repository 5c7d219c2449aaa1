import type { Static, TObject } from 'typebox';

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type ColumnOf<Name, Value> = Name extends `${string}_at` | 'valid_from' | 'valid_to'
  ? Date | Extract<Value, null>
  : Value extends string
    ? string
    : Value;

/** The row that `present` shapes like this: in camel case, with times as dates and any text for a name. */
export type RowOf<Shape> = {
  [Name in keyof Shape & string as CamelCase<Name>]: ColumnOf<Name, Shape[Name]>;
};

/** The columns of a row that has these properties, unless they are in `Given`. */
type Columns<Properties, Given> = {
  [Name in Exclude<keyof Properties & string, keyof Given> as CamelCase<Name>]: unknown;
};

/**
 * Shapes a row as a schema says: each property is the column of that name, in camel case, or comes from `given`. Trusts
 * the column to have the property's type. A column without a value is null, or left out if the property is optional.
 */
export function present<Schema extends TObject, Given extends Partial<Static<Schema>> = object>(
  schema: Schema,
  row: Columns<Static<Schema>, Given>,
  given?: Given,
): Static<Schema> {
  const columns = row as Record<string, unknown>;
  const required: readonly string[] = schema.required;
  const entries = Object.keys(schema.properties).map((name) => {
    const value = columns[columnOf(name)] ?? null;
    return [name, value instanceof Date ? value.toISOString() : value] as const;
  });
  const answer = Object.fromEntries(
    entries.filter(([name, value]) => value !== null || required.includes(name)),
  );
  return { ...answer, ...given } as Static<Schema>;
}

/** Returns the columns of which `present` shaped `data`: times are dates. */
export function columnsOf({ properties }: TObject, data: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(data).map(([name, value]) => {
    const { format } = properties[name] as { format?: string };
    return [columnOf(name), typeof value === 'string' && format === 'date-time' ? new Date(value) : value];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Removes undefined properties, so that they overwrite and select nothing. */
export function defined<T extends object>(values: T): Defined<T> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}

function columnOf(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
