import type { Alert } from '@vmdhcp/alerts';
import { waitFor } from './deadline.js';
import type { FiringAlert, Prometheus } from './prometheus.js';

/** The text that Prometheus writes if a template of an annotation fails. */
const BROKEN_TEMPLATE = /<error|<no value>|\{\{/;

/** The alerts that a test makes fire in a Prometheus. */
export class FiringAlerts {
  readonly #prometheus: Prometheus;
  readonly #fired = new Set<string>();

  constructor(prometheus: Prometheus) {
    this.#prometheus = prometheus;
  }

  /** Names that the test waited for, and that fired; each once, by name. */
  get fired(): readonly string[] {
    return [...this.#fired].toSorted();
  }

  /** Resolves when these alerts fire at once; others may. @throws Error by the deadline, or where an annotation cannot be written. */
  async fires(...names: readonly Alert['name'][]): Promise<void> {
    await this.#until(names.join(', '), (now) => names.every((name) => now.includes(name)));
    for (const name of names) this.#fired.add(name);
  }

  /** Resolves when no other alert fires. @throws Error by the deadline. */
  async ends(...names: readonly Alert['name'][]): Promise<void> {
    await this.#until(`the end of ${names.join(', ')}`, (now) => !names.some((name) => now.includes(name)));
  }

  /** Resolves when none but these fire. @throws Error by the deadline. */
  async isQuietBut(...names: readonly Alert['name'][]): Promise<void> {
    const others = (now: readonly string[]) => now.filter((name) => !names.some((one) => one === name));
    await this.#until('no other alert', (now) => others(now).length === 0);
  }

  async #until(what: string, isSo: (now: readonly string[]) => boolean): Promise<void> {
    let now: readonly string[] = [];
    await waitFor(what, async () => {
      now = namesOf(await this.#prometheus.firing());
      return isSo(now);
    }).catch((error: Error) => {
      throw new Error(`${error.message}; these fire: ${now.join(', ')}`, { cause: error });
    });
  }
}

function namesOf(alerts: readonly FiringAlert[]): readonly string[] {
  const texts = alerts.flatMap(({ annotations }) => Object.values(annotations));
  const broken = texts.find((text) => BROKEN_TEMPLATE.test(text));
  if (broken !== undefined) throw new Error(`Prometheus cannot write an annotation: ${broken}`);
  return [...new Set(alerts.map(({ labels }) => labels['alertname'] ?? ''))].toSorted();
}
