/** Times of exchanges, to a microsecond. */
const HISTOGRAM_US = 200_000;

export interface LatencyMs {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export class LatencyHistogram {
  readonly #counts = new Uint32Array(HISTOGRAM_US + 1);
  #count = 0;
  #max = 0;

  add(ms: number): void {
    const us = Math.floor(ms * 1000);
    const at = Math.min(us, HISTOGRAM_US);
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#count++;
    if (ms > this.#max) this.#max = ms;
  }

  summary(): LatencyMs {
    const at = (share: number) => {
      let left = this.#count * share;
      const us = this.#counts.findIndex((count) => {
        left -= count;
        return left < 0;
      });
      return Math.max(us, 0) / 1000;
    };
    return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: this.#max };
  }
}
