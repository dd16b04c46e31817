/** The state of the controller between its start and its end. */
export type ControllerState =
  | { readonly kind: 'new' }
  /** It follows its caches. */
  | { readonly kind: 'following' }
  /** Leader, while every cache is listed anew, because the former leader may have assigned addresses that this one has not seen. */
  | { readonly kind: 'refreshing' }
  /** Leader, while some cache is not complete. */
  | { readonly kind: 'syncing' }
  | { readonly kind: 'reconciling' }
  | { readonly kind: 'stopped' };
