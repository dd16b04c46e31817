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
  readonly onReport: () => void;
  readonly onDecided: (decided: DecidedReport) => void;
}

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
  describeGauges(registers, gauges);
  return {
    onReport: () => packets.inc(),
    onDecided: ({ verdict: { outcome, reason }, sinceHeardMs }) => {
      wakeUps.inc({ outcome, reason });
      if (outcome === 'started' || outcome === 'unpaused') {
        started.inc();
        startSeconds.observe(sinceHeardMs / 1000);
      } else if (isError(outcome)) errors.inc();
    },
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
