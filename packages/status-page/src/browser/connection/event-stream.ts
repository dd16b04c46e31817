/** One event of a `text/event-stream`. */
export interface StreamEvent {
  /** `message` if the server names none. */
  readonly event: string;
  readonly data: string;
}

/**
 * Reads a stream of server-sent events piece by piece. `EventSource` of the platform cannot send `Authorization`, so the page reads the stream itself.
 * Source: HTML Living Standard §9.2.6, "Interpreting an event stream"; `id` and `retry` are not used here.
 */
export class EventStreamParser {
  #rest = '';
  #event = '';
  #data: string[] = [];

  /** The events that are complete with this piece. A piece may end anywhere, between CR and LF too. */
  push(piece: string): StreamEvent[] {
    const text = this.#rest + piece;
    // A CR at the end may be the first half of CRLF.
    const end = text.endsWith('\r') ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\r|\n/);
    this.#rest = (lines.pop() ?? '') + text.slice(end);
    return lines.flatMap((line) => this.#takeLine(line));
  }

  #takeLine(line: string): StreamEvent[] {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#event = value;
    if (field === 'data') this.#data.push(value);
    return [];
  }

  #dispatch(): StreamEvent[] {
    const [event, data] = [this.#event || 'message', this.#data];
    this.#event = '';
    this.#data = [];
    return data.length === 0 ? [] : [{ event, data: data.join('\n') }];
  }
}
