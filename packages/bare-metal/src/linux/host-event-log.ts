/** Logs and counts events of hosts. */
import { RateBudget } from '@vmdhcp/dhcp-agent/packet-path';
import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import type { Logger } from '@vmdhcp/service-process';
import { ReadGauge, type Series } from '@vmdhcp/service-process/metrics';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { HostAgentEvent } from '../agent/host-agent-event.js';
import type { HostObserver } from '../agent/ports.js';

/** How many lines clients and management controllers can cause: the rest is counted. */
const BUDGET = { perSecond: 10, burst: 500 };

/** The compiler checks that all are listed. */
const ACTIONS: Readonly<Record<HostAction, true>> = {
  ForceOn: true,
  On: true,
  ForceOff: true,
  GracefulShutdown: true,
  ForceRestart: true,
  GracefulRestart: true,
  PxeReboot: true,
};
/** Hosts with a separate series: unknown clients can make hosts up. */
const MOST_HOSTS = 500;

type Kind = HostAgentEvent['kind'];
type EventOf<K extends Kind> = Extract<HostAgentEvent, { readonly kind: K }>;

export class HostEventLog implements HostObserver {
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #budget = new RateBudget(BUDGET);
  readonly #hosts: Gauge;
  readonly #polls: Counter;
  readonly #pollSeconds: Histogram;
  readonly #operations: Counter;
  readonly #operationSeconds: Histogram;
  readonly #writes: Counter;
  #unhealthySinceMs: () => ReadonlyMap<string, number> = () => new Map();

  /** @param nowMs - monotonic. */
  constructor(logger: Logger, registry: Registry, nowMs: () => number) {
    this.#logger = logger;
    this.#nowMs = nowMs;
    const registers = [registry];
    const name = (text: string) => `vmdhcp_agent_${text}`;
    this.#hosts = new Gauge({
      ...{ name: name('hosts'), labelNames: ['state'], registers },
      help: 'Hosts of the ClusterAgent, by whether their management controllers answer: healthy or unhealthy. Only the leader has them.',
    });
    this.#polls = new Counter({
      ...{ name: name('host_polls_total'), labelNames: ['outcome'], registers },
      help: 'Polls of management controllers, by outcome: healthy, unhealthy, overdue (no answer in time), or not-read (the agent had no memory for the answers).',
    });
    this.#pollSeconds = new Histogram({
      ...{ name: name('host_poll_duration_seconds'), buckets: [0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30], registers },
      help: 'Time of one poll of a management controller.',
    });
    this.#operations = new Counter({
      ...{ name: name('host_operations_total'), labelNames: ['action', 'outcome'], registers },
      help: 'Actions on hosts that management controllers answered, by outcome: success or failure.',
    });
    // A counter that first appears with the value 1 has no increase.
    for (const action of Object.keys(ACTIONS))
      for (const outcome of ['success', 'failure']) this.#operations.inc({ action, outcome }, 0);
    for (const outcome of ['healthy', 'unhealthy', 'overdue', 'not-read']) this.#polls.inc({ outcome }, 0);
    this.#operationSeconds = new Histogram({
      ...{
        name: name('host_operation_duration_seconds'),
        labelNames: ['action'],
        buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60],
        registers,
      },
      help: 'Time from the beginning of an action on a host until its management controller answered.',
    });
    new ReadGauge({
      ...{ name: name('host_unhealthy_since_timestamp_seconds'), labelNames: ['hoststatus'], registers },
      help: `Since when the management controller of a host does not answer, in seconds since 1970; of the ${MOST_HOSTS} for which that is longest. Only the leader has it.`,
      read: () => longest(this.#unhealthySinceMs()),
    });
    this.#writes = new Counter({
      ...{ name: name('host_writes_total'), labelNames: ['write', 'outcome'], registers },
      help: 'Writes of HostStatus and HostOperation objects, by kind and outcome: written, or why it was refused.',
    });
  }

  observe(event: HostAgentEvent): void {
    // The compiler does not know that an event belongs to the entry of its kind.
    (this.#handlers[event.kind] as (event: HostAgentEvent) => void)(event);
  }

  /**
   * Metrics of this replica, which is leader. @param unhealthySinceMs - by the name of the HostStatus; in milliseconds since
   * 1970.
   */
  followHosts(unhealthySinceMs: () => ReadonlyMap<string, number>): void {
    this.#unhealthySinceMs = unhealthySinceMs;
  }

  /** This replica is no longer leader: it has no metrics of hosts. */
  forgetHosts(): void {
    this.#unhealthySinceMs = () => new Map();
    this.#hosts.reset();
  }

  /** Logs how many lines were omitted since the last call. */
  reportSuppressed(): void {
    const suppressed = this.#budget.takeSuppressed();
    if (suppressed > 0)
      this.#logger.warn({ suppressed }, 'too many changes of hosts: lines left out; writes and polls are counted in the metrics');
  }

  #mayLog(): boolean {
    return this.#budget.take(this.#nowMs());
  }

  readonly #handlers: { readonly [K in Kind]: (event: EventOf<K>) => void } = {
    written: ({ write, name }) => {
      this.#writes.inc({ write, outcome: 'written' });
      this.#logger.debug({ object: name, write }, 'object of a host written');
    },
    'write-failed': ({ write, name, reason, message, retryAfterMs }) => {
      this.#writes.inc({ write, outcome: reason });
      if (!this.#mayLog()) return;
      this.#logger.warn(
        { object: name, write, reason, retryAfterMs },
        `object of a host could not be written, trying again: ${message}`,
      );
    },
    event: ({ event: { regarding, event } }) => {
      if (!this.#mayLog()) return;
      const level = event.type === 'Warning' ? 'warn' : 'info';
      this.#logger[level]({ kind: regarding.kind, object: regarding.name, reason: event.reason }, event.message);
    },
    polled: ({ isHealthy, isOverdue, durationMs }) => {
      this.#polls.inc({ outcome: isOverdue ? 'overdue' : isHealthy ? 'healthy' : 'unhealthy' });
      this.#pollSeconds.observe(durationMs / 1e3);
    },
    'not-polled': ({ name, message }) => {
      this.#polls.inc({ outcome: 'not-read' });
      if (this.#mayLog()) this.#logger.warn({ host: name }, `host could not be polled; what is known about it stays: ${message}`);
    },
    hosts: ({ healthy, unhealthy }) => {
      this.#hosts.set({ state: 'healthy' }, healthy);
      this.#hosts.set({ state: 'unhealthy' }, unhealthy);
    },
    'operation-began': ({ name, hostStatus, action }) =>
      this.#logger.info({ operation: name, host: hostStatus, action }, 'operation of a host began'),
    'operation-ended': ({ name, hostStatus, action, isSuccess, message, durationMs }) => {
      const outcome = isSuccess ? 'success' : 'failure';
      this.#operations.inc({ action, outcome });
      this.#operationSeconds.observe({ action }, durationMs / 1e3);
      this.#logger.info(
        { operation: name, host: hostStatus, action, outcome, durationMs },
        `operation of a host ended: ${message}`,
      );
    },
    'lease-ignored': ({ lease }) =>
      this.#logger.warn({ lease }, 'a lease has no readable address or MAC address: it has no HostStatus'),
    'read-failed': ({ plural, error }) =>
      this.#logger.warn({ err: errorForLog(error) }, `${plural} cannot be read; trying again`),
    'unexpected-error': ({ error }) => this.#logger.error({ err: error }, 'a bug: hosts are still followed'),
  };
}

function* longest(sinceMs: ReadonlyMap<string, number>): Generator<Series<'hoststatus'>> {
  const first = [...sinceMs].toSorted(([, one], [, other]) => one - other).slice(0, MOST_HOSTS);
  for (const [hoststatus, ms] of first) yield { labels: { hoststatus }, value: ms / 1e3 };
}
