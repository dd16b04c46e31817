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
  /** Everything that the migration may change or end, into a file. */
  | { readonly kind: 'back-up' }
  /** Our CustomResourceDefinitions. */
  | { readonly kind: 'define' }
  /** A CustomResourceDefinition as the backup has it. */
  | { readonly kind: 'restore'; readonly name: string }
  | {
      /** `patch-status`: of the subresource. */
      readonly kind: 'patch' | 'patch-status';
      readonly of: MigratedKind;
      readonly object: KubernetesObject;
      readonly patch: MergePatch;
    }
  | { readonly kind: 'delete'; readonly of: MigratedKind; readonly object: KubernetesObject };

export interface MigrationStep {
  /** The same as long as the step is not done. */
  readonly id: string;
  /** What is done, for people. */
  readonly title: string;
  /** Empty: what has to be written is written, and its effect is waited for. */
  readonly writes: readonly MigrationWrite[];
  /** What is waited for, for people, where the writes are not everything. */
  readonly waitsFor?: string;
  /** How long to wait before the writes, in milliseconds: for what nothing shows. */
  readonly settlesMs?: number;
}
