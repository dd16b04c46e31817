/** The metrics of `vmdhcp-agent wol --manager`, in addition to those of every listener. */
import { Counter, Gauge, type Registry } from 'prom-client';

export interface ReportMetricSources {
  readonly info: { readonly node: string; readonly operator: string; readonly ports: readonly number[] };
  /** Wake-ups by how they ended. */
  readonly ends: () => ReadonlyMap<string, number>;
  readonly failedTries: () => number;
  readonly waiting: () => number;
  /** Undefined if there is no list. */
  readonly listed: () => number | undefined;
  readonly isConnected: () => boolean;
  /** Wake-ups in memory, which detect repeated packets. */
  readonly remembered: () => number;
}

const LOST = ['too-old', 'queue-full'];

export function registerReportMetrics(registry: Registry, sources: ReportMetricSources): void {
  const registers = [registry];
  const { node, operator, ports } = sources.info;
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  new Counter({
    name: 'vmdhcp_agent_wol_reports_total',
    help: 'Wake-ups by how their report ended: the status of the answer, malformed, too-old, or queue-full.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      // Series that begin with 0 show the first one that is lost as an increase.
      for (const outcome of LOST) this.inc({ outcome }, 0);
      for (const [outcome, count] of sources.ends()) this.inc({ outcome }, count);
    },
  });
  new Counter({
    name: 'vmdhcp_agent_wol_report_failures_total',
    help: 'Tries to report a wake-up that no manager took. Each is tried again.',
    registers,
    collect() {
      this.reset();
      this.inc(sources.failedTries());
    },
  });
  gauge('vmdhcp_agent_wol_waiting', 'Wake-ups that wait for the answer of a manager.', sources.waiting);
  gauge(
    'vmdhcp_agent_wol_listed',
    'MAC addresses in the list of machines that may be woken; -1: there is no list.',
    () => sources.listed() ?? -1,
  );
  gauge('vmdhcp_agent_wol_manager_connected', '1 if a manager that is leader answers, else 0.', () =>
    Number(sources.isConnected()),
  );
  new Gauge({
    name: 'wol_agent_dedupe_cache_size',
    help: 'Wake-ups in memory, which detect repeated packets.',
    labelNames: ['node'],
    registers,
    collect() {
      this.set({ node }, sources.remembered());
    },
  });
  const info = new Gauge({
    name: 'wol_agent_info',
    help: 'Always 1: the node of the agent, each of its UDP ports, and the address of its manager.',
    labelNames: ['node', 'port', 'operator'],
    registers,
  });
  for (const port of ports) info.set({ node, port: String(port), operator }, 1);
}
