/**
 * The ConfigMaps of the audit, as one leader has claimed them: each request names the version that was seen last, so that another writer is noticed.
 */
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

/** Requests at the same moment, when the controller starts. */
const MOST_CLAIMS = 8;

/** A write that was refused. */
export type RefusedWrite = Extract<WriteResult<unknown>, { readonly ok: false }>;

export type ClaimedAudit =
  | { readonly ok: true; readonly stored: Pick<ReturnType<typeof readStoredAudit>, 'logs' | 'state'> }
  | RefusedWrite;

export class AuditConfigMaps {
  readonly #client: ObjectClient<KubernetesObject>;
  readonly #namespace: string;
  #slots = new Map<string, AuditSlot>();
  /** Differs for each time that the stored records are read. */
  #writer = '';
  #stateVersion: string | undefined;

  constructor(client: ObjectClient<KubernetesObject>, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** As they were read or written last, by their names. */
  get slots(): ReadonlyMap<string, AuditSlot> {
    return this.#slots;
  }

  /** Reads all of them by writes; those that do not exist are created. @param writer - differs for each call. */
  async claimAll(writer: string): Promise<ClaimedAudit> {
    this.#writer = writer;
    const state = await this.#claim(AUDIT_STATE_NAME);
    if (!state.ok && state.reason !== 'not-found') return state;
    const objects = state.ok ? [state.object] : [];
    for (let first = 0; first < AUDIT_SLOT_NAMES.length; first += MOST_CLAIMS) {
      const names = AUDIT_SLOT_NAMES.slice(first, first + MOST_CLAIMS);
      for (const slot of await Promise.all(names.map((name) => this.#claimOrCreate(name)))) {
        if (!slot.ok) return slot;
        objects.push(slot.object);
      }
    }
    const { slots, ...stored } = readStoredAudit(objects);
    this.#slots = new Map(slots);
    this.#stateVersion = state.ok ? state.object.metadata.resourceVersion : undefined;
    return { ok: true, stored };
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
   * Reads a ConfigMap by a write: what a leader before this one still sends to it, is refused from then on, since that names an earlier version.
   *
   * @param resourceVersion - undefined: whatever it is.
   */
  async #claim(name: string, resourceVersion?: string): Promise<WriteResult<KubernetesObject>> {
    const annotations = { [AUDIT_WRITER_ANNOTATION]: this.#writer };
    const labels = { [AUDIT_LABEL]: 'true' };
    return await this.#client.patch(
      { key: `${this.#namespace}/${name}`, resourceVersion },
      { metadata: { annotations, labels } },
    );
  }

  /** An earlier leader that would still create it finds that it exists. */
  async #claimOrCreate(name: string): Promise<WriteResult<KubernetesObject>> {
    const claimed = await this.#claim(name);
    return claimed.ok || claimed.reason !== 'not-found' ? claimed : await this.#client.create(emptySlot(this.#namespace, name));
  }
}
