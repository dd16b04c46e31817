/** Which objects of an API. */
export interface ApiResource {
  /** Empty: the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** False for kinds like Node. */
  readonly namespaced: boolean;
  /** Only objects of this namespace are listed; default: all. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** True: lists and watches bring `metadata` only, without spec and status: what a cache does not need is not even sent. */
  readonly metadataOnly?: boolean;
}
