/** The metrics of `vmdhcp-agent wol`. They are copied from their sources when they are read. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export interface WakeMetricSources {
  /** Packets by outcome: `wake-up`, or the reason why they were ignored. */
  readonly packets: () => ReadonlyMap<string, number>;
  readonly wakeUps: () => { readonly accepted: number; readonly failed: number };
  readonly listeners: () => { readonly listening: number; readonly dead: number };
}

export function createWakeMetrics({ packets, wakeUps, listeners }: WakeMetricSources): Registry {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Counter({
    name: 'vmdhcp_agent_wol_packets_total',
    help: 'Packets that Wake-on-LAN listeners received, by outcome: wake-up, or the reason why they were ignored.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of packets()) this.inc({ outcome }, count);
    },
  });
  new Counter({
    name: 'vmdhcp_agent_wol_wake_ups_total',
    help: 'Wake-ups by outcome: accepted, or failed.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(wakeUps())) this.inc({ outcome }, count);
    },
  });
  new Gauge({
    name: 'vmdhcp_agent_wol_listeners',
    help: 'Wake-on-LAN listeners by state: listening, or dead.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(listeners())) this.set({ state }, count);
    },
  });
  return registry;
}
