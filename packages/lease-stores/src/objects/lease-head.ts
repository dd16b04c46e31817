/**
 * The slice that names the slices that count. Each write names the version that it changes, so if two agents both believe that
 * they are leader, only the one that claimed the head last can write. Writes of the other one in progress are refused, because
 * the version has changed.
 *
 * A response may be lost, and a write may arrive late. So after a failure the head is read before it is written again, and each
 * write has a number: a write whose outcome is unknown is either found, or can no longer take effect after the next one.
 */
import { type KubernetesObject, keyOf, type WriteRefusal, type WriteTarget } from '@vmdhcp/kube-runtime';
import { type HeadContent, type HeadLeader, isSameContent, readHead, type StoredHead } from './head-content.js';
import { type LeaseSlicePorts, newSlice } from './lease-slices.js';
import { answered, LeasesRefusedError, LeasesTakenOverError, type Retries, storedWhenCertain } from './stored-when-certain.js';

export interface LeaseHeadSettings extends Retries {
  readonly slices: LeaseSlicePorts['slices'];
  readonly metadata: KubernetesObject['metadata'];
  /** Unique to this run. */
  readonly identity: string;
  /** Called with a description when another client deleted or changed the head: it is then written again from memory. */
  readonly onDamage: (problem: string) => void;
}

interface Claim {
  readonly version: string;
  readonly term: number;
  readonly content: HeadContent;
}

/** The existing slices, in order, and their highest term. */
export interface LeftSlices {
  readonly slices: readonly string[];
  readonly term: number;
}

export class LeaseHead {
  readonly term: number;
  /** True if there were slices, but no valid head named them. */
  readonly wasLost: boolean;
  readonly #settings: LeaseHeadSettings;
  readonly #key: string;
  /** Undefined if it does not exist. */
  #version: string | undefined;
  /** Its last known content. */
  #content: HeadContent;
  #writes = 0;
  /** Writes whose outcome is not known. */
  readonly #open = new Set<number>();
  #mustLook = false;
  #takenOver: LeasesTakenOverError | undefined;

  /**
   * Claims the head: from now on no other agent can write, until it claims the head too.
   * @param left - called if there is no head, or an invalid one.
   */
  static async claim(settings: LeaseHeadSettings, left: () => Promise<LeftSlices>): Promise<LeaseHead> {
    let wasLost = false;
    const claim = await storedWhenCertain(settings, () =>
      tryToClaim(settings, async () => {
        const slices = await left();
        wasLost = slices.slices.length > 0;
        return slices;
      }),
    );
    return new LeaseHead(settings, { ...claim, wasLost });
  }

  private constructor(settings: LeaseHeadSettings, { version, term, content, wasLost }: Claim & { readonly wasLost: boolean }) {
    this.#settings = settings;
    this.#key = keyOf({ metadata: settings.metadata });
    this.#version = version;
    this.term = term;
    this.#content = content;
    this.wasLost = wasLost;
  }

  get version(): string | undefined {
    return this.#version;
  }

  /** The last known content. */
  get content(): HeadContent {
    return this.#content;
  }

  /** Resolves when this content is stored. @throws LeasesTakenOverError, or the error that prevents the write. */
  async write(content: HeadContent): Promise<void> {
    const write = ++this.#writes;
    await storedWhenCertain(this.#settings, async () => {
      if (this.#takenOver !== undefined) throw this.#takenOver;
      if (this.#mustLook && (await this.#look(write, content))) return true;
      return (await this.#attempt(write, content)) ? true : undefined;
    });
    this.#content = content;
    this.#open.clear();
  }

  /** True if this write has taken effect. */
  async #look(write: number, content: HeadContent): Promise<boolean> {
    const { slices, clock, onDamage } = this.#settings;
    const object = await answered(clock, slices.get(this.#key));
    this.#mustLook = false;
    this.#version = object?.metadata.resourceVersion;
    if (object === undefined) {
      onDamage(`lease slice ${this.#key} was deleted; it is written again from memory`);
      return false;
    }
    return this.#hasHappened(readHead(object), write, content);
  }

  /** @throws LeasesTakenOverError if another agent wrote it. */
  #hasHappened({ leader, ...stored }: StoredHead, write: number, content: HeadContent): boolean {
    if (leader?.identity !== this.#settings.identity || leader.term !== this.term) {
      this.#takenOver = new LeasesTakenOverError(leader?.identity ?? 'whose name is not in it');
      throw this.#takenOver;
    }
    if (leader.write === write && isSameContent(stored, content)) return true;
    if (!this.#open.has(leader.write) && !isSameContent(stored, this.#content))
      this.#settings.onDamage(`lease slice ${this.#key} was changed by another client; it is written again from memory`);
    return false;
  }

  async #attempt(write: number, content: HeadContent): Promise<boolean> {
    const { slices, clock, metadata, identity } = this.#settings;
    const spec = { leader: { identity, term: this.term, write }, ...content };
    const version = this.#version;
    this.#mustLook = true;
    this.#open.add(write);
    const result = await answered(
      clock,
      version === undefined
        ? slices.create(newSlice(metadata, spec))
        : slices.patch({ key: this.#key, resourceVersion: version }, { metadata: { labels: metadata.labels }, spec }),
    );
    if (result.ok) {
      this.#version = result.object.metadata.resourceVersion;
      this.#mustLook = false;
      return true;
    }
    refuseForGood(result);
    return false;
  }
}

async function tryToClaim(settings: LeaseHeadSettings, left: () => Promise<LeftSlices>): Promise<Claim | undefined> {
  const { slices, clock, metadata, identity } = settings;
  const present = await answered(clock, slices.get(keyOf({ metadata })));
  const found = present === undefined ? undefined : readHead(present);
  const leader = found?.leader;
  // The response to an earlier attempt was lost.
  if (present !== undefined && found !== undefined && leader?.identity === identity) return claimOf(present, leader.term, found);
  const former = leader === undefined ? await left() : { slices: [], term: leader.term };
  const content = found ?? { slices: former.slices, records: '' };
  return writeClaim(settings, present, { content, term: former.term + 1 });
}

async function writeClaim(
  { slices, clock, metadata, identity }: LeaseHeadSettings,
  present: KubernetesObject | undefined,
  { content, term }: Omit<Claim, 'version'>,
): Promise<Claim | undefined> {
  const leader: HeadLeader = { identity, term, write: 0 };
  const spec = { slices: content.slices, records: content.records, leader };
  const result = await answered(
    clock,
    present === undefined
      ? slices.create(newSlice(metadata, spec))
      : slices.patch(targetOf(present), { metadata: { labels: metadata.labels }, spec }),
  );
  if (result.ok) return claimOf(result.object, term, content);
  refuseForGood(result);
  return undefined;
}

function targetOf(object: KubernetesObject): WriteTarget {
  return { key: keyOf(object), resourceVersion: object.metadata.resourceVersion };
}

function claimOf({ metadata }: KubernetesObject, term: number, { slices, records }: HeadContent): Claim {
  const { resourceVersion } = metadata;
  if (resourceVersion === undefined) throw new TypeError('the API server returned an object without resourceVersion');
  return { version: resourceVersion, term, content: { slices, records } };
}

function refuseForGood({ reason, message }: { readonly reason: WriteRefusal; readonly message: string }): void {
  if (reason === 'invalid' || reason === 'forbidden' || reason === 'parent-not-found') throw new LeasesRefusedError(message);
}
