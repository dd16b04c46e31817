import { element, setText } from '../dom/element.js';
import { amountOf } from '../text/describe-number.js';

/** The number of rows in a part. */
export const PART_SIZE = 100;

/** Buttons to the next and the previous part of a list, and the current part. */
export class Pager {
  readonly element: HTMLElement;
  readonly #what: readonly [string, string];
  readonly #onTurn: () => void;
  readonly #text = element('p', { class: 'soft', role: 'status' });
  readonly #previous = element('button', { type: 'button' }, 'Previous');
  readonly #next = element('button', { type: 'button' }, 'Next');
  /** The values of `continue` of the parts up to the current one; the first part has none. */
  #path: string[] = [''];
  #following: string | null = null;
  #before = 0;
  #shown = 0;

  /** @param what - the singular and plural of the items: `['lease', 'leases']`. */
  constructor(what: readonly [string, string], onTurn: () => void) {
    this.#what = what;
    this.#onTurn = onTurn;
    this.#previous.addEventListener('click', () => this.#turnBack());
    this.#next.addEventListener('click', () => this.#turnOn());
    this.element = element('nav', { class: 'pager', 'aria-label': `Parts of the list of ${what[1]}` }, [
      this.#text,
      this.#previous,
      this.#next,
    ]);
  }

  /** The value of `continue` of the part to show. */
  get part(): string {
    return this.#path.at(-1) ?? '';
  }

  /** Back to the first part. */
  reset(): void {
    this.#path = [''];
    this.#before = 0;
  }

  /** False if the list has become so short that it ends before this part: then it turns to the first one, which is to be loaded. */
  show(shown: number, total: number, following: string | null): boolean {
    const isPast = shown === 0 && total > 0 && this.part !== '';
    if (isPast) this.reset();
    this.#shown = shown;
    this.#following = following;
    const all = amountOf(total, ...this.#what);
    setText(this.#text, shown === 0 || shown === total ? all : `${this.#before + 1} to ${this.#before + shown} of ${all}`);
    this.#previous.disabled = this.part === '';
    this.#previous.hidden = this.#next.hidden = this.#previous.disabled && following === null;
    this.#next.disabled = following === null;
    return !isPast;
  }

  #turnOn(): void {
    if (this.#following === null) return;
    this.#path.push(this.#following);
    this.#before += this.#shown;
    this.#onTurn();
  }

  #turnBack(): void {
    this.#path.pop();
    // All parts before the last one are full.
    this.#before = Math.max(this.#before - PART_SIZE, 0);
    this.#onTurn();
  }
}
