/**
 * The slice that names what counts. Each write names the version that it changes, so that of two agents that both believe to lead only one can write: the one
 * that claimed the head last. Whatever another agent still has under way is refused then, because the version is another one.
 *
 * An answer may be lost, and a write may arrive late. So after a failure the head is read before it is written again, and each write has a number: a write of
 * which it was not known whether it happened either is found, or can never happen after the next one.
 */
import { type KubernetesObject, keyOf, type WriteRefusal, type WriteTarget } from '@vmdhcp/kube-runtime';
import { type HeadContent, type HeadLeader, isSameContent, readHead, type StoredHead } from './head-content.js';
import { type LeaseSlicePorts, newSlice } from './lease-slices.js';
import { answered, LeasesRefusedError, LeasesTakenOverError, type Retries, storedWhenCertain } from './stored-when-certain.js';

export interface LeaseHeadSettings extends Retries {
  readonly slices: LeaseSlicePorts['slices'];
  readonly metadata: KubernetesObject['metadata'];
  /** Of this run and no other. */
  readonly identity: string;
  /** Called with words when another client deleted or changed it: what this one knows is written again. */
  readonly onDamage: (problem: string) => void;
}

interface Claim {
  readonly version: string;
  readonly term: number;
  readonly content: HeadContent;
}

/** The slices that there are, in order, and the highest term of one. */
export interface LeftSlices {
  readonly slices: readonly string[];
  readonly term: number;
}

export class LeaseHead {
  readonly term: number;
  /** True: slices were there, and none that makes sense named them. */
  readonly wasLost: boolean;
  readonly #settings: LeaseHeadSettings;
  readonly #key: string;
  /** Undefined: it does not exist. */
  #version: string | undefined;
  /** What it contained when that was known last. */
  #content: HeadContent;
  #writes = 0;
  /** Writes of which it is not known whether they happened. */
  readonly #open = new Set<number>();
  #mustLook = false;
  #takenOver: LeasesTakenOverError | undefined;

  /**
   * From now on no other agent can write, until it claims the head too.
   * @param left - asked where there is no head, or one that makes no sense.
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

  /** What counts, as far as it is known. */
  get content(): HeadContent {
    return this.#content;
  }

  /** Resolves when this counts. @throws LeasesTakenOverError, or what keeps it from being written. */
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

  /** True: this write has happened. */
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

  /** @throws LeasesTakenOverError where another agent has written it. */
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
  // The answer to an earlier attempt was lost.
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
  if (resourceVersion === undefined) throw new TypeError('the API server answered an object without resourceVersion');
  return { version: resourceVersion, term, content: { slices, records } };
}

function refuseForGood({ reason, message }: { readonly reason: WriteRefusal; readonly message: string }): void {
  if (reason === 'invalid' || reason === 'forbidden' || reason === 'parent-not-found') throw new LeasesRefusedError(message);
}
