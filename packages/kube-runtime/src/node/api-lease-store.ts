import type { WriteResult } from '../api/object-client.js';
import type { LeaseRecord, LeaseStore, StoredLease } from '../election/lease-store.js';
import type { ApiObjectLike } from '../object/api-object.js';
import { ApiRequestError, type ApiTransport } from './api-connection.js';
import { ApiObjectClient } from './api-object-client.js';

/** A Lease of Kubernetes, as far as an election uses it. */
export interface LeaseObject extends ApiObjectLike {
  readonly metadata: ApiObjectLike['metadata'] & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** Which Lease object is used, and what is written into it. */
export interface ApiLeaseSettings {
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds since 1970, for the times in the Lease, which are for people. */
  readonly wallTimeMs: () => number;
  /** Returns the other fields of the Lease, such as the holder's report. Called at every write. @param isNew - true if there is no Lease yet. */
  readonly annotations?: (isNew: boolean) => Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * The key of an annotation for the duration in milliseconds, if that is not a whole number of seconds. Default: none, and durations are rounded up
   * to seconds.
   */
  readonly durationAnnotation?: string;
  /** Receives the Lease's annotations after every read and write, before the elector acts on it. Not called if there is no Lease. */
  readonly onAnnotations?: (annotations: Readonly<Record<string, string>>, resourceVersion: string) => void;
}

/** A Lease of coordination.k8s.io: client-go's electors see the same record. */
export class ApiLeaseStore implements LeaseStore {
  readonly #settings: ApiLeaseSettings;
  readonly #client: ApiObjectClient<LeaseObject>;
  #known: LeaseObject | undefined;

  constructor(connection: ApiTransport, settings: ApiLeaseSettings) {
    this.#settings = settings;
    this.#client = new ApiObjectClient<LeaseObject>(connection, {
      group: 'coordination.k8s.io',
      version: 'v1',
      plural: 'leases',
      namespaced: true,
      namespace: settings.namespace,
    });
  }

  readonly read = async (): Promise<StoredLease | undefined> => {
    const { namespace, name } = this.#settings;
    const lease = await this.#client.get(`${namespace}/${name}`);
    this.#know(lease);
    return lease === undefined ? undefined : toStoredLease(lease, this.#settings.durationAnnotation);
  };

  readonly write = async (record: LeaseRecord, version: string | undefined): Promise<StoredLease | undefined> => {
    const lease = this.#toLease(record, version);
    const result = await (version === undefined ? this.#client.create(lease) : this.#replace(lease));
    if (result.ok) {
      this.#know(result.object);
      return toStoredLease(result.object, this.#settings.durationAnnotation);
    }
    if (result.reason === 'conflict' || result.reason === 'already-exists' || result.reason === 'not-found') return undefined;
    const { namespace, name } = this.#settings;
    const why = version === undefined ? `Lease ${namespace}/${name} does not exist, and cannot be created from here: ` : '';
    throw new ApiRequestError(why + result.message);
  };

  #know(lease: LeaseObject | undefined): void {
    this.#known = lease;
    if (lease !== undefined)
      this.#settings.onAnnotations?.(lease.metadata.annotations ?? {}, lease.metadata.resourceVersion ?? '');
  }

  /** A Lease that was deleted meanwhile cannot be replaced; servers report that in several ways, including HTTP 500. */
  async #replace(lease: LeaseObject): Promise<WriteResult<LeaseObject>> {
    try {
      return await this.#client.replace(lease);
    } catch (error) {
      const { namespace, name } = this.#settings;
      if (!(error instanceof ApiRequestError) || error.status !== 500) throw error;
      if ((await this.#client.get(`${namespace}/${name}`)) !== undefined) throw error;
      return { ok: false, reason: 'not-found', message: error.message };
    }
  }

  #toLease(record: LeaseRecord, version: string | undefined): LeaseObject {
    const { namespace, name, labels, annotations, wallTimeMs, durationAnnotation } = this.#settings;
    const known = version === undefined ? undefined : this.#known;
    return {
      ...({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as object),
      metadata: {
        ...known?.metadata,
        namespace,
        name,
        resourceVersion: version,
        labels: { ...known?.metadata.labels, ...labels },
        annotations: withoutUndefined({
          ...known?.metadata.annotations,
          ...annotations?.(version === undefined),
          ...exactDuration(record, durationAnnotation),
        }),
      },
      spec: toSpec(record, known?.spec, toMicroTime(wallTimeMs())),
    };
  }
}

function toSpec(
  { holder, leaseDurationMs, transitions }: LeaseRecord,
  known: LeaseObject['spec'],
  now: string,
): NonNullable<LeaseObject['spec']> {
  const isSame = known?.holderIdentity === holder;
  return {
    ...known,
    holderIdentity: holder,
    // client-go refuses a duration of 0, even in a released Lease.
    leaseDurationSeconds: Math.max(1, Math.ceil(leaseDurationMs / 1000)),
    acquireTime: isSame ? (known.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: transitions,
  };
}

function exactDuration({ leaseDurationMs }: LeaseRecord, key: string | undefined): Readonly<Record<string, string | undefined>> {
  // Undefined removes the value of an earlier record.
  return key === undefined ? {} : { [key]: leaseDurationMs % 1000 === 0 ? undefined : String(leaseDurationMs) };
}

function withoutUndefined(texts: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** If another client wrote only the field, that takes precedence over an old annotation. */
function durationMs({ metadata, spec = {} }: LeaseObject, key: string | undefined): number {
  const seconds = spec.leaseDurationSeconds ?? 0;
  const exactMs = Number((key === undefined ? undefined : metadata.annotations?.[key]) ?? Number.NaN);
  return Math.ceil(exactMs / 1000) === seconds ? exactMs : seconds * 1000;
}

/** The content of a Lease for an elector. @param durationAnnotation - as in `ApiLeaseSettings`. */
export function toStoredLease(lease: LeaseObject, durationAnnotation?: string): StoredLease {
  const { metadata, spec = {} } = lease;
  return {
    record: {
      holder: spec.holderIdentity ?? '',
      leaseDurationMs: durationMs(lease, durationAnnotation),
      transitions: spec.leaseTransitions ?? 0,
    },
    version: metadata.resourceVersion ?? '',
  };
}

/** RFC 3339 with exactly six fraction digits: the API server accepts nothing else. */
function toMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
