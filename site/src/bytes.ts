/** Bytes, and their hexadecimal and URL-safe forms. */

/** `0x0a1b`, white space and `_` allowed, as bytes. Throws a text that says what is wrong. */
export function unhexed(text: string): Uint8Array {
  const digits = text.replace(/[\s_]/g, '').replace(/^0x/i, '');
  const wrong = /[^0-9a-f]/i.exec(digits);
  if (wrong) throw `${JSON.stringify(wrong[0])} is no hexadecimal digit`;
  if (digits.length % 2) throw `an odd number of hexadecimal digits (${digits.length}) makes no bytes`;
  return Uint8Array.from({ length: digits.length / 2 }, (_, at) => parseInt(digits.slice(2 * at, 2 * at + 2), 16));
}

/** Bytes as `0x0a1b`. */
export function hexed(bytes: Uint8Array): string {
  return '0x' + Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Bytes in the alphabet of RFC 4648, section 5, without padding. */
export function base64url(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The bytes of such a text. Throws where it is none. */
export function unbase64url(text: string): Uint8Array {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (char) => char.charCodeAt(0));
}

/** Offset in a text, in its units, of a byte of it as UTF-8. */
export function unitOfByte(text: string, byte: number): number {
  let bytes = 0;
  let at = 0;
  while (at < text.length && bytes < byte) {
    const code = text.codePointAt(at) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += code < 0x10000 ? 1 : 2;
  }
  return at;
}
