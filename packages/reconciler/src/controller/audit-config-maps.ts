/** The ConfigMaps of the audit, claimed by one leader: each request names the last seen version, so that another writer is noticed. */
import { AUDIT_LABEL, AUDIT_WRITER_ANNOTATION } from '@vmdhcp/ippool-api';
import type { KubernetesObject, MergePatch, ObjectClient, WriteResult } from '@vmdhcp/kube-runtime';
import {
  AUDIT_SLOT_NAMES,
  AUDIT_STATE_NAME,
  type AuditSlot,
  emptySlot,
  readSlot,
  readStoredAudit,
} from '../audit/audit-slots.js';

/** Parallel requests at the start of the controller. */
const MOST_CLAIMS = 8;

/** A refused write. */
export type RefusedWrite = Extract<WriteResult<unknown>, { readonly ok: false }>;

export type ClaimedAudit =
  | { readonly ok: true; readonly stored: Pick<ReturnType<typeof readStoredAudit>, 'logs' | 'state'> }
  | RefusedWrite;

export class AuditConfigMaps {
  readonly #client: ObjectClient<KubernetesObject>;
  readonly #namespace: string;
  #slots = new Map<string, AuditSlot>();
  /** A new value for each read of the stored records. */
  #writer = '';
  #stateVersion: string | undefined;

  constructor(client: ObjectClient<KubernetesObject>, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** The last read or written versions, by name. */
  get slots(): ReadonlyMap<string, AuditSlot> {
    return this.#slots;
  }

  /** Reads all of them by writes, and creates missing ones. @param writer - a new value for each call. */
  async claimAll(writer: string): Promise<ClaimedAudit> {
    this.#writer = writer;
    const state = await this.#claim(AUDIT_STATE_NAME);
    if (!state.ok && state.reason !== 'not-found') return state;
    const objects = state.ok ? [state.object] : [];
    let isComplete = true;
    for (let first = 0; first < AUDIT_SLOT_NAMES.length; first += MOST_CLAIMS) {
      const names = AUDIT_SLOT_NAMES.slice(first, first + MOST_CLAIMS);
      for (const { slot, isNew } of await Promise.all(names.map((name) => this.#claimOrCreate(name)))) {
        if (!slot.ok) return slot;
        objects.push(slot.object);
        isComplete &&= !isNew;
      }
    }
    const { slots, logs, state: storedState } = readStoredAudit(objects);
    this.#slots = new Map(slots);
    this.#stateVersion = state.ok ? state.object.metadata.resourceVersion : undefined;
    // The state was written after all others were created: if one is missing, records are lost.
    return { ok: true, stored: { logs, state: isComplete ? storedState : undefined } };
  }

  /** Reads one of them by a write. */
  async read(slot: string): Promise<WriteResult<KubernetesObject>> {
    const read = await this.#claim(slot, this.#slots.get(slot)?.resourceVersion);
    if (read.ok) this.#slots.set(slot, readSlot(read.object));
    return read;
  }

  async patch(slot: string, patch: MergePatch): Promise<WriteResult<KubernetesObject>> {
    const resourceVersion = this.#slots.get(slot)?.resourceVersion;
    const result = await this.#client.patch({ key: `${this.#namespace}/${slot}`, resourceVersion }, patch);
    if (result.ok) this.#slots.set(slot, readSlot(result.object));
    return result;
  }

  /** @param state - as text. */
  async storeState(state: string): Promise<WriteResult<KubernetesObject>> {
    const namespace = this.#namespace;
    const data = { state };
    const metadata = { namespace, name: AUDIT_STATE_NAME, labels: { [AUDIT_LABEL]: 'true' } };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
    const result = await (this.#stateVersion === undefined
      ? this.#client.create(object)
      : this.#client.patch({ key: `${namespace}/${AUDIT_STATE_NAME}`, resourceVersion: this.#stateVersion }, { data }));
    if (result.ok) this.#stateVersion = result.object.metadata.resourceVersion;
    return result;
  }

  /**
   * Reads a ConfigMap by a write. From then on, pending writes of a former leader are refused, because they name an earlier version.
   *
   * @param resourceVersion - undefined for any version.
   */
  async #claim(name: string, resourceVersion?: string): Promise<WriteResult<KubernetesObject>> {
    const annotations = { [AUDIT_WRITER_ANNOTATION]: this.#writer };
    const labels = { [AUDIT_LABEL]: 'true' };
    return await this.#client.patch(
      { key: `${this.#namespace}/${name}`, resourceVersion },
      { metadata: { annotations, labels } },
    );
  }

  /** If a former leader still tries to create it, it finds that it exists. */
  async #claimOrCreate(name: string): Promise<{ readonly slot: WriteResult<KubernetesObject>; readonly isNew: boolean }> {
    const claimed = await this.#claim(name);
    if (claimed.ok || claimed.reason !== 'not-found') return { slot: claimed, isNew: false };
    return { slot: await this.#client.create(emptySlot(this.#namespace, name)), isNew: true };
  }
}
