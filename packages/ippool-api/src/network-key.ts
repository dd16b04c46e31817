/** Objects without a namespace are in this one, as with `kubectl apply`. */
export const DEFAULT_NAMESPACE = 'default';

/** `namespace/name` of the network that a `networkName` means, where a bare name means one in `namespace`. */
export function networkKey(networkName: string, namespace: string = DEFAULT_NAMESPACE): string {
  return networkName.includes('/') ? networkName : `${namespace}/${networkName}`;
}
