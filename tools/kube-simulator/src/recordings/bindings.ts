import { hasShape, type Placeholder, repeatedText, splitPlaceholders } from './placeholders.js';
import { ResourceVersionOrder } from './resource-version-order.js';

/** How much times may differ that were equal in the transcript: a run beside other tests may take ten times as long as the recorded one. */
const TIME_TOLERANCE_MS = 20_000;

const TIME = /^<(micro)?time:\d+>$/;

export interface TimeField {
  /** The recorded uid of the object. */
  readonly uid: string;
  readonly field: string;
}

/** The values in this run of the placeholders, random names and resourceVersions of one transcript. */
export class Bindings {
  readonly versions: ResourceVersionOrder;
  private readonly values: Map<string, string>;
  private readonly names: Map<string, string>;
  private readonly times: Map<string, string>;
  private unknownAllowed: boolean;

  constructor(from?: Bindings, versions = new ResourceVersionOrder()) {
    this.versions = from?.versions.copy() ?? versions;
    this.values = new Map(from?.values);
    this.names = new Map(from?.names);
    this.times = new Map(from?.times);
    this.unknownAllowed = from?.unknownAllowed ?? false;
  }

  copy(): Bindings {
    return new Bindings(this);
  }

  /** For a server that does not read requests: placeholders without a value are sent as they are. */
  allowUnknown(): void {
    this.unknownAllowed = true;
  }

  value(placeholder: string): string | undefined {
    return this.values.get(placeholder);
  }

  bind(placeholder: string, value: string): void {
    this.values.set(placeholder, value);
  }

  /**
   * Remembers the time that a field of an object has here: recorded times of one second have one placeholder, and may fall into two seconds
   * here.
   */
  bindTime({ uid, field }: TimeField, recorded: string, got: string): void {
    if (TIME.test(recorded)) this.times.set(`${uid} ${field} ${recorded}`, got);
  }

  /** The value to send for a field of an object. */
  fieldToSend({ uid, field }: TimeField, recorded: string): string {
    return this.times.get(`${uid} ${field} ${recorded}`) ?? this.toSend(recorded);
  }

  /** Remembers the name in this run for a random name of the transcript. */
  bindName(recorded: string, got: string): void {
    if (recorded !== got && !this.names.has(recorded)) this.names.set(recorded, got);
  }

  /** True when a name of this run, or its random part, stands for a recorded one. */
  isNameKnown(got: string): boolean {
    return [...this.names.values()].some((known) => got === known || got.endsWith(`-${known}`));
  }

  /** A recorded text with the random names of this run. */
  rename(text: string): string {
    let renamed = text;
    const longestFirst = [...this.names].sort(([one], [other]) => other.length - one.length);
    for (const [recorded, got] of longestFirst) renamed = renamed.replaceAll(recorded, got);
    return renamed;
  }

  /** A text of this run with the random names and the placeholders for uids of the transcript. */
  toRecorded(text: string): string {
    let recorded = text;
    const longestFirst = [...this.names].sort(([, one], [, other]) => other.length - one.length);
    for (const [name, got] of longestFirst) recorded = recorded.replaceAll(got, name);
    for (const [name, got] of this.values) if (name.startsWith('<uid:')) recorded = recorded.replaceAll(got, name);
    return recorded;
  }

  /** A recorded text as this run must send it. */
  toSend(text: string): string {
    return splitPlaceholders(text)
      .map((part) => (typeof part === 'string' ? this.rename(part) : this.valueToSend(part)))
      .join('');
  }

  /** Binds the placeholder to the text if it may stand for it; returns whether it may. */
  accept(placeholder: Placeholder, text: string): boolean {
    const { kind, name } = placeholder;
    if (kind === 'string') return text === repeatedText(name);
    if (!hasShape(kind, text)) return false;
    const known = this.values.get(name);
    if (known === undefined) return this.acceptFirst(placeholder, text);
    return kind === 'time' || kind === 'microtime' ? isNear(known, text) : known === text;
  }

  /** The placeholder of a value of this run; undefined when it has none yet. */
  placeholderOf(text: string): string | undefined {
    for (const [placeholder, value] of this.values) if (value === text) return placeholder;
    return undefined;
  }

  private acceptFirst({ kind, name }: Placeholder, text: string): boolean {
    if (kind === 'uid' && this.placeholderOf(text) !== undefined) return false;
    this.values.set(name, text);
    return true;
  }

  private valueToSend({ kind, name }: Placeholder): string {
    const known = this.values.get(name);
    if (known !== undefined) return known;
    if (kind === 'string') return repeatedText(name);
    const value = firstValue(kind);
    if (value === undefined && this.unknownAllowed) return name;
    if (value === undefined) throw new Error(`a request needs ${name} before any answer gave it`);
    this.values.set(name, value);
    return value;
  }
}

/** The value to send for a placeholder that no answer has bound yet; undefined if there is none. */
function firstValue(kind: Placeholder['kind']): string | undefined {
  const now = new Date().toISOString();
  if (kind === 'time') return `${now.slice(0, 19)}Z`;
  if (kind === 'microtime') return `${now.slice(0, -1)}000Z`;
  // The only token sent without having been received: its bytes are not JSON, and begin with the 0xCF of the recorded text.
  return kind === 'continue' ? 'zzzz' : undefined;
}

function isNear(one: string, other: string): boolean {
  return Math.abs(Date.parse(one) - Date.parse(other)) <= TIME_TOLERANCE_MS;
}
