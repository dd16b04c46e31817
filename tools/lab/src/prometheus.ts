import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RangeSeries } from '@vmdhcp/dashboards';
import { waitFor } from './deadline.js';
import { freePort } from './free-port.js';
import type { Lab } from './lab.js';
import type { LabProcess } from './lab-process.js';

/** An alert that fires. */
export interface FiringAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A series as a query returns it. */
export interface QueriedSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [atSeconds: number, value: string];
}

/** Seconds since 1970. */
export interface TimeRange {
  readonly fromSeconds: number;
  readonly untilSeconds: number;
}

interface TitledQuery {
  readonly title: string;
  readonly expression: string;
}

/** Several times a second: a test waits for an alert no longer than it has to. */
const INTERVAL = '400ms';

/** A Prometheus beside the networks of a lab: it scrapes real programs, and evaluates rules. */
export class Prometheus {
  readonly process: LabProcess;
  readonly #url: string;

  private constructor(process: LabProcess, url: string) {
    this.process = process;
    this.#url = url;
  }

  /** Resolves when it has loaded the rules. @param targets - URLs of status servers by job; a program may start later. */
  static async start(
    lab: Lab,
    { rules, targets }: { readonly rules: string; readonly targets: Readonly<Record<string, readonly string[]>> },
  ): Promise<Prometheus> {
    const listen = `127.0.0.1:${await freePort()}`;
    const [rulesPath, configPath] = [join(lab.folder, 'rules.yaml'), join(lab.folder, 'prometheus.json')];
    const jobs = Object.entries(targets).map(([job, urls]) => ({
      job_name: job,
      static_configs: [{ targets: urls.map((url) => new URL(url).host) }],
    }));
    writeFileSync(rulesPath, rules);
    // JSON is YAML.
    const global = { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: INTERVAL };
    writeFileSync(configPath, JSON.stringify({ global, rule_files: [rulesPath], scrape_configs: jobs }));
    const started = lab.start('prometheus', [
      `--config.file=${configPath}`,
      `--storage.tsdb.path=${join(lab.folder, 'prometheus')}`,
      `--web.listen-address=${listen}`,
      '--log.level=warn',
    ]);
    const prometheus = new Prometheus(started, `http://${listen}`);
    await waitFor('Prometheus', async () => {
      if (started.hasEnded) throw new Error(`Prometheus ended:\n${started.lines.join('\n')}`);
      return (await fetch(`http://${listen}/-/ready`).catch(() => undefined))?.ok;
    });
    return prometheus;
  }

  /** Alerts that fire now. */
  async firing(): Promise<readonly FiringAlert[]> {
    const { alerts } = (await this.#get('alerts')) as { readonly alerts: readonly (FiringAlert & { readonly state: string })[] };
    return alerts.filter(({ state }) => state === 'firing');
  }

  /** The result of an instant query. @throws Error for an invalid query. */
  async query(expression: string): Promise<readonly QueriedSeries[]> {
    const { result } = (await this.#get(`query?query=${encodeURIComponent(expression)}`)) as {
      readonly result: readonly QueriedSeries[];
    };
    return result;
  }

  /** The result of a range query from the first scrape until now. @param points - of each series, about. */
  async range(expression: string, { fromSeconds, untilSeconds }: TimeRange, points: number): Promise<readonly RangeSeries[]> {
    const step = Math.max(0.5, (untilSeconds - fromSeconds) / points);
    const at = `start=${fromSeconds}&end=${untilSeconds}&step=${step.toFixed(3)}`;
    const { result } = (await this.#get(`query_range?query=${encodeURIComponent(expression)}&${at}`)) as {
      readonly result: readonly RangeSeries[];
    };
    return result;
  }

  /** Resolves when each query returns a number. @throws Error naming those that do not. */
  async haveData(queries: readonly TitledQuery[]): Promise<void> {
    let missing: readonly TitledQuery[] = queries;
    try {
      await waitFor('data', async () => {
        missing = await this.#withoutData(queries);
        return missing.length === 0;
      });
    } catch (error) {
      const described = missing.map(({ title, expression }) => `${title}: ${expression}`);
      throw new Error(`queries without data:\n${described.join('\n')}`, { cause: error });
    }
  }

  async #withoutData(queries: readonly TitledQuery[]): Promise<readonly TitledQuery[]> {
    const results = await Promise.all(queries.map(({ expression }) => this.query(expression)));
    return queries.filter((_, index) => !results[index]?.some(({ value: [, value] }) => !Number.isNaN(Number(value))));
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    const { status, data, error } = (await response.json()) as {
      readonly status: string;
      readonly data: unknown;
      readonly error?: string;
    };
    if (status !== 'success') throw new Error(`Prometheus refuses ${decodeURIComponent(path)}: ${error}`);
    return data;
  }
}
