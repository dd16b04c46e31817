/** One entry of `status.conditions`. Times are RFC 3339 text. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** `metadata.generation` of the object that the condition was found for. */
  readonly observedGeneration?: number | undefined;
  readonly lastUpdateTime?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}
