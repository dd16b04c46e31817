/** Objects without a namespace are in this one, as with `kubectl apply`. */
export const DEFAULT_NAMESPACE = 'default';

/** `namespace/name` of the network that `networkName` refers to; a bare name refers to a network in `namespace`. */
export function networkKey(networkName: string, namespace: string = DEFAULT_NAMESPACE): string {
  return networkName.includes('/') ? networkName : `${namespace}/${networkName}`;
}

/** `namespace/name`, which names an object of one kind. */
export function objectKey(metadata: { readonly namespace?: string | undefined; readonly name: string }): string {
  return `${metadata.namespace ?? DEFAULT_NAMESPACE}/${metadata.name}`;
}
