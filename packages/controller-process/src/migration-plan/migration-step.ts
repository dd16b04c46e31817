import type { KubernetesObject, MergePatch } from '@vmdhcp/kube-runtime';

/** The kinds of objects that a migration changes, as it names them for people. */
export type MigratedKind =
  | 'Deployment'
  | 'Lease'
  | 'Addon'
  | 'IPPool'
  | 'MutatingWebhookConfiguration'
  | 'ValidatingWebhookConfiguration'
  | 'CustomResourceDefinition'
  | 'RoleBinding'
  | 'Role'
  | 'ServiceAccount';

export type MigrationWrite =
  /** Writes everything that the migration may change or end into a file. */
  | { readonly kind: 'back-up' }
  /** Our CustomResourceDefinitions. */
  | { readonly kind: 'define' }
  /** A CustomResourceDefinition from the backup. */
  | { readonly kind: 'restore'; readonly name: string }
  | {
      /** `patch-status` patches the subresource. */
      readonly kind: 'patch' | 'patch-status';
      readonly of: MigratedKind;
      readonly object: KubernetesObject;
      readonly patch: MergePatch;
    }
  | { readonly kind: 'delete'; readonly of: MigratedKind; readonly object: KubernetesObject };

export interface MigrationStep {
  /** The same as long as the step is not done. */
  readonly id: string;
  /** The action, for people. */
  readonly title: string;
  /** Empty if everything is written and the step only waits for the effect. */
  readonly writes: readonly MigrationWrite[];
  /** What the step waits for, for people, if the writes are not everything. */
  readonly waitsFor?: string;
  /** How long to wait before the writes, in milliseconds, for an effect that cannot be observed. */
  readonly settlesMs?: number;
}
