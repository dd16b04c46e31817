/** How many octets of UTF-8 the text has: what the API server and etcd count. */
export function octetsOf(text: string): number {
  let octets = 0;
  for (const character of text) octets += octetsOfCharacter(character);
  return octets;
}

/**
 * The text if it has at most so many octets, else its beginning and `...`, together within them. No character is cut in two.
 *
 * @param mostOctets - 3 or more.
 */
export function cutText(text: string, mostOctets: number): string {
  if (octetsOf(text) <= mostOctets) return text;
  let kept = '';
  let octets = '...'.length;
  for (const character of text) {
    octets += octetsOfCharacter(character);
    if (octets > mostOctets) break;
    kept += character;
  }
  return `${kept}...`;
}

const MOST_QUOTED_OCTETS = 64;

/** Text that another program wrote, as a message shows it: in quotation marks, control characters escaped, cut after 64 octets. */
export function quote(text: string): string {
  return JSON.stringify(cutText(text, MOST_QUOTED_OCTETS));
}

function octetsOfCharacter(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
