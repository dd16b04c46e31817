/**
 * `object`: the version of one object, which moves with each of its writes and never otherwise.
 * `list`: the version of a list or a bookmark, which other writers move too.
 */
export type VersionOf = 'object' | 'list';

interface KnownVersion {
  readonly recorded: number;
  readonly got: number;
  readonly of: VersionOf;
  /** The recorded uid of the object; empty if it is not known. */
  readonly uid: string;
}

/**
 * Maps recorded resourceVersions to those of this run. The values themselves do not matter: equal versions must stay equal, and the order must be the
 * same. Lists may be newer than what was recorded for them, as long as no object of the transcript changes sides.
 */
export class ResourceVersionOrder {
  /** True if controllers write at their own pace: then only the versions of one object are in order. */
  readonly concurrent: boolean;
  private readonly known: KnownVersion[];

  constructor(concurrent = false, known: readonly KnownVersion[] = []) {
    this.concurrent = concurrent;
    this.known = [...known];
  }

  copy(): ResourceVersionOrder {
    return new ResourceVersionOrder(this.concurrent, this.known);
  }

  /** The contradiction to the order so far, or undefined; the pair is remembered either way. */
  learn([recordedText, gotText]: readonly [string, string], of: VersionOf, uid = ''): string | undefined {
    const pair: KnownVersion = { recorded: Number(recordedText), got: Number(gotText), of, uid };
    if (!Number.isInteger(pair.got) || pair.got <= 0) return 'no resourceVersion';
    const contradiction = this.known.find((known) => this.contradicts(known, pair));
    if (!this.known.some((known) => known.recorded === pair.recorded && known.of === of)) this.known.push(pair);
    if (contradiction === undefined) return undefined;
    return `recorded ${contradiction.recorded} (${contradiction.of}) is ${contradiction.got} here`;
  }

  /**
   * The version to send for a recorded one: its counterpart, else that of the newest version recorded before it. Undefined if it is newer than all
   * known versions, or never existed (1, 5, 99999999).
   */
  toSend(recordedText: string): string | undefined {
    const recorded = Number(recordedText);
    const equal = this.known.find((known) => known.recorded === recorded);
    if (equal !== undefined) return String(equal.got);
    const newer = this.known.some((known) => known.recorded > recorded);
    const older = this.known.filter((known) => known.recorded < recorded);
    if (!newer || older.length === 0) return undefined;
    return String(Math.max(...older.map((known) => known.got)));
  }

  /** True when a number in a text may be the version here of a recorded one. */
  mayStandFor(recordedText: string, gotText: string): boolean {
    const pair: KnownVersion = { recorded: Number(recordedText), got: Number(gotText), of: 'list', uid: '' };
    return !this.known.some((known) => this.contradicts(known, pair));
  }

  private contradicts(known: KnownVersion, pair: KnownVersion): boolean {
    const isOneObject = known.uid !== '' && known.uid === pair.uid;
    return (!this.concurrent || isOneObject) && contradicts(known, pair);
  }
}

function contradicts(known: KnownVersion, pair: KnownVersion): boolean {
  const [earlier, later] = known.recorded <= pair.recorded ? [known, pair] : [pair, known];
  if (earlier.recorded === later.recorded) return contradictsAtTheSame(known, pair);
  // A list that was recorded before an object was written must not contain it; any other pair may coincide.
  return later.of === 'object' ? earlier.got >= later.got : earlier.got > later.got;
}

function contradictsAtTheSame(known: KnownVersion, pair: KnownVersion): boolean {
  if (known.of === pair.of) return known.of === 'object' && known.got !== pair.got;
  const [object, list] = known.of === 'object' ? [known, pair] : [pair, known];
  return list.got < object.got;
}
