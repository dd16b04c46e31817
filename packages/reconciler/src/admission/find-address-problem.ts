/** Finds why an interface cannot have the address that it wants: the same problem that the plan of its pool would find. */
import { formatIpv4Address, type Ipv4Address, type MacAddress, type Pool } from '@vmdhcp/dhcp-allocator';
import type { Explanation } from '../explanation.js';
import { explainRefusal, explainRival } from '../pool/explain-refusal.js';
import { findAddressRefusal } from '../pool/find-address-refusal.js';
import { readQuarantines } from '../pool/quarantines.js';
import type { PoolView } from '../view/pool-views.js';
import type { AdmissionFacts } from './admission-facts.js';

export interface AddressProblem extends Explanation {
  readonly reason: 'address-reserved' | 'address-outside-pool' | 'address-unavailable' | 'address-taken' | 'address-quarantined';
}

/** An interface that wants one address in particular. */
export interface WantedAddress {
  /** Key of the virtual machine, and of its config. */
  readonly owner: string;
  readonly network: string;
  readonly macAddress: MacAddress;
  readonly wanted: Ipv4Address;
}

/** Undefined if it can have the address, or no pool serves the network. */
export function findAddressProblem(claim: WantedAddress, facts: AdmissionFacts): AddressProblem | undefined {
  const serving = facts.servingPool(claim.network);
  if (serving?.reading.ok !== true) return undefined;
  const { pool } = serving.reading;
  if (serving.addressOf.get(claim.macAddress) === claim.wanted) return undefined;
  const refusal = findAddressRefusal(pool, claim.macAddress, claim.wanted);
  if (refusal !== undefined) return { reason: refusal.reason, ...explainRefusal(refusal, pool, claim) };
  return findOwner(claim, { serving, pool }, facts) ?? findRival(claim, facts) ?? findQuarantine(claim, { serving, pool });
}

interface Serving {
  readonly serving: PoolView;
  readonly pool: Pool;
}

/** Ignore a client whose virtual machine is gone: its address is being freed. */
function findOwner(claim: WantedAddress, { serving, pool }: Serving, facts: AdmissionFacts): AddressProblem | undefined {
  const entry = serving.recorded.entryAt(formatIpv4Address(claim.wanted));
  if (entry === undefined) return undefined;
  const macAddress = entry.assignment?.macAddress;
  if (macAddress === undefined)
    return { reason: 'address-unavailable', ...explainRefusal({ reason: 'address-unavailable' }, pool, claim) };
  const users = [...facts.claimants(claim.network, macAddress), ...facts.machinesHaving(claim.network, macAddress)];
  if (users.every((user) => user === claim.owner)) return undefined;
  const refusal = { reason: 'address-taken', owner: macAddress } as const;
  return { reason: 'address-taken', ...explainRefusal(refusal, pool, claim) };
}

/** Another interface that wants the address, and does not have it yet. */
function findRival({ owner, network, macAddress, wanted }: WantedAddress, facts: AdmissionFacts): AddressProblem | undefined {
  for (const [rival, itsMacAddress] of facts.wanting(network, wanted)) {
    if (rival !== owner && itsMacAddress !== macAddress)
      return { reason: 'address-taken', ...explainRival(wanted, { owner: rival, macAddress: itsMacAddress }) };
  }
  return undefined;
}

/** Every listed entry counts, because the controller removes it when its time is over, but for the machine that uses the address itself. */
function findQuarantine(claim: WantedAddress, { serving, pool }: Serving): AddressProblem | undefined {
  const isInUse = readQuarantines(serving.object).some(
    ({ address, usedBy }) => address === claim.wanted && usedBy !== claim.macAddress,
  );
  if (!isInUse) return undefined;
  const refusal = { reason: 'address-quarantined' } as const;
  return { ...refusal, ...explainRefusal(refusal, pool, claim) };
}
