/** What the agents of a pool have found on the network, for its plan. */
import { formatIpv4Address, type Ipv4Address, sizeOfRange } from '@vmdhcp/dhcp-allocator';
import type { PoolAgents } from '../agents/pool-agents.js';
import type { PoolToPlan } from '../assignment/pool-to-plan.js';
import { withObservedUses } from '../pool/observed-use.js';
import { type Quarantine, readQuarantines } from '../pool/quarantines.js';
import type { PoolView } from '../view/pool-views.js';

/** How long an address that an unknown machine uses is not assigned. */
const QUARANTINE_MS = 3_600_000;

export interface AgentFindings {
  readonly agents: Pick<PoolAgents, 'conflicts' | 'observedUses'> | undefined;
  /** Milliseconds on the clock of quarantines. */
  readonly nowMs: number;
}

/** Addresses that another machine uses are taken from their clients, and no other client gets them for an hour. */
export function afterFindings(serving: PoolView, findings: AgentFindings): Pick<PoolToPlan, 'conflicts' | 'quarantines'> {
  const { addressOf } = serving;
  const { agents, nowMs } = findings;
  const untilMs = nowMs + QUARANTINE_MS;
  const conflicts = (agents?.conflicts ?? []).filter(({ address, macAddress }) => addressOf.get(macAddress) === address);
  const quarantines = quarantinesOf(serving, findings, untilMs);
  if (conflicts.length === 0) return { quarantines };
  const inUse = new Set(conflicts.map(({ address }) => address));
  return {
    conflicts: inUse,
    quarantines: [
      ...quarantines.filter(({ address }) => !inUse.has(address)),
      ...conflicts.map(({ address, usedBy }) => ({ address, untilMs, ...(usedBy !== undefined && { usedBy }) })),
    ],
  };
}

/** The recorded quarantines that are not over, and those of addresses that no client has and some host uses. */
function quarantinesOf(
  { object, reading, recorded }: PoolView,
  { agents, nowMs }: AgentFindings,
  untilMs: number,
): readonly Quarantine[] {
  const lasting = readQuarantines(object).filter((one) => one.untilMs > nowMs);
  // A longer one was recorded while the clock of a controller was ahead.
  const before = lasting.map((one) => (one.untilMs > untilMs ? { ...one, untilMs } : one));
  const uses = agents?.observedUses ?? [];
  if (uses.length === 0 || !reading.ok) return before;
  const isAssigned = (address: Ipv4Address) => {
    const client = recorded.entryAt(formatIpv4Address(address))?.assignment?.macAddress;
    return client !== undefined && recorded.addressOf.get(client) === address;
  };
  return withObservedUses(before, {
    uses,
    isAssigned,
    poolSize: reading.pool.ranges.reduce((sum, range) => sum + sizeOfRange(range), 0),
    untilMs,
  });
}
