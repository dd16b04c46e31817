/** Events of a server for the log. */
export type WolServerEvent =
  /** Once for each address and message, until a connection of that address is accepted. */
  | {
      readonly kind: 'connection-refused';
      readonly reason: ConnectionRefusalReason;
      readonly remoteAddress: string;
      readonly message: string;
    }
  | { readonly kind: 'report-malformed'; readonly problems: readonly string[] }
  /** The handler threw. */
  | { readonly kind: 'report-failed'; readonly error: unknown }
  | { readonly kind: 'server-failed'; readonly error: Error };

/** Why an agent may not connect. */
export type ConnectionRefusalReason =
  | 'no-certificate'
  /** It is of another authority, expired, or not valid yet. */
  | 'certificate-refused'
  /** A certificate of the authority that does not belong to an agent. */
  | 'wrong-name'
  | 'handshake-failed'
  | 'too-many-connections'
  | 'too-many-handshakes';
