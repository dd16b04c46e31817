/**
 * Kinds of KubeVirt and Multus that the API server lacks: a cluster may have only bare-metal hosts. Only a kind that was never listed counts as
 * missing, because an API server that starts may lack a kind for a moment. Without them no IPPool is served: it is unknown whether a virtual machine
 * exists, so no address is assigned or freed.
 */
import { readField } from '@vmdhcp/kube-runtime';

const FOREIGN_KINDS = {
  virtualMachines: { kind: 'VirtualMachine (kubevirt.io/v1)', product: 'KubeVirt' },
  networks: { kind: 'NetworkAttachmentDefinition (k8s.cni.cncf.io/v1)', product: 'Multus' },
} as const;

export type ForeignKind = keyof typeof FOREIGN_KINDS;

export interface MissingKindsSettings {
  /** True if there was a complete list of this kind. */
  readonly isListed: (kind: ForeignKind) => boolean;
  /** @param message - what is missing and its effect, for people; undefined when the kind exists. */
  readonly onChange: (kind: ForeignKind, message: string | undefined) => void;
}

/** Tracks missing kinds from the answers to their lists. */
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

  /** Notes a failed list. @returns true if it failed only because the API server lacks the kind. */
  noteError(kind: string, error: unknown): boolean {
    if (!isForeign(kind) || this.#settings.isListed(kind)) return false;
    const status = readField(error, 'status');
    if (status === 404) this.#set(kind, true);
    else if (status === 403) this.#set(kind, false);
    return status === 404;
  }

  /** Notes a complete list. */
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
