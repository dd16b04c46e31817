/** The octets of ASCII text; characters above 255 are cut to their low octet, so callers pass text they validated. */
export function encodeText(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Latin-1 text up to the first NUL: for people to read, never to be trusted. */
export function decodeText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return String.fromCharCode(...(end < 0 ? bytes : bytes.subarray(0, end)));
}
