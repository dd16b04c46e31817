/** Work on one VirtualMachineNetworkConfig: its status says what its pools record, and it goes when they record nothing more. */
import { networkKey, NETWORK_CONFIG_FINALIZER } from '@vmdhcp/ippool-api';
import { parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { type EventRegarding, toRegarding } from '../events/event-recorder.js';
import type { WorkResult } from '../machinery/keyed-queue.js';
import { keyOf } from '../machinery/reflector.js';
import type { InterfaceClaim } from '../network-config/interface-claims.js';
import {
  type InterfaceOutcome,
  type OutcomeProblem,
  planNetworkConfigStatus,
  type StaleAddress,
} from '../network-config/plan-network-config-status.js';
import { toReason } from '../object/conditions.js';
import { isBeingDeleted, type KubernetesObject } from '../object/kubernetes-object.js';
import { readList, readText } from '../object/read-field.js';
import { type ControllerContext, toWorkResult } from './controller-context.js';

/** Looked at again even without news, in case a pool cannot be written for long. */
const RELEASE_CHECK_MS = 5_000;

export class NetworkConfigWork {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  readonly work = async (key: string): Promise<WorkResult> => {
    const object = this.#context.caches.networkConfigs.get(key);
    if (object === undefined) return { kind: 'settled' };
    const stale = this.#staleAddresses(object);
    if (isBeingDeleted(object)) return this.#release(object, stale);
    if (!(object.metadata.finalizers ?? []).includes(NETWORK_CONFIG_FINALIZER)) return this.#addFinalizer(object);
    return this.#writeStatus(object, stale);
  };

  async #writeStatus(object: KubernetesObject, stale: readonly StaleAddress[]): Promise<WorkResult> {
    const { view, now, clients, caches } = this.#context;
    const key = keyOf(object);
    const claims = view.claimsOf(object);
    const outcomeOf = (claim: InterfaceClaim): InterfaceOutcome => this.#outcomeOf(key, claim);
    const { patch, problem } = planNetworkConfigStatus(object, { claims, outcomeOf, stale, now: now() });
    if (problem !== undefined) this.#tellPeople(object, problem);
    this.#waitForRelease(key, stale);
    const done: WorkResult = stale.length === 0 ? { kind: 'settled' } : { kind: 'recheck', afterMs: RELEASE_CHECK_MS };
    if (patch === undefined) return done;
    const target = { key, resourceVersion: object.metadata.resourceVersion };
    const result = await clients.networkConfigs.patchStatus(target, patch);
    if (result.ok) caches.networkConfigs.wrote(result.object);
    return toWorkResult(result, done);
  }

  #outcomeOf(config: string, { network, macAddress, wanted }: InterfaceClaim): InterfaceOutcome {
    const { view, plans } = this.#context;
    const pool = view.servingPool(network);
    if (pool === undefined) return { kind: 'unserved', network };
    if (!pool.reading.ok) {
      const message = `IPPool ${pool.key} makes no sense: ${pool.reading.problems.join('; ')}`;
      return { kind: 'refused', refusal: { reason: 'pool-invalid', message } };
    }
    const plan = plans.get(pool.key);
    if (plan === undefined) return { kind: 'waiting' };
    const refusal = plan.refusals.get(config)?.get(macAddress);
    const address = pool.addressOf.get(macAddress);
    if (address === undefined || refusal?.reason === 'mac-address-claimed-twice') {
      return refusal === undefined ? { kind: 'waiting' } : { kind: 'refused', refusal };
    }
    if (refusal !== undefined) return { kind: 'allocated', address, refusal };
    return wanted === undefined || wanted === address ? { kind: 'allocated', address } : { kind: 'waiting' };
  }

  /** What its status lists, its spec does not want, nobody else claims, and a pool still records. */
  #staleAddresses(object: KubernetesObject): StaleAddress[] {
    const { view } = this.#context;
    const key = keyOf(object);
    return readList(object.status, 'networkConfigs').flatMap((entry): StaleAddress[] => {
      const macAddress = parseMacAddress(readText(entry, 'macAddress') ?? '');
      const address = parseIpv4Address(readText(entry, 'allocatedIPAddress') ?? '');
      const networkName = readText(entry, 'networkName');
      if (macAddress === undefined || address === undefined || !networkName) return [];
      const network = networkKey(networkName, object.metadata.namespace);
      const pool = view.servingPool(network);
      const isRecorded = pool?.reading.ok === true && pool.addressOf.get(macAddress) === address;
      const isReserved = pool?.reading.ok === true && pool.reading.pool.reservations.get(macAddress)?.address === address;
      const claimants = [...view.claimants(network, macAddress)].filter((other) => other !== key);
      const isWanted = view.claimsOf(object).claims.some((claim) => claim.network === network && claim.macAddress === macAddress);
      return isRecorded && !isReserved && !isWanted && claimants.length === 0 ? [{ network, macAddress, address }] : [];
    });
  }

  async #release(object: KubernetesObject, stale: readonly StaleAddress[]): Promise<WorkResult> {
    const { clients, caches } = this.#context;
    const { finalizers = [], resourceVersion } = object.metadata;
    if (!finalizers.includes(NETWORK_CONFIG_FINALIZER)) return { kind: 'settled' };
    if (stale.length > 0) {
      this.#waitForRelease(keyOf(object), stale);
      return { kind: 'recheck', afterMs: RELEASE_CHECK_MS };
    }
    const left = finalizers.filter((finalizer) => finalizer !== NETWORK_CONFIG_FINALIZER);
    const result = await clients.networkConfigs.patch({ key: keyOf(object), resourceVersion }, { metadata: { finalizers: left } });
    if (result.ok) caches.networkConfigs.wrote(result.object);
    return !result.ok && result.reason === 'not-found' ? { kind: 'settled' } : toWorkResult(result);
  }

  async #addFinalizer(object: KubernetesObject): Promise<WorkResult> {
    const { clients, caches, enqueue } = this.#context;
    const { finalizers = [], resourceVersion } = object.metadata;
    const key = keyOf(object);
    const patch = { metadata: { finalizers: [...finalizers, NETWORK_CONFIG_FINALIZER] } };
    const result = await clients.networkConfigs.patch({ key, resourceVersion }, patch);
    if (result.ok) {
      caches.networkConfigs.wrote(result.object);
      enqueue.networkConfigs(key);
    }
    return toWorkResult(result);
  }

  #waitForRelease(config: string, stale: readonly StaleAddress[]): void {
    const { view, enqueue, releaseWaiters } = this.#context;
    for (const { network } of stale) {
      const pool = view.servingPool(network);
      if (pool === undefined) continue;
      releaseWaiters.set(pool.key, (releaseWaiters.get(pool.key) ?? new Set()).add(config));
      enqueue.ipPools(pool.key);
    }
  }

  /** On the virtual machine, where people look, and on the object itself. */
  #tellPeople(object: KubernetesObject, { reason, message }: OutcomeProblem): void {
    const text = { type: 'Warning', reason: toReason(reason), message } as const;
    this.#context.events.record(this.#virtualMachineOf(object) ?? toRegarding(object), text);
  }

  #virtualMachineOf({ metadata }: KubernetesObject): EventRegarding | undefined {
    const owner = (metadata.ownerReferences ?? []).find(({ kind }) => kind === 'VirtualMachine');
    if (owner === undefined) return undefined;
    const { apiVersion, kind, name, uid } = owner;
    return { apiVersion, kind, name, uid, ...(metadata.namespace !== undefined && { namespace: metadata.namespace }) };
  }
}
