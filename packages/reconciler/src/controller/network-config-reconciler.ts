/** Reconciles one VirtualMachineNetworkConfig: its status shows what its pools record, and it is deleted when they record nothing more. */
import { formatIpv4Address, type Ipv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { Ipv6Address } from '@vmdhcp/dhcp-allocator/address';
import { ipv6AddressBeside } from '@vmdhcp/dhcp-allocator/dhcpv6';
import { type EventOf, EXTERNAL_DHCP_ANNOTATION, NETWORK_CONFIG_FINALIZER, networkKey, reasonOf } from '@vmdhcp/ippool-api';
import {
  type EventRegarding,
  isBeingDeleted,
  type KubernetesObject,
  keyOf,
  type ReconcileResult,
  readList,
  readText,
  toReconcileResult,
  toRegarding,
} from '@vmdhcp/kube-runtime';
import { sentenceOf } from '../explanation.js';
import type { InterfaceClaim } from '../network-config/interface-claims.js';
import { describeMissingVirtualMachine, type MissingMachine } from '../network-config/missing-virtual-machine.js';
import {
  type InterfaceOutcome,
  type OutcomeProblem,
  planNetworkConfigStatus,
  type StaleAddress,
} from '../network-config/plan-network-config-status.js';
import { explainInvalidPool } from '../pool/explain-invalid-pool.js';
import type { PoolView } from '../view/pool-views.js';
import type { ControllerContext } from './controller-context.js';

/** The recheck interval without events, in case a pool cannot be written for a long time. */
const RELEASE_CHECK_MS = 5_000;

export class NetworkConfigReconciler {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  readonly reconcile = async (key: string): Promise<ReconcileResult> => {
    const { caches, view, plans, unrecordedPlans } = this.#context;
    const object = caches.networkConfigs.get(key);
    if (object === undefined) return { kind: 'settled' };
    for (const { network } of view.claimsOf(object).claims) {
      const pool = view.servingPool(network)?.key ?? '';
      unrecordedPlans.get(pool)?.set(key, plans.get(pool));
    }
    const stale = this.#staleAddresses(object);
    if (isBeingDeleted(object)) return this.#release(object, stale);
    if (!(object.metadata.finalizers ?? []).includes(NETWORK_CONFIG_FINALIZER)) return this.#addFinalizer(object);
    return this.#writeStatus(object, stale);
  };

  async #writeStatus(object: KubernetesObject, stale: readonly StaleAddress[]): Promise<ReconcileResult> {
    const { annotatesMachines, caches, clients, enqueue, now, view } = this.#context;
    const key = keyOf(object);
    const claims = view.claimsOf(object);
    const outcomeOf = (claim: InterfaceClaim): InterfaceOutcome => this.#outcomeOf(key, claim);
    const missing = caches.virtualMachines.get(key) === undefined ? describeMissingVirtualMachine(object) : undefined;
    const { patch, problem } = planNetworkConfigStatus(object, { claims, outcomeOf, stale, missing, now: now() });
    for (const one of [problem, missing]) if (one !== undefined) this.#tellPeople(object, one);
    this.#waitForRelease(key, stale);
    const done: ReconcileResult = stale.length === 0 ? { kind: 'settled' } : { kind: 'recheck', afterMs: RELEASE_CHECK_MS };
    if (patch === undefined) return done;
    const target = { key, resourceVersion: object.metadata.resourceVersion };
    const result = await clients.networkConfigs.patchStatus(target, patch);
    if (result.ok) {
      caches.networkConfigs.wrote(result.object);
      if (annotatesMachines) enqueue.virtualMachines(key);
    }
    return toReconcileResult(result, done);
  }

  #outcomeOf(config: string, claim: InterfaceClaim): InterfaceOutcome {
    const { network, macAddress, wanted } = claim;
    const { view, plans } = this.#context;
    const pool = view.servingPool(network);
    if (pool === undefined) return this.#unserved(config, network, macAddress);
    if (!pool.reading.ok) {
      const message = sentenceOf(explainInvalidPool(pool.key));
      return { kind: 'refused', refusal: { reason: 'pool-invalid', message } };
    }
    const plan = plans.get(pool.key);
    if (plan === undefined) return { kind: 'waiting', isSoon: true };
    const refusal = plan.refusals.get(config)?.get(macAddress);
    // The record may belong to another config with the same MAC address: the plan decides, once it knows both.
    if (refusal === undefined && plan.owners.get(macAddress) !== config) return { kind: 'waiting' };
    const address = pool.addressOf.get(macAddress);
    // The plan is being written: until then the record may still be that of the MAC address's former owner.
    if (address !== undefined && plan.addressOf.get(macAddress) !== address) return { kind: 'waiting', isSoon: true };
    if (address === undefined) return withoutAddress(refusal, pool, claim);
    return toOutcome(wanted, { address, ipv6Address: ipv6AddressBeside(pool.reading.pool, address) }, refusal);
  }

  #unserved(config: string, network: string, macAddress: MacAddress): InterfaceOutcome {
    const { caches, view } = this.#context;
    const annotations = caches.networks.get(network)?.metadata.annotations ?? {};
    const kind = annotations[EXTERNAL_DHCP_ANNOTATION] === 'true' ? 'external' : 'unserved';
    const ending = view.endingPool(network);
    const isHeir = ending !== undefined && view.heirOf(ending, macAddress) === config;
    return { kind, network, ...(isHeir && { left: ending.addressOf.get(macAddress) }) };
  }

  /** Addresses in its status that a pool still records, although neither its spec nor another config wants them. */
  #staleAddresses(object: KubernetesObject): StaleAddress[] {
    return readList(object.status, 'networkConfigs')
      .flatMap((entry) => readStatusEntry(entry, object.metadata.namespace))
      .filter((entry) => this.#isRecorded(entry) && !this.#isClaimed(object, entry));
  }

  /** Reservations stay recorded even without a claim. */
  #isRecorded({ network, macAddress, address }: StaleAddress): boolean {
    const pool = this.#context.view.servingPool(network);
    if (pool?.reading.ok !== true || pool.addressOf.get(macAddress) !== address) return false;
    return pool.reading.pool.reservations.get(macAddress)?.address !== address;
  }

  /** True if it is claimed by its own spec, unless it is being deleted, or by any other config. */
  #isClaimed(object: KubernetesObject, { network, macAddress, address }: StaleAddress): boolean {
    const { view } = this.#context;
    if ([...view.claimants(network, macAddress)].some((other) => other !== keyOf(object))) return true;
    // Its virtual machine still exists, and a config will claim the same address again.
    if (view.reservingMachine(network, macAddress) !== undefined) return true;
    return view.claimsOf(object).claims.some((claim) => claim.network === network && isOfClaim(claim, { macAddress, address }));
  }

  async #release(object: KubernetesObject, stale: readonly StaleAddress[]): Promise<ReconcileResult> {
    const { clients, caches } = this.#context;
    const { finalizers = [], resourceVersion } = object.metadata;
    if (!finalizers.includes(NETWORK_CONFIG_FINALIZER)) return { kind: 'settled' };
    if (stale.length > 0) {
      this.#waitForRelease(keyOf(object), stale);
      return { kind: 'recheck', afterMs: RELEASE_CHECK_MS };
    }
    const left = finalizers.filter((finalizer) => finalizer !== NETWORK_CONFIG_FINALIZER);
    const result = await clients.networkConfigs.patch(
      { key: keyOf(object), resourceVersion },
      { metadata: { finalizers: left } },
    );
    if (result.ok) caches.networkConfigs.wrote(result.object);
    return !result.ok && result.reason === 'not-found' ? { kind: 'settled' } : toReconcileResult(result);
  }

  async #addFinalizer(object: KubernetesObject): Promise<ReconcileResult> {
    const { clients, caches, enqueue } = this.#context;
    const { finalizers = [], resourceVersion } = object.metadata;
    const key = keyOf(object);
    const patch = { metadata: { finalizers: [...finalizers, NETWORK_CONFIG_FINALIZER] } };
    const result = await clients.networkConfigs.patch({ key, resourceVersion }, patch);
    if (result.ok) {
      caches.networkConfigs.wrote(result.object);
      enqueue.networkConfigs(key);
    }
    return toReconcileResult(result);
  }

  #waitForRelease(config: string, stale: readonly StaleAddress[]): void {
    const { view, enqueueRelease, releaseWaiters } = this.#context;
    for (const { network } of stale) {
      const pool = view.servingPool(network);
      if (pool === undefined) continue;
      releaseWaiters.set(pool.key, (releaseWaiters.get(pool.key) ?? new Set()).add(config));
      enqueueRelease(pool.key);
    }
  }

  /** On the virtual machine, where people look, or on the object itself if there is none. */
  #tellPeople(object: KubernetesObject, { reason, message }: OutcomeProblem | MissingMachine): void {
    const text: EventOf<'VirtualMachine'> & EventOf<'VirtualMachineNetworkConfig'> = {
      type: 'Warning',
      reason: reasonOf(reason),
      message,
    };
    this.#context.events.record(this.#virtualMachineOf(object) ?? toRegarding(object), text);
  }

  #virtualMachineOf({ metadata }: KubernetesObject): EventRegarding | undefined {
    const owner = (metadata.ownerReferences ?? []).find(({ kind }) => kind === 'VirtualMachine');
    if (owner === undefined) return undefined;
    const { apiVersion, kind, name, uid } = owner;
    return { apiVersion, kind, name, uid, ...(metadata.namespace !== undefined && { namespace: metadata.namespace }) };
  }
}

/** An interface whose MAC address has changed gets the IP address that is recorded for the former one. */
function isOfClaim(claim: InterfaceClaim, { macAddress, address }: Pick<StaleAddress, 'macAddress' | 'address'>): boolean {
  if (claim.macAddress === macAddress) return true;
  return claim.previous === address && claim.replaces?.includes(macAddress) === true;
}

const WAITING: InterfaceOutcome = { kind: 'waiting' };

function withoutAddress(refusal: OutcomeProblem | undefined, { recorded }: PoolView, claim: InterfaceClaim): InterfaceOutcome {
  if (refusal === undefined) return WAITING;
  const { macAddress, previous, replaces = [] } = claim;
  const owner = previous === undefined ? previous : recorded.entryAt(formatIpv4Address(previous))?.assignment?.macAddress;
  return { kind: 'refused', refusal, isLastTaken: owner !== undefined && owner !== macAddress && !replaces.includes(owner) };
}

function toOutcome(
  wanted: Ipv4Address | undefined,
  recorded: { readonly address: Ipv4Address; readonly ipv6Address: Ipv6Address | undefined },
  refusal: OutcomeProblem | undefined,
): InterfaceOutcome {
  if (refusal?.reason === 'mac-address-claimed-twice') return { kind: 'refused', refusal };
  if (refusal !== undefined) return { kind: 'allocated', ...recorded, refusal };
  return wanted === undefined || wanted === recorded.address ? { kind: 'allocated', ...recorded } : WAITING;
}

function readStatusEntry(entry: unknown, namespace: string | undefined): StaleAddress[] {
  const macAddress = parseMacAddress(readText(entry, 'macAddress') ?? '');
  const address = parseIpv4Address(readText(entry, 'allocatedIPAddress') ?? '');
  const networkName = readText(entry, 'networkName');
  if (macAddress === undefined || address === undefined || !networkName) return [];
  return [{ network: networkKey(networkName, namespace), macAddress, address }];
}
