import { IMAGE_USER, MODULES, NODE_PATH, type ProgramImage } from '../program-image.js';
import type { PackedLayer } from './layer.js';

/** What a build is called. */
export interface BuildIdentity {
  readonly version: string;
  /** The commit; undefined where it is not known. */
  readonly revision: string | undefined;
  /** Where the source is; undefined where it is not known. */
  readonly source: string | undefined;
  /** What chart and manifests call the image of each program, without a tag. */
  readonly repositories: Readonly<Record<ProgramImage['name'], string>>;
  /** ISO 8601, in UTC. */
  readonly created: string;
}

/** Labels of the image and annotations of its manifests. Source: OCI image specification, "Pre-Defined Annotation Keys". */
export function toAnnotations(
  program: { readonly title: string; readonly description: string },
  { version, revision, source, created }: BuildIdentity,
): Readonly<Record<string, string>> {
  const prefixed = (entries: Readonly<Record<string, string | undefined>>) =>
    Object.fromEntries(
      Object.entries(entries).flatMap(([key, value]) =>
        value === undefined ? [] : [[`org.opencontainers.image.${key}`, value]],
      ),
    );
  return prefixed({
    created,
    description: program.description,
    licenses: 'Apache-2.0',
    revision,
    source,
    title: program.title,
    vendor: 'vmdhcp',
    version,
  });
}

/** The configuration of an image, as its digest counts it. */
export function toImageConfig(
  {
    program,
    architecture,
    labels,
    created,
  }: {
    readonly program: ProgramImage;
    readonly architecture: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly created: string;
  },
  layers: readonly PackedLayer[],
): object {
  return {
    created,
    architecture,
    os: 'linux',
    config: {
      User: `${IMAGE_USER}:${IMAGE_USER}`,
      ExposedPorts: { '8080/tcp': {} },
      Env: ['PATH=/usr/bin'],
      Entrypoint: toEntrypoint(program),
      WorkingDir: '/',
      Labels: labels,
      StopSignal: 'SIGTERM',
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ title }) => ({ created, created_by: 'npm run images', comment: title })),
  };
}

export function toEntrypoint({ packageName }: ProgramImage): readonly string[] {
  return [`/${NODE_PATH}`, `/${MODULES}/${packageName}/bin/${packageName}.js`];
}
