import { stdout } from 'node:process';
import colors from 'picocolors';

export interface Row {
  readonly machine: string;
  readonly network: string;
  readonly client: string;
  readonly address: string;
  readonly note: string;
}

/**
 * What happens, line by line, and on a terminal a table of the machines below it that is always as things are now.
 * Elsewhere only the lines, and the table once at the end.
 */
export class LiveView {
  readonly #rows = new Map<string, Row>();
  readonly #live = stdout.isTTY === true;
  readonly #startedAt = performance.now();
  #drawn = 0;

  step(text: string): void {
    this.#print(`\n${colors.bold(text)}`);
  }

  line(text: string): void {
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(2).padStart(6);
    this.#print(`${colors.dim(`${seconds} s`)}  ${text}`);
  }

  set(row: Row): void {
    this.#rows.set(row.machine, row);
    this.#erase();
    this.#draw();
  }

  update(machine: string, change: Partial<Row>): void {
    const row = this.#rows.get(machine);
    if (row !== undefined) this.set({ ...row, ...change });
  }

  /** Leaves the table as the last thing to be seen. */
  end(): void {
    if (!this.#live) stdout.write(this.#table());
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
    const header: Row = { machine: 'MACHINE', network: 'NETWORK', client: 'CLIENT', address: 'ADDRESS', note: '' };
    const rows = [header, ...this.#rows.values()].map(({ machine, network, client, address, note }) => [
      machine,
      network,
      client,
      address,
      note,
    ]);
    const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
    const lines = rows.map((cells, index) => {
      const line = cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd();
      return index === 0 ? colors.dim(line) : line;
    });
    return `\n${lines.join('\n')}\n`;
  }
}
