import colors from 'picocolors';
import { widthOf, wrapLine } from './wrap-line.js';

/** The cells of a row, by column; the first column names the row. */
export type Row = Readonly<Record<string, string>>;

/** Where it is shown: standard output. */
export interface Screen {
  readonly isTTY?: boolean;
  /** How wide the terminal is now. */
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

/**
 * What happens, line by line, and on a terminal a table of the machines below it that is always as things are now.
 * Elsewhere only the lines, and the table once at the end.
 */
export class LiveView {
  #columns: readonly string[] = [];
  readonly #rows = new Map<string, Row>();
  readonly #screen: Screen;
  readonly #startedAt = performance.now();
  /** The lines of the table on the terminal. */
  #drawn: readonly string[] = [];

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Begins a table. @param columns - their titles; the last one may be empty. */
  table(...columns: readonly string[]): void {
    this.#columns = columns;
    this.#rows.clear();
  }

  step(text: string): void {
    this.#print(['', ...this.#wrap(colors.bold(text))]);
  }

  line(text: string): void {
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(2).padStart(6);
    this.#print(this.#wrap(`${colors.dim(`${seconds} s`)}  ${text}`));
  }

  /** Text without a time, of one line or of several. */
  plain(text: string): void {
    this.#print(text.split('\n').flatMap((line) => this.#wrap(line)));
  }

  /** Changes cells of a row, which is new where there is none of this name. */
  set(name: string, cells: Row): void {
    this.#rows.set(name, { ...this.#rows.get(name), ...cells });
    this.#erase();
    this.#draw();
  }

  /** Leaves the table as the last thing to be seen. */
  end(): void {
    if (!this.#isLive && this.#rows.size > 0) this.#screen.write(`${this.#table().join('\n')}\n`);
    this.#rows.clear();
    this.#drawn = [];
  }

  get #isLive(): boolean {
    return this.#screen.isTTY === true;
  }

  /** Undefined if it is not a terminal. */
  get #width(): number | undefined {
    return this.#isLive ? (this.#screen.columns ?? 80) : undefined;
  }

  #wrap(line: string): readonly string[] {
    return wrapLine(line, this.#width);
  }

  #print(lines: readonly string[]): void {
    this.#erase();
    this.#screen.write(`${lines.join('\n')}\n`);
    this.#draw();
  }

  /** A terminal that became narrower since shows a line of the table in several lines. */
  #erase(): void {
    const width = this.#width ?? 80;
    const height = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / width)), 0);
    if (height > 0) this.#screen.write(`\x1b[${height}A\x1b[J`);
    this.#drawn = [];
  }

  #draw(): void {
    if (!this.#isLive || this.#rows.size === 0) return;
    this.#drawn = this.#table();
    this.#screen.write(`${this.#drawn.join('\n')}\n`);
  }

  /** The table under an empty line. Where the terminal is narrow, the columns beside the name are left out, the first of them first. */
  #table(): readonly string[] {
    const [first = '', ...others] = this.#columns;
    const width = this.#width ?? Number.POSITIVE_INFINITY;
    let shown = others;
    while (shown.length > 1 && widthOf(this.#tableOf([first, ...shown])[0] ?? '') > width) shown = shown.slice(1);
    const [header = '', ...rows] = this.#tableOf([first, ...shown]).map((line) => line.trimEnd().slice(0, width));
    return ['', colors.dim(header), ...rows];
  }

  /** Lines of the same width. */
  #tableOf([first = '', ...others]: readonly string[]): readonly string[] {
    const rows = [...this.#rows].map(([name, cells]) => [name, ...others.map((column) => cells[column] ?? '')]);
    const all = [[first, ...others], ...rows];
    const widths = [first, ...others].map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
    return all.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  }
}
