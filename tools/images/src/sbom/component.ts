/** Parts of an image, in the words of CycloneDX 1.6. */
export interface Component {
  readonly type: 'application' | 'library' | 'platform' | 'operating-system' | 'container';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly hashes?: readonly { readonly alg: 'SHA-256' | 'SHA-512'; readonly content: string }[];
  readonly licenses?: readonly { readonly expression: string }[] | readonly { readonly license: { readonly name: string } }[];
  readonly purl?: string;
}
