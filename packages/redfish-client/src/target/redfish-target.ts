/** A Redfish service, and the credentials for it. */
export interface RedfishTarget {
  /** An IPv4 or IPv6 address without brackets, or a DNS name. */
  readonly host: string;
  /** TCP, 1 to 65535. */
  readonly port: number;
  /** False for clear text, including credentials. */
  readonly https: boolean;
  readonly credentials?: { readonly username: string; readonly password: string };
  /** PEM texts of a client certificate and its key. */
  readonly clientCertificate?: { readonly key: string; readonly certificate: string };
  /** PEM text of the authorities that may issue the service's certificate. Default: those that Node trusts. */
  readonly authorities?: string;
  /** The name that the service's certificate must have. Default: `host`. Certificates of management controllers rarely contain their address. */
  readonly serverName?: string;
  /** False to accept any certificate, and so any server in between. Default: true. */
  readonly verify?: boolean;
}
