import type { InstalledPackage } from '../npm/program-files.js';
import type { Component } from './component.js';

/** A package of npm as a component; its hash is that of the lockfile, over the archive in the registry. */
export function toNpmComponent({ package: one, manifest }: InstalledPackage): Component {
  const { group, name } = splitName(one.name);
  return {
    type: one.registry === undefined ? 'application' : 'library',
    'bom-ref': npmReference(one.name, manifest.version),
    ...(group !== undefined && { group }),
    name,
    version: manifest.version,
    ...(one.registry !== undefined && { hashes: [{ alg: 'SHA-512', content: toHex(one.registry.integrity) }] }),
    ...(typeof manifest.license === 'string' && { licenses: toLicences(manifest.license) }),
    purl: npmReference(one.name, manifest.version),
  };
}

/** A package URL. Source: purl specification, npm. */
export function npmReference(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function splitName(name: string): { readonly group: string | undefined; readonly name: string } {
  const [group, rest] = name.split('/', 2);
  return rest === undefined ? { group: undefined, name } : { group, name: rest };
}

/** `sha512-BASE64` */
function toHex(integrity: string): string {
  return Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
}

function toLicences(license: string): NonNullable<Component['licenses']> {
  return /^SEE LICEN[CS]E/i.test(license) ? [{ license: { name: license } }] : [{ expression: license }];
}
