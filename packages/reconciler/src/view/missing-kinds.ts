/**
 * Kinds of KubeVirt and of Multus that the API server does not have: a cluster may have bare-metal hosts alone. Only a kind that was never listed is missing: what was listed once stays
 * known, as an API server that starts may lack a kind for a moment. Without them no IPPool is served: whether a virtual machine exists is not known, so no address is given or freed.
 */
import { readField } from '@vmdhcp/kube-runtime';

const FOREIGN_KINDS = {
  virtualMachines: { kind: 'VirtualMachine (kubevirt.io/v1)', product: 'KubeVirt' },
  networks: { kind: 'NetworkAttachmentDefinition (k8s.cni.cncf.io/v1)', product: 'Multus' },
} as const;

export type ForeignKind = keyof typeof FOREIGN_KINDS;

export interface MissingKindsSettings {
  /** There has been a complete list of this kind. */
  readonly isListed: (kind: ForeignKind) => boolean;
  /** @param message - what is missing, and what follows from it, for people; undefined: the kind is there now. */
  readonly onChange: (kind: ForeignKind, message: string | undefined) => void;
}

/** Which kinds are missing, by the answers to their lists. */
export class MissingKinds {
  readonly #settings: MissingKindsSettings;
  readonly #missing = new Set<ForeignKind>();

  constructor(settings: MissingKindsSettings) {
    this.#settings = settings;
  }

  /** What is missing, for people. */
  get messages(): readonly string[] {
    return [...this.#missing].toSorted().map(describeMissingKind);
  }

  has(kind: string): boolean {
    return isForeign(kind) && this.#missing.has(kind);
  }

  /** A list failed. @returns true: only because the API server does not have the kind. */
  noteError(kind: string, error: unknown): boolean {
    if (!isForeign(kind) || this.#settings.isListed(kind)) return false;
    const status = readField(error, 'status');
    if (status === 404) this.#set(kind, true);
    else if (status === 403) this.#set(kind, false);
    return status === 404;
  }

  /** A list is complete. */
  noteListed(kind: string): void {
    if (isForeign(kind)) this.#set(kind, false);
  }

  #set(kind: ForeignKind, isMissing: boolean): void {
    if (this.#missing.has(kind) === isMissing) return;
    if (isMissing) this.#missing.add(kind);
    else this.#missing.delete(kind);
    this.#settings.onChange(kind, isMissing ? describeMissingKind(kind) : undefined);
  }
}

function isForeign(kind: string): kind is ForeignKind {
  return Object.hasOwn(FOREIGN_KINDS, kind);
}

function describeMissingKind(name: ForeignKind): string {
  const { kind, product } = FOREIGN_KINDS[name];
  return `the API server does not have the kind ${kind}: no IPPool is served until ${product} is installed`;
}
