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
    let state = await this.#claim(AUDIT_STATE_NAME);
    if (!state.ok && state.reason !== 'not-found') return state;
    const claimed = await inParallel(AUDIT_SLOT_NAMES, (name) => this.#claim(name));
    const missing = AUDIT_SLOT_NAMES.filter((_, index) => isMissing(claimed[index]));
    // The state was written when all others were there: if one is missing, records are lost, and the state promises too much.
    if (missing.length > 0 && state.ok) state = await this.#clearState(state.object);
    // If a former leader still tries to create one, it finds that it exists.
    const created = await inParallel(state.ok || isMissing(state) ? missing : [], (name) =>
      this.#client.create(emptySlot(this.#namespace, name)),
    );
    const results = [state, ...claimed, ...created].filter((result) => !isMissing(result));
    const refused = results.find((result) => !result.ok);
    if (refused?.ok === false) return refused;
    const { slots, ...stored } = readStoredAudit(results.flatMap((result) => (result.ok ? [result.object] : [])));
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

  async #clearState({ metadata: { resourceVersion } }: KubernetesObject): Promise<WriteResult<KubernetesObject>> {
    return await this.#client.patch(
      { key: `${this.#namespace}/${AUDIT_STATE_NAME}`, resourceVersion },
      { data: { state: null } },
    );
  }
}

function isMissing(result: WriteResult<KubernetesObject> | undefined): boolean {
  return result?.ok === false && result.reason === 'not-found';
}

/** The results, in the order of the names. */
async function inParallel<Result>(names: readonly string[], request: (name: string) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let first = 0; first < names.length; first += MOST_CLAIMS)
    results.push(...(await Promise.all(names.slice(first, first + MOST_CLAIMS).map(request))));
  return results;
}
