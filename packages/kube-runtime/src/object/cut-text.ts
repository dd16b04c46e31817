/** Bounds for text, in octets of UTF-8: what the API server and etcd count. */

/** The maximum octets of the message of a condition or an Event: the API server refuses an Event with a longer note. */
export const MOST_MESSAGE_OCTETS = 1_024;
/** The maximum octets of the reason of either. */
export const MOST_REASON_OCTETS = 128;

/** How many octets of UTF-8 the text has. */
export function octetsOf(text: string): number {
  let octets = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) octets += unit < 0x800 ? 1 : 2;
    // Two units of UTF-16 are four octets.
    if (unit >= 0xd800 && unit < 0xdc00 && (text.codePointAt(index) ?? 0) > 0xffff) index++;
  }
  return octets;
}

/**
 * The text if it has at most so many octets, else its beginning and `...`. No character is cut in two.
 *
 * @param mostOctets - 3 or more.
 */
export function cutText(text: string, mostOctets: number): string {
  // No UTF-16 unit has more than three octets.
  if (text.length * 3 <= mostOctets) return text;
  let [octets, length, kept] = [0, 0, 0];
  for (const character of text) {
    octets += octetsOfCharacter(character);
    if (octets > mostOctets) return `${text.slice(0, kept)}...`;
    length += character.length;
    if (octets <= mostOctets - 3) kept = length;
  }
  return text;
}

function octetsOfCharacter(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
