/** The metrics of Wake-on-LAN: the four metrics of kubevirt-wol, each counted once, and additional ones. */
import { type DecidedReport, ruleOf, type WakeReason } from '@vmdhcp/wake-on-lan/controller';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

type Outcome = DecidedReport['verdict']['outcome'];

export interface WakeGauges {
  /** The number of wakeable virtual machines. */
  readonly managedMachines: () => number;
  /** By the name of the WolConfig. */
  readonly managedBy: () => ReadonlyMap<string, number>;
  readonly waiting: () => number;
  readonly followers: () => number;
}

export interface WakeMetrics {
  /** When a certificate that Wake-on-LAN uses expires, in milliseconds since 1970. */
  readonly onCertificate: (certificate: 'manager' | 'agents', notAfterMs: number) => void;
  readonly onReport: () => void;
  readonly onDecided: (decided: DecidedReport) => void;
}

/** If there are more machines, or more WolConfigs, only those that were woken last have series. */
const MOST_NAMES = 1_000;
/** Their series begin with 0, so that the first failure is an increase. */
const FAILURES: Readonly<Record<'failed' | 'unavailable' | 'abandoned', readonly WakeReason[]>> = {
  failed: ['forbidden', 'not-found', 'conflict', 'invalid'],
  unavailable: ['api-unavailable', 'too-many-waiting', 'fault'],
  abandoned: ['not-down-in-time', 'leadership-lost', 'no-longer-allowed'],
};
const RESULTS = ['started', 'error', 'other'] as const;

/** Registers the metrics. */
export function registerWakeMetrics(registry: Registry, gauges: WakeGauges): WakeMetrics {
  const registers = [registry];
  const packets = new Counter({
    name: 'wol_packets_total',
    help: 'Reports of magic packets that this process received as leader.',
    registers,
  });
  const started = new Counter({
    name: 'wol_vm_started_total',
    help: 'Virtual machines that were started or unpaused.',
    registers,
  });
  const errors = new Counter({
    name: 'wol_errors_total',
    help: 'Wake-ups that were refused or failed, each attempt of an agent once.',
    registers,
  });
  const wakeUps = new Counter({
    name: 'vmdhcpcontroller_wake_ups_total',
    help: 'Reports of agents by decision and reason; and outcomes of wake-ups that waited until a virtual machine was down.',
    labelNames: ['outcome', 'reason'],
    registers,
  });
  for (const [outcome, reasons] of Object.entries(FAILURES)) for (const reason of reasons) wakeUps.inc({ outcome, reason }, 0);
  const startSeconds = new Histogram({
    name: 'vmdhcpcontroller_wake_up_start_seconds',
    help: 'From the magic packet, by the clock of its node, until KubeVirt accepted the start.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 120],
    registers,
  });
  const expiry = new Gauge({
    name: 'vmdhcpcontroller_wol_certificate_expiry_timestamp_seconds',
    help: 'When a certificate of Wake-on-LAN expires, in seconds since 1970: that of the manager, or that of the agents.',
    labelNames: ['certificate'],
    registers,
  });
  const countMachine = machineCounter(registers);
  const countConfig = configCounter(registers);
  describeGauges(registers, gauges);
  return {
    onCertificate: (certificate, notAfterMs) => expiry.set({ certificate }, notAfterMs / 1000),
    onReport: () => packets.inc(),
    onDecided: ({ verdict: { outcome, reason, machine, configs = [] }, sinceHeardMs }) => {
      wakeUps.inc({ outcome, reason });
      for (const wolconfig of configs) countConfig(wolconfig, resultOf(outcome));
      if (isStart(outcome)) {
        started.inc();
        if (machine !== undefined) countMachine(`${machine.namespace}/${machine.name}`);
        startSeconds.observe(sinceHeardMs / 1000);
      } else if (isError(outcome)) errors.inc();
    },
  };
}

/** Counts a start of the machine `namespace/name`. Series are bounded: machines come and go, and the process stays. */
function machineCounter(registers: Registry[]): (virtualmachine: string) => void {
  const latest = new LatestNames();
  const starts = new Counter({
    name: 'vmdhcpcontroller_wake_up_starts_total',
    help: `Starts by magic packets, by virtual machine; of the ${MOST_NAMES} that were started last. The Event of the machine has the sender.`,
    labelNames: ['virtualmachine'],
    registers,
  });
  return (virtualmachine) => {
    const oldest = latest.add(virtualmachine);
    if (oldest !== undefined) starts.remove({ virtualmachine: oldest });
    starts.inc({ virtualmachine });
  };
}

type Result = (typeof RESULTS)[number];

/** Counts a wake-up for one of the WolConfigs that allow it. */
function configCounter(registers: Registry[]): (wolconfig: string, result: Result) => void {
  const latest = new LatestNames();
  const wakeUps = new Counter({
    name: 'vmdhcpcontroller_wol_config_wake_ups_total',
    help: `Reports of agents about machines that a WolConfig allows to be woken, by WolConfig, of the ${MOST_NAMES} with the latest reports: started, error (refused or failed), or other, for example a machine that runs already. A wake-up that several WolConfigs allow counts for each.`,
    labelNames: ['wolconfig', 'result'],
    registers,
  });
  return (wolconfig, result) => {
    const oldest = latest.add(wolconfig);
    if (oldest !== undefined) for (const each of RESULTS) wakeUps.remove({ wolconfig: oldest, result: each });
    wakeUps.inc({ wolconfig, result });
  };
}

/** The names that were added last. */
class LatestNames {
  readonly #names = new Set<string>();

  /** @returns the name that is removed to make room. */
  add(name: string): string | undefined {
    this.#names.delete(name);
    this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size <= MOST_NAMES || oldest === undefined) return undefined;
    this.#names.delete(oldest);
    return oldest;
  }
}

function resultOf(outcome: Outcome): Result {
  if (isStart(outcome)) return 'started';
  return isError(outcome) ? 'error' : 'other';
}

function isStart(outcome: Outcome): boolean {
  return outcome === 'started' || outcome === 'unpaused';
}

function isError(outcome: Outcome): boolean {
  return ruleOf(outcome).status === 'error' || outcome === 'unavailable';
}

function describeGauges(registers: Registry[], gauges: WakeGauges): void {
  new Gauge({
    name: 'wol_managed_vms',
    help: 'Virtual machines that may be woken, each once.',
    registers,
    collect() {
      this.set(gauges.managedMachines());
    },
  });
  new Gauge({
    name: 'vmdhcpcontroller_wol_config_machines',
    help: 'Virtual machines that a WolConfig allows to be woken.',
    labelNames: ['wolconfig'],
    registers,
    collect() {
      this.reset();
      for (const [wolconfig, count] of gauges.managedBy()) this.set({ wolconfig }, count);
    },
  });
  new Gauge({
    name: 'vmdhcpcontroller_wake_ups_waiting',
    help: 'Virtual machines that will be started when they are down.',
    registers,
    collect() {
      this.set(gauges.waiting());
    },
  });
  new Gauge({
    name: 'vmdhcpcontroller_wake_agents',
    help: 'Agents of Wake-on-LAN that follow this process.',
    registers,
    collect() {
      this.set(gauges.followers());
    },
  });
}
