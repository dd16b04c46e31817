import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventStreamParser, type StreamEvent } from './event-stream.js';

function parse(...pieces: readonly string[]): StreamEvent[] {
  const parser = new EventStreamParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

describe('a stream of server-sent events (HTML Living Standard §9.2.6)', () => {
  it.each<[string, string, StreamEvent[]]>([
    ['an event with a kind', 'event: pools\ndata: {}\n\n', [{ event: 'pools', data: '{}' }]],
    ['an event without a kind is a message', 'data: x\n\n', [{ event: 'message', data: 'x' }]],
    ['several lines of data', 'data: a\ndata: b\n\n', [{ event: 'message', data: 'a\nb' }]],
    ['CRLF', 'event: a\r\ndata: b\r\n\r\n', [{ event: 'a', data: 'b' }]],
    ['CR', 'event: a\rdata: b\r\rx', [{ event: 'a', data: 'b' }]],
    ['without a space after the colon', 'data:x\n\n', [{ event: 'message', data: 'x' }]],
    ['a second space belongs to the data', 'data:  x\n\n', [{ event: 'message', data: ' x' }]],
    ['a comment is not an event', ': keep-alive\n\n', []],
    ['an event without data is ignored', 'event: pools\n\n', []],
    ['an event that is not complete', 'event: pools\ndata: {}\n', []],
    ['other fields', 'id: 1\nretry: 5\nwhat\ndata: x\n\n', [{ event: 'message', data: 'x' }]],
  ])('%s', (_title, text, events) => {
    expect(parse(text)).toEqual(events);
  });

  it('law: the result does not depend on where the pieces end', () => {
    const text = 'event: hello\r\ndata: {"a":1}\r\n\r\n: comment\n\nevent: pool\ndata: b\ndata: c\n\ndata: last\r\r';
    // A CR at the very end may be the first half of CRLF: the line ends with what follows.
    const whole = parse(text, 'x');
    expect(whole).toHaveLength(3);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: text.length })), (cuts) => {
        const ends = [...new Set(cuts), text.length].sort((one, other) => one - other);
        const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
        expect(parse(...pieces, 'x')).toEqual(whole);
      }),
    );
  });
});
