import type { ConnectionState } from '../connection/live-connection.js';
import { element, fill } from '../dom/element.js';

/** Shows whether the page is up to date. */
export class ConnectionLine {
  readonly #line: HTMLElement;
  #shown = '';

  constructor(line: HTMLElement) {
    this.#line = line;
  }

  /** @param age - how old the data is, in words. */
  show(state: ConnectionState, age: string): void {
    const text = describe(state, age);
    const signature = `${state.kind} ${text}`;
    if (signature === this.#shown) return;
    this.#shown = signature;
    this.#line.className = `connection connection-${state.kind}`;
    fill(this.#line, [element('span', { class: 'dot', 'aria-hidden': 'true' }), element('span', {}, text)]);
  }
}

function describe(state: ConnectionState, age: string): string {
  switch (state.kind) {
    case 'connecting':
      return 'Connecting …';
    case 'live':
      return 'Live';
    case 'lost':
      return `Not connected: this is as of ${age}. Trying again.`;
    case 'sign-in':
      return 'Signed out';
  }
}
