import { cutText } from './cut-text.js';

const MOST_OCTETS = 64;

/** Text of another program or person, as a message shows it: in quotation marks, control characters escaped, cut after 64 octets. */
export function quote(text: string): string {
  return JSON.stringify(cutText(text, MOST_OCTETS));
}
