/**
 * Compares links so that `Memory/2` comes before `Memory/10`; services list their members in a changing order. The time grows with the length of the
 * links alone, whatever they contain: a collator of ICU needs seconds for combining marks.
 */
export function naturalOrder(one: string, other: string): number {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  while (isDigit(one, start - 1)) start--;
  const [first, second] = [digitsAt(one, start), digitsAt(other, start)];
  const difference = first === '' || second === '' ? 0 : compareNumbers(first, second);
  return difference || (one < other ? -1 : Number(one > other));
}

function isDigit(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0x30 && code <= 0x39;
}

function digitsAt(text: string, start: number): string {
  let end = start;
  while (isDigit(text, end)) end++;
  return text.slice(start, end);
}

function compareNumbers(one: string, other: string): number {
  const [first, second] = [one.replace(/^0+/, ''), other.replace(/^0+/, '')];
  return first.length - second.length || (first < second ? -1 : Number(first > second));
}
