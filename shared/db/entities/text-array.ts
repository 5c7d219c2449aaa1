import { ArrayType } from '@mikro-orm/core';

/**
 * An array of any texts, stored with quotes around each. The library's own type leaves most texts without quotes, so
 * that PostgreSQL reads the text `null` as NULL and drops blanks around other texts (its manual, 8.15.2). Where that
 * type adds quotes, it escapes as JSON does, which is not PostgreSQL's way.
 */
export class TextArray extends ArrayType {
  override convertToDatabaseValue(value: string[] | null): string | null {
    return value && `{${value.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`;
  }
}
