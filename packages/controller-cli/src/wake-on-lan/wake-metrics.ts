/** What Wake-on-LAN reports to Prometheus: the four metrics of kubevirt-wol, each counted once, and what they do not have. */
import { type DecidedReport, ruleOf } from '@vmdhcp/reconciler/wake-on-lan';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface WakeGauges {
  /** Virtual machines that may be woken. */
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

/** Of more machines only those that were woken last have a series. */
const MOST_MACHINES = 1_000;

/** Registers the metrics. */
export function createWakeMetrics(registry: Registry, gauges: WakeGauges): WakeMetrics {
  const registers = [registry];
  const packets = new Counter({
    name: 'wol_packets_total',
    help: 'Reports of magic packets that this process received as leader.',
    registers,
  });
  const started = new Counter({
    name: 'wol_vm_started_total',
    help: 'Virtual machines that were started or continued.',
    registers,
  });
  const errors = new Counter({
    name: 'wol_errors_total',
    help: 'Wake-ups that were refused or failed, each attempt of an agent once.',
    registers,
  });
  const wakeUps = new Counter({
    name: 'vmdhcpcontroller_wake_ups_total',
    help: 'Reports of agents by what was decided, and why; and what became of wake-ups that waited until a virtual machine was down.',
    labelNames: ['outcome', 'reason'],
    registers,
  });
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
  describeGauges(registers, gauges);
  return {
    onCertificate: (certificate, notAfterMs) => expiry.set({ certificate }, notAfterMs / 1000),
    onReport: () => packets.inc(),
    onDecided: ({ verdict: { outcome, reason, machine }, sinceHeardMs }) => {
      wakeUps.inc({ outcome, reason });
      if (outcome === 'started' || outcome === 'unpaused') {
        started.inc();
        if (machine !== undefined) countMachine(`${machine.namespace}/${machine.name}`);
        startSeconds.observe(sinceHeardMs / 1000);
      } else if (isError(outcome)) errors.inc();
    },
  };
}

/** Counts a start of the machine `namespace/name`. Series are bounded: machines come and go, and the process stays. */
function machineCounter(registers: Registry[]): (virtualmachine: string) => void {
  const starts = new Counter({
    name: 'vmdhcpcontroller_wake_up_starts_total',
    help: `Starts by magic packets, by virtual machine; of the ${MOST_MACHINES} that were started last. The Event of the machine has the sender.`,
    labelNames: ['virtualmachine'],
    registers,
  });
  const order = new Set<string>();
  return (virtualmachine) => {
    order.delete(virtualmachine);
    order.add(virtualmachine);
    const [oldest = ''] = order;
    if (order.size > MOST_MACHINES) {
      order.delete(oldest);
      starts.remove({ virtualmachine: oldest });
    }
    starts.inc({ virtualmachine });
  };
}

function isError(outcome: DecidedReport['verdict']['outcome']): boolean {
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
    help: 'Virtual machines that are started when they are down.',
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
