import type { LeaseEventLog } from '@vmdhcp/agent-process';
import { createMetrics, type Metrics } from '@vmdhcp/agent-process';
import type { HostsMachine } from './hosts-machine.js';

/** The metrics of the agent of a ClusterAgent, whose pool has its name. */
export function createHostsMetrics(name: string, machine: HostsMachine, events: LeaseEventLog): Metrics {
  const { dhcp } = machine;
  return createMetrics({
    counters: dhcp.counters,
    leaseEvents: () => events.counts(),
    served: () => new Map(machine.isOff ? [] : [[name, machine.isServing()]]),
    election: { isLeading: () => machine.isLeader(), standbyAnswers: () => 0 },
    otherServers: () => machine.otherServers,
    open: {
      counts: () => {
        const counts = dhcp.counts();
        return new Map(counts === undefined ? [] : [[name, counts]]);
      },
      failures: () => machine.writeFailures,
    },
  });
}
