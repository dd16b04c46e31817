/** Parts of the controller, as its settings ask for them. */

import { EVENT_COMPONENT, Resource } from '@vmdhcp/ippool-api/resources';
import { type EventObject, EventRecorder } from '@vmdhcp/kube-runtime';
import { type AgentsContext, createAgentsContext } from './agents-context.js';
import { AuditKeeper } from './audit-keeper.js';
import type { DhcpControllerSettings } from './dhcp-controller-settings.js';
import { MemoryKeeper, type MemoryKeeperSettings } from './memory-keeper.js';

type MemoryFacts = Pick<MemoryKeeperSettings, 'virtualMachines' | 'recordedInterfaces' | 'onRead' | 'onKnown'>;

/** Undefined if MAC addresses of stopped machines are not stored. */
export function createMemory(settings: DhcpControllerSettings, facts: MemoryFacts): MemoryKeeper | undefined {
  const { macAddressMemory, observer, onlyNamespace } = settings;
  if (macAddressMemory === undefined) return undefined;
  return new MemoryKeeper({
    ...settings,
    ...macAddressMemory,
    ...facts,
    onlyNamespace,
    onProblem: observer?.onMemoryProblem,
    onError: (error) => observer?.onReadError?.('macAddressMemory', error),
  });
}

/** Undefined if the history of addresses is not kept. @param onLoaded - called when all pools should be observed. */
export function createAudit(settings: DhcpControllerSettings, onLoaded: () => void): AuditKeeper | undefined {
  const { audit, observer } = settings;
  if (audit === undefined) return undefined;
  return new AuditKeeper({
    ...settings,
    ...audit,
    onRecords: observer?.onAssignmentRecords,
    onDropped: observer?.onAuditDropped,
    onError: (error) => observer?.onReadError?.('audit', error),
    onLoaded,
  });
}

type AgentsFacts = Pick<Parameters<typeof createAgentsContext>[0], 'view' | 'networks' | 'onChange' | 'enqueue'>;

/** Undefined if the controller deploys no agents. */
export function createAgents(settings: DhcpControllerSettings, facts: AgentsFacts): AgentsContext | undefined {
  const { agents, caches, clientOf, onlyNamespace, clock, now, observer } = settings;
  if (agents === undefined) return undefined;
  return createAgentsContext({
    ...facts,
    settings: agents,
    ...{ caches, clientOf, onlyNamespace, clock, now },
    onAction: observer?.onAgentAction,
    onError: (kind, error) => observer?.onReadError?.(kind, error),
  });
}

/** For texts that people read. */
export function createEvents({ clientOf, clock, now, random, identity, observer }: DhcpControllerSettings): EventRecorder {
  return new EventRecorder({
    client: clientOf<EventObject>(Resource.events),
    ...{ clock, now, random },
    component: EVENT_COMPONENT,
    instance: identity,
    ...(observer?.onEventError && { onError: observer.onEventError }),
  });
}
