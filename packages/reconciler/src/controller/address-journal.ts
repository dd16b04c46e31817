/** Reports every recorded allocation or release of an address to the observer, and every refusal once. */
import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import { type MergePatch, readList, readText } from '@vmdhcp/kube-runtime';
import { CLAIM_MISSING } from '../assignment/address-request.js';
import type { PoolPlan } from '../assignment/plan-pools.js';
import type { PoolView } from '../view/pool-views.js';
import { type AddressChange, type RecordedChange, recordedChanges } from './address-changes.js';
import type { ControllerContext } from './controller-context.js';

type JournalContext = Pick<ControllerContext, 'view' | 'caches' | 'releaseWaiters' | 'onAddressChange'>;

export class AddressJournal {
  readonly #context: JournalContext;
  /** By pool, then owner and MAC address: the last reason of a refusal. */
  readonly #refused = new Map<string, ReadonlyMap<string, string>>();

  constructor(context: JournalContext) {
    this.#context = context;
  }

  /** Called after the patch was written. */
  wrote(pool: PoolView, plan: PoolPlan | undefined, patch: MergePatch): void {
    const { onAddressChange } = this.#context;
    if (onAddressChange === undefined || plan === undefined) return;
    const changes = recordedChanges(pool.recorded, patch);
    if (changes.length === 0) return;
    const ownerOf = this.#owners(pool, plan);
    for (const change of changes) onAddressChange(describe({ pool, plan, owner: ownerOf(change.macAddress) }, change));
  }

  /** Called when the pool equals this plan. */
  planned({ key: pool }: PoolView, { refusals }: PoolPlan): void {
    const before = this.#refused.get(pool);
    const now = new Map<string, string>();
    for (const [owner, ofOwner] of refusals) {
      for (const [macAddress, { reason, message }] of ofOwner) {
        if (reason === CLAIM_MISSING.reason) continue;
        now.set(`${owner} ${macAddress}`, reason);
        if (before?.get(`${owner} ${macAddress}`) === reason) continue;
        this.#context.onAddressChange?.({ kind: 'refused', pool, owner, macAddress, reason, message });
      }
    }
    this.#refused.set(pool, now);
  }

  /** Called when the pool is gone or unusable. */
  forget(pool: string): void {
    this.#refused.delete(pool);
  }

  /** The owner according to the plan; else one that claims the address, or waits for it to be freed. */
  #owners({ key, network }: PoolView, { owners }: PoolPlan): (macAddress: MacAddress) => string | undefined {
    const { view, caches, releaseWaiters } = this.#context;
    const waiting = new Map<string, string>();
    for (const config of releaseWaiters.get(key) ?? []) {
      for (const entry of readList(caches.networkConfigs.get(config)?.status, 'networkConfigs')) {
        waiting.set(readText(entry, 'macAddress') ?? '', config);
      }
    }
    return (macAddress) => {
      const claimants = view.claimants(network, macAddress);
      const planned = owners.get(macAddress);
      return planned !== undefined && claimants.has(planned) ? planned : ([...claimants][0] ?? waiting.get(macAddress));
    };
  }
}

interface Circumstances {
  readonly pool: PoolView;
  readonly plan: PoolPlan;
  readonly owner: string | undefined;
}

function describe({ pool, plan, owner }: Circumstances, change: RecordedChange): AddressChange {
  const { macAddress, address } = change;
  const whose = { pool: pool.key, macAddress, owner };
  const inConflict = (one: Ipv4Address) => plan.quarantines.some((quarantine) => quarantine.address === one);
  if (change.kind === 'released') {
    return { ...whose, kind: 'released', address, reason: inConflict(address) ? 'address-conflict' : 'not-claimed' };
  }
  const { previous } = change;
  if (previous !== undefined) {
    return { ...whose, kind: 'allocated', address, previous, reason: inConflict(previous) ? 'address-conflict' : 'moved' };
  }
  const isReserved = pool.reading.ok && pool.reading.pool.reservations.get(macAddress)?.address === address;
  return { ...whose, kind: 'allocated', address, reason: isReserved ? 'reserved' : 'new' };
}
