/** Where the controller is between its start and its end. */
export type ControllerState =
  | { readonly kind: 'new' }
  /** Caches are followed. */
  | { readonly kind: 'following' }
  /** Leader, while every cache is listed anew: the leader before may have assigned addresses that were not seen here. */
  | { readonly kind: 'refreshing' }
  /** Leader, while some cache is not complete. */
  | { readonly kind: 'syncing' }
  | { readonly kind: 'reconciling' }
  | { readonly kind: 'stopped' };
