/** The minimum of an object of a Kubernetes API. */
export interface ApiObjectLike {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid?: string | undefined;
    readonly resourceVersion?: string | undefined;
  };
}

/** `namespace/name`, or the name alone of an object of a cluster-scoped kind. */
export function keyOf({ metadata: { namespace, name } }: ApiObjectLike): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}
