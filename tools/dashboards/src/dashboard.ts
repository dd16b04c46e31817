/** A dashboard of Grafana, as far as ours differ from each other. */
export interface Dashboard {
  /** Its file name and its `uid`, after `vmdhcp-`: kebab-case. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** What a person selects at the top, and queries name as `$name`. */
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  /** Its values are those of this label ... */
  readonly valuesOf: string;
  /** ... of this metric. */
  readonly metric: string;
}

/** Panels beside each other; one of six is as wide as four of 24 columns. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Panel {
  /** `stat`: the value of now, large. */
  readonly type: 'timeseries' | 'stat' | 'table';
  readonly title: string;
  /** What it shows, and when that is a reason to worry. */
  readonly description: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** For a `stat`: it is red from this value on, and green below; or the other way round. */
  readonly worry?: { readonly from: number } | { readonly below: number };
}

/** As Grafana names them. */
export type Unit = 'short' | 's' | 'ops' | 'bytes' | 'percentunit' | 'dateTimeFromNow';

export interface Query {
  /** PromQL. `$__rate_interval` is Grafana's. */
  readonly expression: string;
  /** `{{label}}` for the value of a label. */
  readonly legend: string;
}
