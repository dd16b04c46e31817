import type { Architecture } from '../architecture.js';
import type { DebianLock } from '../debian/debian-lock.js';
import type { InstalledPackage } from '../npm/program-files.js';
import type { BuildIdentity } from '../oci/image-config.js';
import { sha256 } from '../octets.js';
import type { ProgramImage } from '../program-image.js';
import type { Component } from './component.js';
import { npmReference, toNpmComponent } from './npm-components.js';

export interface ImageParts {
  readonly program: ProgramImage;
  readonly architecture: Architecture;
  readonly identity: BuildIdentity;
  /** The npm packages, the program itself first. */
  readonly packages: readonly InstalledPackage[];
  readonly node: InstalledPackage;
  readonly debian: DebianLock;
}

/** What is in an image, as CycloneDX 1.6. Source: ECMA-424. */
export function toBillOfMaterials(parts: ImageParts): object {
  const { program, architecture, identity, packages, node, debian } = parts;
  const image: Component = {
    type: 'container',
    'bom-ref': `${program.title}-${architecture.name}`,
    name: program.title,
    version: identity.version,
    licenses: [{ expression: 'Apache-2.0' }],
  };
  const debianComponents = debian.packages.map((one) => toDebianComponent(one, { architecture, debian }));
  const npmComponents = unique([...packages, node].map(toNpmComponent));
  const body = {
    metadata: {
      timestamp: identity.created,
      component: image,
      properties: [{ name: 'oci:image:architecture', value: architecture.name }],
    },
    components: [operatingSystem(debian), ...debianComponents, ...npmComponents],
    dependencies: toDependencies(parts, [image, ...debianComponents]),
  };
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: toSerialNumber(body), version: 1, ...body };
}

function operatingSystem({ version }: DebianLock): Component {
  return { type: 'operating-system', 'bom-ref': `debian-${version}`, name: 'debian', version };
}

function toDebianComponent(
  { name, version, sha256: hashes }: DebianLock['packages'][number],
  { architecture, debian }: { readonly architecture: Architecture; readonly debian: DebianLock },
): Component {
  const purl = `pkg:deb/debian/${name.replaceAll('+', '%2B')}@${version.replaceAll('+', '%2B')}?arch=${architecture.name}&distro=debian-${debian.version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    hashes: [{ alg: 'SHA-256', content: hashes[architecture.name] }],
    purl,
  };
}

/** Who needs whom: the image its parts, and packages of npm each other. */
function toDependencies({ packages, node }: ImageParts, [image, ...debian]: readonly Component[]): readonly object[] {
  const references = new Map(packages.map((one) => [one.package.key, npmReference(one.package.name, one.manifest.version)]));
  const ofNpm = new Map<string, Set<string>>();
  for (const { package: one } of packages) {
    const needed = one.dependencies.flatMap((key) => references.get(key) ?? []);
    const reference = references.get(one.key) ?? '';
    ofNpm.set(reference, new Set([...(ofNpm.get(reference) ?? []), ...needed]));
  }
  const nodeReference = npmReference(node.package.name, node.manifest.version);
  const [program = ''] = references.values();
  return [
    { ref: image?.['bom-ref'], dependsOn: [program, nodeReference] },
    { ref: nodeReference, dependsOn: debian.map((one) => one['bom-ref']) },
    ...[...ofNpm].map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn].toSorted() })),
  ];
}

/** A package that is in the image at two places is one component. */
function unique(components: readonly Component[]): readonly Component[] {
  return [...new Map(components.map((one) => [one['bom-ref'], one])).values()];
}

/** The same content has the same number: a UUID of version 8 (RFC 9562), made of its hash. */
function toSerialNumber(body: object): string {
  const hash = sha256(JSON.stringify(body));
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`, hash.slice(20, 32)];
  return `urn:uuid:${parts.join('-')}`;
}
