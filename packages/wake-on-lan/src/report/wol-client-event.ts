/** Events of a client for the log. Each is reported once for each change, not for each try. */
export type WolClientEvent =
  /** A manager that is leader answers. */
  | { readonly kind: 'connected'; readonly address: string }
  /** No manager that is leader answers; why the last try failed. */
  | { readonly kind: 'disconnected'; readonly address: string; readonly why: string }
  | { readonly kind: 'certificates-read' }
  | { readonly kind: 'certificates-problem'; readonly problem: string }
  /** The manager does not send the list of wakeable addresses. */
  | { readonly kind: 'no-list'; readonly address: string };
