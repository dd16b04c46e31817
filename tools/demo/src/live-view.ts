import { stdout } from 'node:process';
import colors from 'picocolors';

/** The cells of a row, by column; the first column names the row. */
export type Row = Readonly<Record<string, string>>;

/**
 * What happens, line by line, and on a terminal a table of the machines below it that is always as things are now.
 * Elsewhere only the lines, and the table once at the end.
 */
export class LiveView {
  #columns: readonly string[] = [];
  readonly #rows = new Map<string, Row>();
  readonly #live = stdout.isTTY === true;
  readonly #startedAt = performance.now();
  #drawn = 0;

  /** Begins a table. @param columns - their titles; the last one may be empty. */
  table(...columns: readonly string[]): void {
    this.#columns = columns;
    this.#rows.clear();
  }

  step(text: string): void {
    this.#print(`\n${colors.bold(text)}`);
  }

  line(text: string): void {
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(2).padStart(6);
    this.#print(`${colors.dim(`${seconds} s`)}  ${text}`);
  }

  /** Text without a time. */
  plain(text: string): void {
    this.#print(text);
  }

  /** Changes cells of a row, which is new where there is none of this name. */
  set(name: string, cells: Row): void {
    this.#rows.set(name, { ...this.#rows.get(name), ...cells });
    this.#erase();
    this.#draw();
  }

  /** Leaves the table as the last thing to be seen. */
  end(): void {
    if (!this.#live && this.#rows.size > 0) stdout.write(this.#table());
    this.#rows.clear();
    this.#drawn = 0;
  }

  #print(text: string): void {
    this.#erase();
    stdout.write(`${text}\n`);
    this.#draw();
  }

  #erase(): void {
    if (this.#drawn > 0) stdout.write(`\x1b[${this.#drawn}A\x1b[J`);
    this.#drawn = 0;
  }

  #draw(): void {
    if (!this.#live || this.#rows.size === 0) return;
    const table = this.#table();
    stdout.write(table);
    this.#drawn = table.split('\n').length - 1;
  }

  #table(): string {
    const [, ...others] = this.#columns;
    const rows = [...this.#rows].map(([name, cells]) => [name, ...others.map((column) => cells[column] ?? '')]);
    const all = [this.#columns, ...rows];
    const widths = this.#columns.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
    const lines = all.map((cells, index) => {
      const line = cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd();
      return index === 0 ? colors.dim(line) : line;
    });
    return `\n${lines.join('\n')}\n`;
  }
}
