const encoder = new TextEncoder();

/** Renders a Structured Field List of Display Strings (RFC 9651, 4.1.11). */
export function displayStrings(texts: readonly string[]): string {
  return texts.map((text) => `%"${Array.from(encoder.encode(text), encodeByte).join('')}"`).join(', ');
}

function encodeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  const isPlain = byte >= 0x20 && byte < 0x7f && character !== '%' && character !== '"';
  return isPlain ? character : `%${byte.toString(16).padStart(2, '0')}`;
}
