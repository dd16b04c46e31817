/** The Events of an IPPool: problems that need action by a person. */
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { DeclinedIpv6, ReasonAt } from '@vmdhcp/ippool-api';
import { describeNames } from '@vmdhcp/kube-runtime';
import type { PoolAgents } from '../agents/pool-agents.js';
import type { PoolPlan } from '../assignment/plan-pools.js';
import type { AddressConflict } from '../pool/address-conflict.js';
import { describeFull, describeRoom } from '../pool/describe-room.js';
import type { ObservedUse } from '../pool/observed-use.js';
import { describeEntry, type UnreadableEntry } from '../pool/recorded-addresses.js';
import type { PoolView } from '../view/pool-views.js';

type EventReason = ReasonAt<'Warning Event on IPPool'>;

export interface Warning {
  readonly reason: EventReason;
  readonly message: string;
}

/** Why a pool is not registered with its agents, if a user has to do something about it. */
const WORTH_AN_EVENT: ReadonlySet<string> = new Set<EventReason>([
  'AgentDeploymentMissing',
  'AgentContainerMissing',
  'AgentDeploymentConflict',
  'AgentSelectorMismatch',
  'AgentConfigTooLarge',
  'NetworkMissing',
  'FailedCreate',
  'RolloutStuck',
  'NotScheduled',
  'ImagePull',
  'RogueServer',
  'RogueRouter',
]);
export function agentWarnings({ conditions, conflicts, observedUses, declinedIpv6 }: PoolAgents): Warning[] {
  const messages = new Map(
    conditions.flatMap(({ reason = '', message = '' }) => (isWorthAnEvent(reason) ? [[reason, message] as const] : [])),
  );
  return [
    ...[...messages].map(([reason, message]) => ({ reason, message })),
    ...conflicts.map(conflictWarning),
    ...useWarning(observedUses),
    ...declineWarning(declinedIpv6),
  ];
}

function isWorthAnEvent(reason: string): reason is EventReason {
  return WORTH_AN_EVENT.has(reason);
}

function conflictWarning({ address, macAddress, usedBy }: AddressConflict): Warning {
  const who = usedBy === undefined ? 'an unknown machine, as its client found out' : usedBy;
  const other = usedBy === undefined ? "that machine's MAC address, once you have found it," : usedBy;
  const remedy = `reserve the address for ${other} in spec.ipv4Config.reservations of the IPPool, or remove that machine from the network`;
  const message = `${formatIpv4Address(address)}, which was assigned to ${macAddress}, is in use by ${who}: no client gets it for an hour; ${remedy}`;
  return { reason: 'AddressConflict', message };
}

const MOST_USES_NAMED = 10;

function useWarning(uses: readonly ObservedUse[]): Warning[] {
  if (uses.length === 0) return [];
  const names = uses.map(({ address, usedBy, assignedTo }) => {
    const owner = assignedTo === undefined ? 'which no client has' : `which is assigned to ${assignedTo}`;
    return `${formatIpv4Address(address)}, ${owner}, by ${usedBy}`;
  });
  const message = `machines use addresses that are not assigned to them: ${describeNames(names, { most: MOST_USES_NAMED })}; pin, reserve or exclude these addresses, or let the guest operating systems use DHCP`;
  return [{ reason: 'UnassignedAddressUsed', message }];
}

function declineWarning(declined: readonly DeclinedIpv6[]): Warning[] {
  if (declined.length === 0) return [];
  const names = declined.map(({ address, macAddress }) => `${address} of ${macAddress}`);
  const message = `machines declined their IPv6 addresses, because other hosts use them: ${describeNames(names, { most: MOST_USES_NAMED })}; give those hosts other addresses`;
  return [{ reason: 'DuplicateAddressDetected', message }];
}

/** For the virtual machine whose guest uses an address that is not assigned to it. */
export function warnUser({ address, assignedTo }: ObservedUse, network: string): string {
  const owner = assignedTo === undefined ? 'no client' : `another machine (${assignedTo})`;
  return `its guest operating system uses ${formatIpv4Address(address)} on ${network}, which is assigned to ${owner}: let it use DHCP, or pin a free address`;
}

/** For the virtual machine whose address another host uses too. */
export function warnOwner({ address, usedBy }: ObservedUse, network: string): string {
  return `another machine (${usedBy}) uses its address ${formatIpv4Address(address)} on ${network} too, so that both may lose packets: give the other one another address, or remove it from the network`;
}

export function entryWarning(entry: UnreadableEntry): Warning {
  const message = `status.ipv4.allocated has ${describeEntry(entry)}, which makes no sense: no client gets that address until the entry is removed`;
  return { reason: 'EntriesSkipped', message };
}

export function exhaustionWarning({ refusals, counts }: PoolPlan, { reading }: PoolView): Warning[] {
  const reasons = new Set([...refusals.values()].flatMap((ofConfig) => [...ofConfig.values()].map(({ reason }) => reason)));
  const remedy = reading.ok ? describeRoom(reading.pool) : 'delete virtual machines';
  const message = `every address is in use and virtual machines wait for one; ${remedy}`;
  return [
    ...(reasons.has('pool-exhausted') ? [{ reason: 'PoolExhausted' as const, message }] : []),
    ...(reasons.has('pool-record-full')
      ? [
          {
            reason: 'PoolRecordFull' as const,
            message: `virtual machines wait for an address: the pool ${describeFull(counts.used)}`,
          },
        ]
      : []),
  ];
}
