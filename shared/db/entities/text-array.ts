import { ArrayType } from '@mikro-orm/core';

/**
 * An array of any texts. The library's own type leaves most elements without quotes, so that PostgreSQL reads the text
 * `null` as NULL and drops blanks around other texts (its manual, 8.15.2); the elements that the type does quote, it
 * escapes as JSON.
 */
export class TextArray extends ArrayType {
  override convertToDatabaseValue(value: string[] | null): string | null {
    return value && `{${value.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`;
  }
}
