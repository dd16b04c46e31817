/** Source: OCI image specification 1.1. */
export const MEDIA_TYPE = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  empty: 'application/vnd.oci.empty.v1+json',
  sbom: 'application/vnd.cyclonedx+json',
} as const;

export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:` and hexadecimal digits. */
  readonly digest: string;
  /** Octets. */
  readonly size: number;
  readonly platform?: { readonly architecture: string; readonly os: string };
  readonly annotations?: Readonly<Record<string, string>>;
  readonly artifactType?: string;
}
