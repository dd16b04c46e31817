import { Gauge, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/** One value of a gauge, with its labels. */
export interface Series<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** A gauge whose values are read when the metrics are asked for. */
export interface ReadGaugeSettings<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: Label[];
  readonly registers: Registry[];
  /** All current series. No two of them have the same labels. */
  readonly read: () => Iterable<Series<Label>>;
}

/**
 * A gauge whose series are read on request. It stores none, because many thousands would stay in memory between two requests. `/metrics` of
 * `startStatusServer` reads them a part at a time, and the process does other things in between.
 */
export class ReadGauge<Label extends string> extends Gauge<Label> {
  readonly #settings: ReadGaugeSettings<Label>;

  constructor({ read, ...settings }: ReadGaugeSettings<Label>) {
    super(settings);
    this.#settings = { read, ...settings };
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<Label>>> {
    const { read } = this.#settings;
    return { ...(await super.get()), values: [...read()].map(({ labels, value }) => ({ labels, value })) };
  }

  /** Its text, line by line, for a page of metrics. Source: Prometheus text format 0.0.4. */
  *lines(): Generator<string> {
    const { name, help, labelNames, read } = this.#settings;
    yield `# HELP ${name} ${escaped(help)}\n# TYPE ${name} gauge\n`;
    for (const { labels, value } of read()) {
      let text = '';
      for (const label of labelNames) text += `${text === '' ? '' : ','}${label}="${quoted(labels[label])}"`;
      yield `${name}${text === '' ? '' : `{${text}}`} ${value}\n`;
    }
  }
}

function quoted(value: string): string {
  return /["\\\n]/.test(value) ? escaped(value).replaceAll('"', String.raw`\"`) : value;
}

function escaped(text: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`);
}
