/** Selects objects of an API. */
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
  /** True if lists and watches return only `metadata`, without spec and status, so that the server does not even send what a cache does not need. */
  readonly metadataOnly?: boolean;
}
