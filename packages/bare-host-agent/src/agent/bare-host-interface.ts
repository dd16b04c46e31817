/** A served interface of a bare host, with everything that handles its packets. */

import type { AgentLog, Metrics } from '@vmdhcp/agent-process';
import { linuxDhcpSockets, linuxIpv6Sockets } from '@vmdhcp/agent-process';
import { type ConflictProbes, type DhcpServer, ServedInterface, servedIpv6 } from '@vmdhcp/dhcp-agent/packet-path';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import type { InterfaceParts } from './host-interfaces.js';

export interface BareHostPacketParts {
  readonly log: AgentLog;
  readonly server: DhcpServer;
  readonly conflictProbes: ConflictProbes;
  readonly metrics: Metrics;
  readonly onStateChange: () => void;
}

/** It opens its socket at the first check. */
export function createBareHostInterface(
  { name, pools, prepare }: InterfaceParts,
  { log, server, conflictProbes, metrics, onStateChange }: BareHostPacketParts,
): ServedInterface {
  const whyNotSent = conflictProbes.defer.bind(conflictProbes, name);
  return new ServedInterface(name, {
    observer: log,
    nowMs: systemClock.nowMs,
    sockets: linuxDhcpSockets,
    handler: server.handler(name, pools, {
      whyNotSent: (answer, packet) => (whyNotSent(answer, packet) ? 'address-being-probed' : undefined),
      isOpenTo: (lease) => !conflictProbes.isFresh(lease),
    }),
    ipv6: {
      sockets: linuxIpv6Sockets,
      ...servedIpv6(name, {
        ...{ observer: log, clock: systemClock, random: Math.random, counters: server.counters, pools },
        leaseOf: (poolName, macAddress) => server.leaseOf(poolName, macAddress),
        mayAnswer: () => true,
      }),
    },
    socketEvents: {
      onBurst: (durationNs) => {
        server.endBurst();
        metrics.observeBurst(durationNs);
      },
      onSendFailure: ({ error, count }) => {
        server.counters.drop('send-failed', count);
        log.observe({ kind: 'replies-not-sent', interfaceName: name, error, count });
      },
    },
    prepare,
    onStateChange,
  });
}
