import { setImmediate as nextTurn } from 'node:timers/promises';

/** About a millisecond of a page of metrics. */
const SLICE_CHARACTERS = 32 << 10;

/** The same text in pieces of about 32 KiB. */
export function* joined(pieces: Iterable<string>): Generator<string> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < SLICE_CHARACTERS) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** The same pieces, with other work of the process in between, which a long text written at once would delay. */
export async function* inSlices(pieces: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    yield piece;
    await nextTurn();
  }
}
