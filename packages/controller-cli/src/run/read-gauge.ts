import { Gauge, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

interface ReadGaugeSettings<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: Label[];
  readonly registers: Registry[];
  /** The labels of every series, no two of them equal. */
  readonly read: () => Iterable<Readonly<Record<Label, string>>>;
}

/** A gauge of 1 for each series that there is when it is asked. It keeps none: a series for each of many thousands would stay in memory between two pages. */
export class ReadGauge<Label extends string> extends Gauge<Label> {
  readonly #settings: ReadGaugeSettings<Label>;

  constructor({ read, ...settings }: ReadGaugeSettings<Label>) {
    super(settings);
    this.#settings = { read, ...settings };
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<Label>>> {
    const { read } = this.#settings;
    return { ...(await super.get()), values: Array.from(read(), (labels) => ({ labels, value: 1 })) };
  }
}
